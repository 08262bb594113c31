"""One submitted job."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from jobs import masking, placement, restart_strategies, retention, states
from jobs.models.event import Event
from jobs.states import JobState, State, Wanted

#: How the keys begin that the cluster may set for all its jobs.
CLUSTER_KEYS = ("execution.checkpointing.", "state.")


def new_job_id() -> str:
    return uuid.uuid4().hex


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

    #: The number of its current version; the columns that follow are that version's.
    version = models.PositiveIntegerField(default=1)
    #: Path of the stored Python file, its name as submitted, its content hash.
    entry = models.CharField(max_length=500)
    entry_name = models.CharField(max_length=200)
    artifact_sha256 = models.CharField(max_length=64)
    arguments = models.JSONField(default=list, blank=True)
    parallelism = models.PositiveIntegerField(default=1)
    #: Slots that its program asks for, as its driver reported; None before, or as its parallelism.
    slots_needed = models.PositiveIntegerField(null=True, blank=True)
    #: Since when it waits for slots, until it gets them; its place in the queue.
    queued_at = models.DateTimeField(null=True, blank=True)
    configuration = models.JSONField(default=dict, blank=True)
    #: The graph, and milliseconds between checkpoints, as the driver reported them.
    plan = models.JSONField(default=dict, blank=True)
    checkpoint_interval = models.PositiveIntegerField(default=0)
    #: {topic: {partition: records not read yet}} as last reported, and when that was.
    lag = models.JSONField(default=dict, blank=True)
    progressed_at = models.DateTimeField(null=True, blank=True)

    #: What its configuration and its program say about restarts, by Flink's keys.
    restart_strategy = models.JSONField(default=dict, blank=True)
    #: Restarts in all; those in a row that the strategy counts; the newest failures that it looks
    #: at (ms since 1970, oldest first); and when the newest restart is or was due.
    restarts = models.PositiveIntegerField(default=0)
    restarts_in_a_row = models.PositiveIntegerField(default=0)
    failure_times = models.JSONField(default=list, blank=True)
    restart_at = models.DateTimeField(null=True, blank=True)
    #: Number of the attempt under way, until the JobManager has acted on its end.
    current_attempt = models.PositiveIntegerField(null=True, blank=True)
    #: Number of the attempt that is to be ended and followed by another, asked for by hand.
    restart_of = models.PositiveIntegerField(null=True, blank=True)

    #: Name of the directory of its checkpoints, another one behind each upgrade; "" = its id.
    checkpoint_name = models.CharField(max_length=80, blank=True)
    #: What its program and its configuration say about checkpoints, as its driver reported them.
    checkpoint_settings = models.JSONField(default=dict, blank=True)
    #: Its checkpoints were removed at its end, as its configuration asks for; or are to be, by a
    #: TaskManager, as its driver died before.
    checkpoints_removed = models.BooleanField(default=False)
    checkpoints_left = models.BooleanField(default=False)
    #: Put away: lists leave it out unless it is asked for.
    archived_at = models.DateTimeField(null=True, blank=True)

    #: Whose job it is; one of no team is everybody's.
    team = models.ForeignKey(
        "jobs.Team", models.PROTECT, null=True, blank=True, related_name="jobs"
    )
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
            models.Index(fields=["state", "ended_at"]),
            models.Index(fields=["-created_at"]),
            models.Index(
                fields=["state"], condition=models.Q(checkpoints_left=True), name="checkpoints_left"
            ),
        ]
        permissions = [("submit_job", "Can submit jobs: runs Python code on the TaskManagers")]

    def __str__(self) -> str:
        return f"{self.name} ({self.id[:8]})"

    @property
    def shown_configuration(self) -> dict[str, str]:
        """Its settings for people to see: no values of secrets."""
        return masking.masked(self.configuration)

    @property
    def shown_arguments(self) -> list[str]:
        """As `shown_configuration`."""
        return masking.in_arguments(self.arguments)

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
        if target.is_terminal:
            columns["queued_at"] = None
        cancelled = target is JobState.CANCELED and not self.checkpoints_removed
        if cancelled and retention.removed_when_cancelled(self.checkpointing):
            columns |= {"checkpoints_removed": True, "checkpoints_left": True}
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
    def checkpoint_dir(self) -> Path:
        root: Path = settings.HEADRACE_CHECKPOINTS
        return root / (self.checkpoint_name or self.pk)

    @property
    def checkpointing(self) -> dict[str, str]:
        """Its settings of checkpoints and savepoints; what its program says counts first."""
        return {**self.driver_settings, **self.checkpoint_settings}

    @property
    def driver_settings(self) -> dict[str, str]:
        """What its driver is given: its own, over the cluster's of checkpoints and state."""
        of_cluster = settings.HEADRACE_PROPERTIES.items()
        given = {key: value for key, value in of_cluster if key.startswith(CLUSTER_KEYS)}
        return {**given, **self.configuration}

    @property
    def slots_wanted(self) -> int:
        return self.slots_needed or self.parallelism

    @property
    def placement(self) -> placement.Placement:
        """How it waits for its slots, and where it runs."""
        return placement.read(self.configuration, settings.HEADRACE_PROPERTIES)

    @property
    def strategy(self) -> restart_strategies.Strategy:
        """The restart strategy in force: its own, else the cluster's."""
        return restart_strategies.read(self.restart_strategy, settings.HEADRACE_PROPERTIES)

    @property
    def restart_attempts_left(self) -> int | None:
        """Restarts that may follow if nothing but failures happens; None for any number."""
        allowed = restart_strategies.allowed(self.strategy)
        return None if allowed is None else max(0, allowed - self.restarts_in_a_row)
