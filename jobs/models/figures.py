"""What a job's driver measured last."""

from __future__ import annotations

from django.db import models

from jobs.models.job import Job


class JobFigures(models.Model):
    """The latest figures of a job; they stay when it has ended. Read by `jobs.figures`."""

    job = models.OneToOneField(Job, models.CASCADE, primary_key=True, related_name="figures_row")
    #: When they were measured, in which attempt, and as `headrace.wire.events.Measured` has them.
    at = models.DateTimeField()
    attempt = models.PositiveIntegerField()
    figures = models.JSONField(default=dict, blank=True)

    #: The newest checkpoint: {"id", "duration", "size", "rows", "started_at", "completed_at"} in
    #: milliseconds and bytes; the id of the first one; how many took longer than their timeout.
    checkpoint = models.JSONField(default=dict, blank=True)
    first_checkpoint = models.BigIntegerField(null=True, blank=True)
    failed_checkpoints = models.PositiveIntegerField(default=0)
    #: When an attempt last went on from a checkpoint, ms since 1970.
    restored_at = models.BigIntegerField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "job figures"

    def __str__(self) -> str:
        return f"{self.job_id[:8]} at {self.at:%H:%M:%S}"
