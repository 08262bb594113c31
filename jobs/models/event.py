"""What happened."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class Event(models.Model):
    """One thing that happened, as history shows it. Failures carry `traceback` in `detail`."""

    class Kind(models.TextChoices):
        STATE = "state", "State changed"
        SUBMITTED = "submitted", "Submitted"
        ACTION = "action", "Asked for"
        ATTEMPT = "attempt", "Attempt"
        FAILURE = "failure", "Failure"
        TASKMANAGER = "taskmanager", "TaskManager"
        JOBMANAGER = "jobmanager", "JobManager"
        SAVEPOINT = "savepoint", "Savepoint"
        CHECKPOINT = "checkpoint", "Checkpoint"
        SCHEDULE = "schedule", "Schedule"

    job = models.ForeignKey("Job", models.CASCADE, null=True, blank=True, related_name="events")
    attempt = models.ForeignKey(
        "Attempt", models.CASCADE, null=True, blank=True, related_name="events"
    )
    at = models.DateTimeField(default=timezone.now)
    kind = models.CharField(max_length=12, choices=Kind.choices)
    message = models.TextField()
    detail = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [
            models.Index(fields=["job", "-at"]),
            models.Index(fields=["job", "kind", "-at"]),
            models.Index(fields=["-at"]),
        ]

    def __str__(self) -> str:
        return self.message
