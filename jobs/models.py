"""The tables. Only `jobs` writes them; times are aware datetimes in UTC."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from jobs import masking, states
from jobs.states import AttemptState, JobState, State, TaskManagerState, Wanted


def new_job_id() -> str:
    return uuid.uuid4().hex


class TaskManager(models.Model):
    """A process that runs drivers in its slots. `pid` and `started_at` say which incarnation."""

    name = models.CharField(max_length=100, unique=True)
    host = models.CharField(max_length=255)
    pid = models.PositiveIntegerField()
    slots = models.PositiveIntegerField()
    memory_mib = models.PositiveIntegerField()
    state = models.CharField(
        max_length=12, choices=TaskManagerState.choices(), default=TaskManagerState.REGISTERED.value
    )
    queue = models.CharField(max_length=120)
    started_at = models.DateTimeField()
    last_heartbeat = models.DateTimeField()

    class Meta:
        ordering = ["name"]
        verbose_name = "TaskManager"

    def __str__(self) -> str:
        return self.name

    def transitions(self) -> Mapping[State, frozenset[State]]:
        return states.TASKMANAGER_TRANSITIONS

    def entering(self, target: State) -> dict[str, Any]:
        return {}

    def entered(self, seen: State) -> None:
        Event.objects.create(
            kind=Event.Kind.TASKMANAGER,
            message=f"TaskManager {self.name}: {TaskManagerState(self.state).label.lower()}",
            detail={"taskmanager": self.name, "from": seen, "to": self.state},
        )

    @property
    def state_info(self) -> TaskManagerState:
        return TaskManagerState(self.state)


class Job(models.Model):
    """One submitted job: what it is, what is wanted of it (`wanted`), what it is (`state`)."""

    class SuspendedBy(models.TextChoices):
        NOBODY = "", "nobody"
        USER = "user", "a user"
        #: The platform was stopped in order; the job goes on at its next start.
        PLATFORM = "platform", "the platform"

    id = models.CharField(primary_key=True, max_length=32, default=new_job_id, editable=False)
    name = models.CharField(max_length=200)
    state = models.CharField(
        max_length=12, choices=JobState.choices(), default=JobState.INITIALIZING.value
    )
    wanted = models.CharField(max_length=10, choices=Wanted.choices(), default=Wanted.RUNNING.value)
    suspended_by = models.CharField(
        max_length=8, choices=SuspendedBy.choices, default=SuspendedBy.NOBODY, blank=True
    )
    #: Why it waits, in a sentence for the page; empty when it does not.
    waiting_for = models.CharField(max_length=300, blank=True)

    #: Path of the stored Python file, its name as submitted, its content hash.
    entry = models.CharField(max_length=500)
    entry_name = models.CharField(max_length=200)
    artifact_sha256 = models.CharField(max_length=64)
    arguments = models.JSONField(default=list, blank=True)
    parallelism = models.PositiveIntegerField(default=1)
    configuration = models.JSONField(default=dict, blank=True)
    #: The graph, and milliseconds between checkpoints, as the driver reported them.
    plan = models.JSONField(default=dict, blank=True)
    checkpoint_interval = models.PositiveIntegerField(default=0)
    #: {topic: {partition: records not read yet}} as last reported, and when that was.
    lag = models.JSONField(default=dict, blank=True)
    progressed_at = models.DateTimeField(null=True, blank=True)

    #: Restarts allowed in a row, milliseconds before each, restarts in all, restarts since the
    #: last start by hand (what the restart strategy counts), and when the next one is due.
    restart_attempts = models.PositiveIntegerField(default=2_147_483_647)
    restart_delay_ms = models.PositiveIntegerField(default=1000)
    restarts = models.PositiveIntegerField(default=0)
    restarts_in_a_row = models.PositiveIntegerField(default=0)
    restart_at = models.DateTimeField(null=True, blank=True)
    #: Number of the attempt under way, until the JobManager has acted on its end.
    current_attempt = models.PositiveIntegerField(null=True, blank=True)
    #: Number of the attempt that is to be ended and followed by another, asked for by hand.
    restart_of = models.PositiveIntegerField(null=True, blank=True)

    submitted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="jobs"
    )
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    state_changed_at = models.DateTimeField(default=timezone.now)
    #: {state: ms since 1970 when it was entered last}
    timestamps = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["state", "created_at"]),
            models.Index(fields=["-created_at"]),
        ]
        permissions = [("submit_job", "Can submit jobs: runs Python code on the TaskManagers")]

    def __str__(self) -> str:
        return f"{self.name} ({self.id[:8]})"

    @property
    def shown_configuration(self) -> dict[str, str]:
        """Its settings for people to see: no values of secrets."""
        return masking.masked(self.configuration)

    def transitions(self) -> Mapping[State, frozenset[State]]:
        return states.JOB_TRANSITIONS

    def entering(self, target: State) -> dict[str, Any]:
        now = timezone.now()
        columns: dict[str, Any] = {
            "state_changed_at": now,
            "timestamps": {**self.timestamps, target.value: int(now.timestamp() * 1000)},
            "ended_at": now if target.is_terminal else None,
            "waiting_for": "",
        }
        if target is JobState.RUNNING and self.started_at is None:
            columns["started_at"] = now
        return columns

    def entered(self, seen: State) -> None:
        Event.objects.create(
            job=self,
            kind=Event.Kind.STATE,
            message=f"{seen} → {self.state}",
            detail={"from": seen, "to": self.state},
        )

    @property
    def state_info(self) -> JobState:
        return JobState(self.state)

    @property
    def wanted_info(self) -> Wanted:
        return Wanted(self.wanted)

    @property
    def restart_attempts_left(self) -> int:
        return max(0, self.restart_attempts - self.restarts_in_a_row)


class Slot(models.Model):
    """One n-th of a TaskManager, and one unit of parallelism of the job that holds it."""

    taskmanager = models.ForeignKey(TaskManager, models.CASCADE, related_name="slot_set")
    index = models.PositiveIntegerField()
    job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="slots")
    allocated_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["taskmanager", "index"]
        constraints = [
            models.UniqueConstraint(fields=["taskmanager", "index"], name="one_slot_per_index")
        ]

    def __str__(self) -> str:
        return f"{self.taskmanager}/{self.index}"


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
    restartable = models.BooleanField(default=True)
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
        indexes = [models.Index(fields=["taskmanager", "state"])]

    def __str__(self) -> str:
        return f"{self.job_id[:8]}/{self.number}"

    def transitions(self) -> Mapping[State, frozenset[State]]:
        return states.ATTEMPT_TRANSITIONS

    def entering(self, target: State) -> dict[str, Any]:
        return {"ended_at": timezone.now()} if target.is_terminal else {}

    def entered(self, seen: State) -> None:
        """Attempts are told by their job's history."""

    @property
    def state_info(self) -> AttemptState:
        return AttemptState(self.state)


class Checkpoint(models.Model):
    """A completed micro-batch: offsets, state and output transactions that belong together."""

    job = models.ForeignKey(Job, models.CASCADE, related_name="checkpoints")
    attempt = models.ForeignKey(Attempt, models.CASCADE, related_name="checkpoints")
    checkpoint_id = models.BigIntegerField()
    started_at = models.DateTimeField()
    completed_at = models.DateTimeField()
    duration = models.PositiveIntegerField(help_text="milliseconds")
    state_size = models.PositiveBigIntegerField(default=0, help_text="bytes")
    state_rows = models.PositiveBigIntegerField(default=0)
    records_in = models.PositiveBigIntegerField(default=0)
    records_out = models.JSONField(default=dict)
    transactions = models.PositiveIntegerField(default=0)
    phases = models.JSONField(default=dict)
    offsets = models.JSONField(default=dict)
    lag = models.JSONField(default=dict)
    latency = models.JSONField(default=dict)
    watermark = models.BigIntegerField(null=True, blank=True)
    counters = models.JSONField(default=dict)

    class Meta:
        ordering = ["-checkpoint_id"]
        constraints = [
            models.UniqueConstraint(fields=["job", "checkpoint_id"], name="one_row_per_checkpoint")
        ]
        indexes = [models.Index(fields=["job", "-checkpoint_id"])]

    def __str__(self) -> str:
        return f"{self.job_id[:8]} #{self.checkpoint_id}"


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

    job = models.ForeignKey(Job, models.CASCADE, null=True, blank=True, related_name="events")
    attempt = models.ForeignKey(
        Attempt, models.CASCADE, null=True, blank=True, related_name="events"
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


class Lease(models.Model):
    """Who leads. A holder acts only while `expires_at` is ahead and the epoch is its own."""

    name = models.CharField(primary_key=True, max_length=50)
    holder = models.CharField(max_length=200, blank=True)
    epoch = models.PositiveBigIntegerField(default=0)
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name}: {self.holder} (epoch {self.epoch})"
