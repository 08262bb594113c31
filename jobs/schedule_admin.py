"""Schedules in the admin console: made by REST and the command line, steered here."""

from __future__ import annotations

from django.contrib import admin

from jobs import schedules
from jobs.console import LookOnly, LookOnlyInline, action
from jobs.models import Schedule, ScheduledRun


class RunInline(LookOnlyInline):
    model = ScheduledRun
    fields = ["planned_at", "decided_at", "outcome", "why", "job"]


@admin.register(Schedule)
class ScheduleAdmin(LookOnly):
    list_display = [
        *("name", "cron", "time_zone", "at", "next_run_at", "paused_at"),
        *("entry_name", "created_by_name", "created_at"),
    ]
    list_filter = ["team", "time_zone", "created_at"]
    list_select_related = ["team"]
    search_fields = ["=id", "name", "entry_name", "created_by_name"]
    exclude = ["configuration", "arguments"]
    readonly_fields = ["shown_arguments"]
    inlines = [RunInline]
    actions = [
        action("pause", "Pause: let their times pass", "Jobs that run go on.", schedules.pause),
        action("resume", "Resume with the next time to come", "Jobs follow.", schedules.resume),
        action("delete_them", "Delete", "Jobs that they have started stay.", schedules.delete),
    ]
