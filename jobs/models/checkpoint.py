"""Completed micro-batches."""

from __future__ import annotations

from django.db import models

from jobs.models.attempt import Attempt
from jobs.models.job import Job


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
    #: What each vertex did for it: `headrace.wire.events.CheckpointCompleted.tasks`.
    tasks = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-checkpoint_id"]
        constraints = [
            models.UniqueConstraint(fields=["job", "checkpoint_id"], name="one_row_per_checkpoint")
        ]
        indexes = [models.Index(fields=["job", "-checkpoint_id"])]

    def __str__(self) -> str:
        return f"{self.job_id[:8]} #{self.checkpoint_id}"
