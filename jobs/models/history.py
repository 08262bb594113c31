"""Figures over time."""

from __future__ import annotations

from django.db import models


class HistoryChunk(models.Model):
    """The figures of one subject in one span of time, compressed: `jobs.rollups`.

    The subject is a job's id, or what `jobs.history` says for a process. It is no foreign key:
    what is left of a job that was deleted goes by its age."""

    subject = models.CharField(max_length=150)
    #: Seconds of one bucket, and when the chunk begins, in seconds since 1970.
    resolution = models.PositiveIntegerField()
    begins = models.BigIntegerField()
    data = models.BinaryField()

    class Meta:
        ordering = ["subject", "resolution", "begins"]
        constraints = [
            models.UniqueConstraint(
                fields=["subject", "resolution", "begins"], name="one_chunk_per_span"
            )
        ]
        indexes = [models.Index(fields=["resolution", "begins"])]

    def __str__(self) -> str:
        return f"{self.subject} {self.resolution} s from {self.begins}"
