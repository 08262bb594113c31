"""The admin console: everything can be found and looked at; what the platform writes is not
edited here, because a row edited by hand would say what never happened. Jobs are steered by
actions, which go through `jobs.actions` like every other request."""

from __future__ import annotations

from functools import partial

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from jobs import actions, savepoints, taskmanagers
from jobs.console import LookOnly, LookOnlyInline, action
from jobs.models import Attempt, Checkpoint, Event, Job, Lease, Savepoint, Slot, TaskManager


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
        *("team", "submitted_by", "created_at", "started_at", "ended_at"),
    ]
    list_filter = ["state", "wanted", "team", "submitted_by", "created_at"]
    list_select_related = ["submitted_by", "team"]
    search_fields = ["=id", "name", "entry_name", "artifact_sha256"]
    date_hierarchy = "created_at"
    inlines = [AttemptInline]
    exclude = ["configuration", "arguments"]
    readonly_fields = ["shown_arguments", "settings"]
    actions = [
        action(
            "cancel",
            "Cancel: end for good",
            "They end behind their current batch and free their slots.",
            actions.cancel,
        ),
        action(
            "suspend",
            "Suspend: stop behind the current batch, to be resumed",
            "They free their slots; resume goes on from there.",
            actions.suspend,
        ),
        action(
            "resume",
            "Resume suspended jobs",
            "They go on from their last checkpoint as soon as slots are free.",
            actions.resume,
        ),
        action(
            "restart",
            "Restart from the last checkpoint",
            "Their drivers are ended behind the current batch and started again.",
            actions.restart,
        ),
        action("savepoint", "Take a savepoint", "The jobs run on.", savepoints.trigger),
        action(
            "stop_with_savepoint",
            "Stop with a savepoint",
            "They finish with it; windows that are open are in it.",
            partial(savepoints.trigger, then=Savepoint.Then.FINISH),
        ),
        action(
            "drain",
            "Drain: let all windows fire, then stop with a savepoint",
            "They finish. A job that begins with such a savepoint may see late records.",
            partial(savepoints.trigger, then=Savepoint.Then.FINISH, drain=True),
        ),
        action("archive", "Archive ended jobs", "Lists leave them out.", actions.archive),
    ]

    @admin.display(description="configuration")
    def settings(self, job: Job) -> SafeString | str:
        lines = "\n".join(f"{key}: {value}" for key, value in job.shown_configuration.items())
        return format_html("<pre>{}</pre>", lines) if lines else "-"


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
    actions = [
        action(
            "drain",
            "Drain: no new jobs; those that it has move to others",
            "Jobs run on until others have room for them.",
            taskmanagers.drain,
        ),
        action("undrain", "Offer the slots again", "Jobs come as they need.", taskmanagers.undrain),
    ]

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
