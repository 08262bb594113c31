"""Savepoints, and what jobs began with."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from headrace.wire.savepoint import ClaimMode
from jobs import states
from jobs.models.attempt import Attempt
from jobs.models.event import Event
from jobs.models.job import Job
from jobs.states import SavepointState, State


def new_savepoint_id() -> str:
    return uuid.uuid4().hex


class Savepoint(models.Model):
    """One that was asked for: of which job, where, by whom and why, and what became of it."""

    class Then(models.TextChoices):
        """How the job goes on."""

        RUN = "", "runs on"
        FINISH = "finished", "stops"
        CANCEL = "canceled", "is cancelled"

    id = models.CharField(primary_key=True, max_length=32, default=new_savepoint_id, editable=False)
    #: The caller's own id of the request: asked again with it, nothing new begins.
    trigger_id = models.CharField(max_length=32, default=new_savepoint_id)
    job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="savepoints")
    job_name = models.CharField(max_length=200)
    #: The attempt that makes it; it fails when that ends before.
    attempt = models.ForeignKey(
        Attempt, models.SET_NULL, null=True, blank=True, related_name="savepoints"
    )
    state = models.CharField(
        max_length=12, choices=SavepointState.choices(), default=SavepointState.TRIGGERED.value
    )
    then = models.CharField(max_length=8, choices=Then.choices, default=Then.RUN, blank=True)
    drain = models.BooleanField(default=False)
    #: Its directory, as it was made.
    path = models.CharField(max_length=500)
    reason = models.CharField(max_length=500, blank=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    requested_by_name = models.CharField(max_length=150)
    #: Of what it is: the job's version and the content of its program, and the checkpoint.
    version = models.PositiveIntegerField(null=True, blank=True)
    checkpoint_id = models.BigIntegerField(null=True, blank=True)
    artifact_sha256 = models.CharField(max_length=64, blank=True)
    parallelism = models.PositiveIntegerField(default=1)
    size = models.PositiveBigIntegerField(default=0, help_text="bytes")
    files = models.PositiveIntegerField(default=0)
    duration = models.PositiveIntegerField(default=0, help_text="milliseconds")
    failure = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    completed_at = models.DateTimeField(null=True, blank=True)
    #: Since when it is to be removed, and when it was.
    disposing_since = models.DateTimeField(null=True, blank=True)
    disposed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["job", "trigger_id"], name="one_savepoint_per_trigger")
        ]
        indexes = [
            models.Index(fields=["job", "-created_at"]),
            models.Index(fields=["state"]),
            models.Index(fields=["path"]),
        ]

    def __str__(self) -> str:
        return self.path

    def transitions(self) -> Mapping[State, frozenset[State]]:
        return states.SAVEPOINT_TRANSITIONS

    def entering(self, target: State) -> dict[str, Any]:
        now = timezone.now()
        if target in (SavepointState.COMPLETED, SavepointState.FAILED) and not self.completed_at:
            return {"completed_at": now}
        if target is SavepointState.DISPOSING:
            return {"disposing_since": now, "failure": ""}
        return {"disposed_at": now} if target is SavepointState.DISPOSED else {}

    def entered(self, seen: State) -> None:
        words = SavepointState(self.state).label.lower()
        failure = f": {self.failure}" if self.failure else ""
        Event.objects.create(
            job=self.job,
            attempt=self.attempt,
            kind=Event.Kind.SAVEPOINT,
            message=f"savepoint {Path(self.path).name} {words}{failure}",
            detail={"savepoint": self.pk, "path": self.path, "from": seen, "to": self.state},
        )

    @property
    def state_info(self) -> SavepointState:
        return SavepointState(self.state)


class Beginning(models.Model):
    """The savepoint that a job begins with, at its first start or the first of a version."""

    job = models.OneToOneField(Job, models.CASCADE, related_name="beginning")
    path = models.CharField(max_length=500)
    #: If it is one of this cluster's.
    savepoint = models.ForeignKey(
        Savepoint, models.SET_NULL, null=True, blank=True, related_name="jobs"
    )
    claim_mode = models.CharField(
        max_length=8, choices=[(mode.value, mode.value) for mode in ClaimMode]
    )
    allow_non_restored_state = models.BooleanField(default=False)
    #: A second job beside the first, with transactions of its own.
    beside = models.BooleanField(default=False)
    #: Directory of checkpoints that began with the same savepoint, in whose place this one goes on.
    instead_of = models.CharField(max_length=500, blank=True)

    def __str__(self) -> str:
        return f"{self.job_id[:8]} from {self.path}"
