"""JobManagers, the one that leads and those that stand by."""

from __future__ import annotations

from django.db import models


class JobManagerProcess(models.Model):
    """A process that leads or stands by. Who leads is said by the lease alone."""

    name = models.CharField(max_length=200, unique=True)
    host = models.CharField(max_length=255)
    pid = models.PositiveIntegerField()
    started_at = models.DateTimeField()
    last_heartbeat = models.DateTimeField()
    #: How it fares, under Flink's names; {} = not known.
    vitals = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["name"]
        verbose_name = "JobManager"

    def __str__(self) -> str:
        return self.name
