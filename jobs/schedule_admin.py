"""Schedules in the admin console: made by REST and the command line, steered here."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from jobs import actions, permissions, schedules
from jobs.admin import LookOnly, LookOnlyInline
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
    list_filter = ["time_zone", "created_at"]
    search_fields = ["=id", "name", "entry_name", "created_by_name"]
    exclude = ["configuration"]
    inlines = [RunInline]
    actions = ["pause", "resume", "delete_them"]

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        found = super().get_actions(request) if permissions.may_steer(request.user) else {}
        if not permissions.may_submit(request.user):
            found.pop("resume", None)
        return found

    @admin.action(description="Pause: let their times pass")
    def pause(self, request: HttpRequest, rows: QuerySet[Schedule]) -> None:
        for row in rows:
            schedules.pause(row, _user(request))

    @admin.action(description="Resume with the next time to come")
    def resume(self, request: HttpRequest, rows: QuerySet[Schedule]) -> None:
        for row in rows:
            try:
                schedules.resume(row, _user(request))
            except actions.Conflict as error:
                self.message_user(request, f"{row}: {error}", messages.ERROR)

    @admin.action(description="Delete; jobs that they have started stay")
    def delete_them(self, request: HttpRequest, rows: QuerySet[Schedule]) -> None:
        for row in rows:
            schedules.delete(row, _user(request))


def _user(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None
