"""The versions of a job, and its upgrades from one to another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from jobs import masking, states
from jobs.models.event import Event
from jobs.models.job import Job
from jobs.models.savepoint import Savepoint
from jobs.states import State, UpgradeState


class JobVersion(models.Model):
    """What a job is made of: code, arguments, parallelism, settings. Never changed; the job's own
    columns are those of its current version."""

    job = models.ForeignKey(Job, models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    entry = models.CharField(max_length=500)
    entry_name = models.CharField(max_length=200)
    artifact_sha256 = models.CharField(max_length=64)
    arguments = models.JSONField(default=list, blank=True)
    parallelism = models.PositiveIntegerField(default=1)
    configuration = models.JSONField(default=dict, blank=True)
    reason = models.CharField(max_length=500, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_by_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["job", "number"], name="one_version_per_number")
        ]

    def __str__(self) -> str:
        return f"{self.job_id[:8]} version {self.number}"

    @property
    def shown_configuration(self) -> dict[str, str]:
        """Its settings for people to see: no values of secrets."""
        return masking.masked(self.configuration)

    @property
    def shown_arguments(self) -> list[str]:
        """As `shown_configuration`."""
        return masking.in_arguments(self.arguments)


class Upgrade(models.Model):
    """A job's way from one version to another, or to other slots, through a savepoint:
    `jobs.upgrades`."""

    job = models.ForeignKey(Job, models.CASCADE, related_name="upgrades")
    state = models.CharField(
        max_length=10, choices=UpgradeState.choices(), default=UpgradeState.STOPPING.value
    )
    before = models.ForeignKey(JobVersion, models.CASCADE, related_name="+")
    after = models.ForeignKey(JobVersion, models.CASCADE, related_name="upgrades")
    savepoint = models.ForeignKey(Savepoint, models.PROTECT, related_name="upgrades")
    allow_non_restored_state = models.BooleanField(default=False)
    #: The checkpoints that the version before stopped with, by their directory's name; "" when they
    #: are not kept. With them it runs again if it has to.
    checkpoint_name = models.CharField(max_length=80, blank=True)
    #: Why it did not lead to the new version.
    failure = models.TextField(blank=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    requested_by_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(default=timezone.now)
    state_changed_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    #: Until when the new version has to run.
    deadline = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["job"],
                condition=models.Q(state__in=["STOPPING", "STARTING", "REVERTING"]),
                name="one_upgrade_at_a_time",
            )
        ]
        indexes = [
            models.Index(fields=["state"]),
            models.Index(fields=["job", "-id"]),
        ]

    def __str__(self) -> str:
        return f"{self.job_id[:8]}: version {self.before.number} → {self.after.number}"

    def transitions(self) -> Mapping[State, frozenset[State]]:
        return states.UPGRADE_TRANSITIONS

    def entering(self, target: State) -> dict[str, Any]:
        now = timezone.now()
        return {"state_changed_at": now, "ended_at": now if target.is_terminal else None}

    def entered(self, seen: State) -> None:
        failure = f": {self.failure}" if self.failure else ""
        after = self.after.number
        what = "move to other slots" if self.moves else f"upgrade to version {after}"
        Event.objects.create(
            job=self.job,
            kind=Event.Kind.ACTION,
            message=f"{what}: {self.state_info.label.lower()}{failure}",
            detail={"upgrade": self.pk, "version": after, "from": seen, "to": self.state},
        )
        if self.state_info.is_terminal:  # those of the other version: `upgrades.left_over`
            Job.objects.filter(pk=self.job_id).update(checkpoints_left=True)

    @property
    def state_info(self) -> UpgradeState:
        return UpgradeState(self.state)

    @property
    def moves(self) -> bool:
        """To other slots as the same version: off a TaskManager that is drained (`jobs.moves`)."""
        return self.before_id == self.after_id
