"""Savepoints, uploads and what the platform keeps for itself, in the admin console."""

from __future__ import annotations

from django.contrib import admin

from jobs import savepoints
from jobs.console import LookOnly, action
from jobs.models import (
    Beginning,
    CheckpointRequest,
    Diagnosis,
    HistoryChunk,
    JobFigures,
    JobManagerProcess,
    Savepoint,
    ScheduledRun,
    Upload,
)


@admin.register(Savepoint)
class SavepointAdmin(LookOnly):
    list_display = [
        *("job_name", "state", "path", "size", "requested_by_name", "created_at", "completed_at"),
        "disposed_at",
    ]
    list_filter = ["state", "then", "drain", "created_at"]
    search_fields = ["=id", "=job__id", "job_name", "path", "reason", "requested_by_name"]
    date_hierarchy = "created_at"
    actions = [
        action(
            "dispose",
            "Dispose: remove the files",
            "No job can begin with them any more. Those that one needs are kept.",
            savepoints.dispose,
        )
    ]


@admin.register(Beginning)
class BeginningAdmin(LookOnly):
    list_display = ["job", "path", "claim_mode", "allow_non_restored_state", "beside"]
    list_filter = ["claim_mode", "beside"]
    list_select_related = ["job"]
    search_fields = ["=job__id", "job__name", "path"]


@admin.register(CheckpointRequest)
class CheckpointRequestAdmin(LookOnly):
    list_display = ["job", "trigger_id", "created_at", "answered_at", "checkpoint_id", "failure"]
    list_filter = ["created_at"]
    list_select_related = ["job"]
    search_fields = ["=job__id", "job__name", "=trigger_id", "failure"]


@admin.register(ScheduledRun)
class ScheduledRunAdmin(LookOnly):
    list_display = ["schedule", "planned_at", "decided_at", "outcome", "why", "job"]
    list_filter = ["outcome", "planned_at"]
    list_select_related = ["schedule", "job"]
    search_fields = ["schedule__name", "=job__id", "why"]


@admin.register(Upload)
class UploadAdmin(LookOnly):
    list_display = ["name", "id", "size", "team", "uploaded_by", "uploaded_at"]
    list_filter = ["team", "uploaded_at"]
    list_select_related = ["team", "uploaded_by"]
    search_fields = ["=id", "name", "=sha256"]


@admin.register(Diagnosis)
class DiagnosisAdmin(LookOnly):
    list_display = ["kind", "taskmanager", "attempt", "asked_by", "asked_at", "answered_at"]
    list_filter = ["kind", "asked_at"]
    list_select_related = ["taskmanager", "attempt__job", "asked_by"]
    search_fields = ["taskmanager__name", "=attempt__job__id", "error"]
    exclude = ["answer"]


@admin.register(JobFigures)
class JobFiguresAdmin(LookOnly):
    list_display = ["job", "at", "attempt", "failed_checkpoints"]
    list_filter = ["at"]
    list_select_related = ["job"]
    search_fields = ["=job__id", "job__name"]


@admin.register(HistoryChunk)
class HistoryAdmin(LookOnly):
    list_display = ["subject", "resolution", "begins"]
    list_filter = ["resolution"]
    search_fields = ["subject"]
    exclude = ["data"]


@admin.register(JobManagerProcess)
class JobManagerAdmin(LookOnly):
    list_display = ["name", "host", "pid", "started_at", "last_heartbeat"]
    list_filter = ["host"]
    search_fields = ["name", "host"]
