"""One run of a job's driver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import models
from django.utils import timezone

from jobs import states
from jobs.models.job import Job
from jobs.models.taskmanager import TaskManager
from jobs.states import AttemptState, State


class Attempt(models.Model):
    """One run of a job's driver. It ends when no process of it is left."""

    class Outcome(models.TextChoices):
        """What the driver said about its end, before its process was gone."""

        NONE = "", "nothing"
        FINISHED = "finished", "finished"
        CANCELED = "canceled", "canceled"
        SUSPENDED = "suspended", "suspended"
        FAILED = "failed", "failed"

    class Command(models.TextChoices):
        """What the JobManager wants of the driver; the TaskManager carries it there."""

        NONE = "", "nothing"
        CANCEL = "cancel", "cancel"
        SUSPEND = "suspend", "suspend"

    job = models.ForeignKey(Job, models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    #: Of which version of the job.
    version = models.PositiveIntegerField(default=1)
    taskmanager = models.ForeignKey(
        TaskManager, models.SET_NULL, null=True, blank=True, related_name="attempts"
    )
    state = models.CharField(
        max_length=12, choices=AttemptState.choices(), default=AttemptState.CREATED.value
    )
    #: The driver's process: its pid and its start time say which one.
    pid = models.PositiveIntegerField(null=True, blank=True)
    process_started_at = models.FloatField(null=True, blank=True)
    run_dir = models.CharField(max_length=500)
    #: Its TaskManager's, when it began: where its files are, whoever has that name by now.
    host = models.CharField(max_length=255, blank=True)
    storage = models.CharField(max_length=32, blank=True)
    #: How far the journal is recorded: bytes, and the number of the last event.
    journal_position = models.PositiveBigIntegerField(default=0)
    journal_number = models.PositiveBigIntegerField(default=0)
    command = models.CharField(
        max_length=8, choices=Command.choices, default=Command.NONE, blank=True
    )
    command_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(
        max_length=10, choices=Outcome.choices, default=Outcome.NONE, blank=True
    )
    outcome_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True)
    traceback = models.TextField(blank=True)
    #: Of a failure: `headrace.wire.failures.Cause`, whether that is worth another attempt, and
    #: what the restart strategy made of it, in words.
    cause = models.CharField(max_length=20, blank=True)
    restartable = models.BooleanField(default=True)
    verdict = models.CharField(max_length=300, blank=True)
    #: Its end was written down though nobody saw it: its driver may still run somewhere.
    abandoned = models.BooleanField(default=False)
    exit_code = models.IntegerField(null=True, blank=True)
    restored_checkpoint = models.BigIntegerField(null=True, blank=True)
    application_id = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["job", "number"], name="one_attempt_per_number")
        ]
        indexes = [
            models.Index(fields=["taskmanager", "state"]),
            models.Index(fields=["state"]),
        ]

    def __str__(self) -> str:
        return f"{self.job_id[:8]}/{self.number}"

    def transitions(self) -> Mapping[State, frozenset[State]]:
        return states.ATTEMPT_TRANSITIONS

    def entering(self, target: State) -> dict[str, Any]:
        return {"ended_at": timezone.now()} if target.is_terminal else {}

    def entered(self, seen: State) -> None:
        """Attempts are told by their job's history."""

    def is_on(self, taskmanager: TaskManager) -> bool:
        """Whether its files are where this one, of whichever name, keeps such files."""
        return not self.storage or self.storage == taskmanager.storage

    @property
    def state_info(self) -> AttemptState:
        return AttemptState(self.state)
