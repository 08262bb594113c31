"""Who leads."""

from __future__ import annotations

from django.db import models


class Lease(models.Model):
    """Who leads. A holder acts only while `expires_at` is ahead and the epoch is its own."""

    name = models.CharField(primary_key=True, max_length=50)
    holder = models.CharField(max_length=200, blank=True)
    epoch = models.PositiveBigIntegerField(default=0)
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name}: {self.holder} (epoch {self.epoch})"
