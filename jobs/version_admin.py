"""Versions and upgrades in the admin console: to look at. They are asked for by REST and by the
command line, as a new version may bring code."""

from __future__ import annotations

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString

from jobs.console import LookOnly
from jobs.models import JobVersion, Upgrade


@admin.register(JobVersion)
class JobVersionAdmin(LookOnly):
    list_display = [
        *("job", "number", "entry_name", "artifact_sha256", "parallelism", "reason"),
        *("created_by_name", "created_at"),
    ]
    list_filter = ["created_at"]
    list_select_related = ["job"]
    search_fields = ["=job__id", "job__name", "entry_name", "artifact_sha256"]
    ordering = ["-id"]
    exclude = ["configuration", "arguments"]
    readonly_fields = ["shown_arguments", "settings"]

    @admin.display(description="configuration")
    def settings(self, version: JobVersion) -> SafeString | str:
        lines = "\n".join(f"{key}: {value}" for key, value in version.shown_configuration.items())
        return format_html("<pre>{}</pre>", lines) if lines else "-"


@admin.register(Upgrade)
class UpgradeAdmin(LookOnly):
    list_display = [
        *("job", "before", "after", "state", "failure", "requested_by_name", "created_at"),
        "ended_at",
    ]
    list_filter = ["state", "created_at"]
    list_select_related = ["job", "before__job", "after__job"]
    search_fields = ["=job__id", "job__name", "failure"]
