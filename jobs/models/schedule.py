"""Schedules, and what became of each of their times."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from jobs import masking
from jobs.models.job import Job


def new_schedule_id() -> str:
    return uuid.uuid4().hex


class Schedule(models.Model):
    """What is to be submitted as a job, and when: once (`at`) or again and again (`cron`)."""

    id = models.CharField(primary_key=True, max_length=32, default=new_schedule_id, editable=False)
    at = models.DateTimeField(null=True, blank=True)
    cron = models.CharField(max_length=200, blank=True)
    #: In which the cron expression is meant.
    time_zone = models.CharField(max_length=64, default="UTC")
    #: Milliseconds by which a job may start late, after nobody was there at its time.
    grace = models.PositiveBigIntegerField(help_text="milliseconds")
    #: None: nothing follows, or it is paused.
    next_run_at = models.DateTimeField(null=True, blank=True, db_index=True)
    paused_at = models.DateTimeField(null=True, blank=True)

    #: As of a job.
    name = models.CharField(max_length=200)
    entry = models.CharField(max_length=500)
    entry_name = models.CharField(max_length=200)
    artifact_sha256 = models.CharField(max_length=64)
    arguments = models.JSONField(default=list, blank=True)
    parallelism = models.PositiveIntegerField(default=1)
    configuration = models.JSONField(default=dict, blank=True)

    #: Its jobs are submitted in this name, and with the rights that it has then.
    #: Whose jobs it starts.
    team = models.ForeignKey(
        "jobs.Team", models.PROTECT, null=True, blank=True, related_name="schedules"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_by_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["-created_at"])]

    def __str__(self) -> str:
        return f"{self.name} ({self.when})"

    @property
    def when(self) -> str:
        """In words."""
        return f"{self.cron}, {self.time_zone}" if self.cron else f"at {self.at}"

    @property
    def shown_configuration(self) -> dict[str, str]:
        """Its settings for people to see: no values of secrets."""
        return masking.masked(self.configuration)

    @property
    def shown_arguments(self) -> list[str]:
        """As `shown_configuration`."""
        return masking.in_arguments(self.arguments)


class ScheduledRun(models.Model):
    """What was made of one time of a schedule."""

    class Outcome(models.TextChoices):
        STARTED = "started", "a job was started"
        SKIPPED = "skipped", "its job before was still going"
        MISSED = "missed", "nobody was there in time"
        REFUSED = "refused", "the job was refused"

    schedule = models.ForeignKey(Schedule, models.CASCADE, related_name="runs")
    planned_at = models.DateTimeField()
    decided_at = models.DateTimeField(default=timezone.now)
    outcome = models.CharField(max_length=8, choices=Outcome.choices)
    why = models.CharField(max_length=1000, blank=True)
    job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["-planned_at"]
        constraints = [
            models.UniqueConstraint(fields=["schedule", "planned_at"], name="one_run_per_time")
        ]

    def __str__(self) -> str:
        return f"{self.planned_at}: {self.outcome}"
