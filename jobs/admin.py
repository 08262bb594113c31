"""The admin console: everything can be found and looked at; what the platform writes is not
edited here, because a row edited by hand would say what never happened. Jobs are steered by
actions, which go through `jobs.actions` like every other request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from jobs import actions, permissions
from jobs.models import Attempt, Checkpoint, Event, Job, Lease, Slot, TaskManager

admin.site.site_header = admin.site.site_title = "Headrace"
admin.site.index_title = "Tables"


class LookOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows that only the platform writes."""

    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class LookOnlyInline(admin.TabularInline):  # type: ignore[type-arg]
    extra = 0
    can_delete = False
    show_change_link = True

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class AttemptInline(LookOnlyInline):
    model = Attempt
    fields = ["number", "state", "taskmanager", "pid", "started_at", "ended_at", "error"]
    ordering = ["-number"]


class SlotInline(LookOnlyInline):
    model = Slot
    fields = ["index", "job", "allocated_at"]


@admin.register(Job)
class JobAdmin(LookOnly):
    list_display = [
        *("name", "id", "state", "wanted", "parallelism", "restarts", "waiting_for"),
        *("submitted_by", "created_at", "started_at", "ended_at"),
    ]
    list_filter = ["state", "wanted", "submitted_by", "created_at"]
    list_select_related = ["submitted_by"]
    search_fields = ["=id", "name", "entry_name", "artifact_sha256"]
    date_hierarchy = "created_at"
    inlines = [AttemptInline]
    exclude = ["configuration"]
    readonly_fields = ["settings"]
    actions = ["cancel", "suspend", "resume", "restart"]

    @admin.display(description="configuration")
    def settings(self, job: Job) -> SafeString | str:
        lines = "\n".join(f"{key}: {value}" for key, value in job.shown_configuration.items())
        return format_html("<pre>{}</pre>", lines) if lines else "-"

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return super().get_actions(request) if permissions.may_steer(request.user) else {}

    @admin.action(description="Cancel: end for good")
    def cancel(self, request: HttpRequest, jobs: QuerySet[Job]) -> None:
        self._steer(request, jobs, actions.cancel)

    @admin.action(description="Suspend: stop behind the current batch, to be resumed")
    def suspend(self, request: HttpRequest, jobs: QuerySet[Job]) -> None:
        self._steer(request, jobs, actions.suspend)

    @admin.action(description="Resume suspended jobs")
    def resume(self, request: HttpRequest, jobs: QuerySet[Job]) -> None:
        self._steer(request, jobs, actions.resume)

    @admin.action(description="Restart from the last checkpoint")
    def restart(self, request: HttpRequest, jobs: QuerySet[Job]) -> None:
        self._steer(request, jobs, actions.restart)

    def _steer(
        self,
        request: HttpRequest,
        jobs: QuerySet[Job],
        wish: Callable[[Job, User | None], Job],
    ) -> None:
        user = request.user if isinstance(request.user, User) else None
        for job in jobs:
            try:
                wish(job, user)
            except actions.Conflict as error:
                self.message_user(request, f"{job}: {error}", messages.ERROR)
            else:
                self.message_user(request, f"{job}: asked for", messages.SUCCESS)


@admin.register(Attempt)
class AttemptAdmin(LookOnly):
    list_display = [
        *("job", "number", "state", "taskmanager", "pid", "restored_checkpoint"),
        *("exit_code", "started_at", "ended_at", "error"),
    ]
    list_filter = ["state", "taskmanager", "restartable", "created_at"]
    list_select_related = ["job", "taskmanager"]
    search_fields = ["=job__id", "job__name", "error", "=application_id"]
    exclude = ["traceback"]
    readonly_fields = ["traceback_text"]

    @admin.display(description="traceback")
    def traceback_text(self, attempt: Attempt) -> SafeString | str:
        return format_html("<pre>{}</pre>", attempt.traceback) if attempt.traceback else "-"


@admin.register(Checkpoint)
class CheckpointAdmin(LookOnly):
    list_display = [
        *("job", "checkpoint_id", "completed_at", "duration", "state_size", "state_rows"),
        *("records_in", "records_out", "transactions"),
    ]
    list_filter = ["completed_at", "job"]
    list_select_related = ["job"]
    search_fields = ["=job__id", "job__name", "=checkpoint_id"]
    ordering = ["-id"]


@admin.register(Event)
class EventAdmin(LookOnly):
    list_display = ["at", "kind", "job", "attempt", "message"]
    list_filter = ["kind", "at"]
    list_select_related = ["job", "attempt"]
    search_fields = ["=job__id", "job__name", "message"]
    date_hierarchy = "at"


@admin.register(TaskManager)
class TaskManagerAdmin(LookOnly):
    list_display = [
        *("name", "state", "host", "pid", "slots", "memory_mib", "started_at"),
        "last_heartbeat",
    ]
    list_filter = ["state", "host"]
    search_fields = ["name", "host"]
    inlines = [SlotInline]

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """One that is gone for good may go from the list, unless a job is tied to it."""
        may = request.user.has_perm("jobs.delete_taskmanager")
        if not isinstance(obj, TaskManager):
            return False
        return may and obj.state != "REGISTERED" and not obj.slot_set.exclude(job=None).exists()


@admin.register(Slot)
class SlotAdmin(LookOnly):
    list_display = ["taskmanager", "index", "job", "allocated_at"]
    list_filter = ["taskmanager", ("job", admin.EmptyFieldListFilter)]
    list_select_related = ["taskmanager", "job"]
    search_fields = ["taskmanager__name", "=job__id", "job__name"]


@admin.register(Lease)
class LeaseAdmin(LookOnly):
    list_display = ["name", "holder", "epoch", "expires_at"]
    search_fields = ["name", "holder"]
