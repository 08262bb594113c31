"""Checkpoints that were asked for by hand."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone

from jobs.models.attempt import Attempt
from jobs.models.job import Job


def new_trigger_id() -> str:
    return uuid.uuid4().hex


class CheckpointRequest(models.Model):
    """One that was asked for, and what became of it: a checkpoint, or why there is none."""

    job = models.ForeignKey(Job, models.CASCADE, related_name="checkpoint_requests")
    #: Of the caller's own: asked again with it, nothing new begins.
    trigger_id = models.CharField(max_length=32, default=new_trigger_id)
    #: The attempt that makes it; the request fails with it.
    attempt = models.ForeignKey(Attempt, models.CASCADE, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    #: When its driver was told, and when it was answered.
    sent_at = models.DateTimeField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    checkpoint_id = models.BigIntegerField(null=True, blank=True)
    failure = models.CharField(max_length=1000, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["job", "trigger_id"], name="one_checkpoint_per_trigger")
        ]
        indexes = [
            models.Index(
                fields=["attempt"],
                condition=Q(sent_at=None, answered_at=None),
                name="checkpoints_to_ask_for",
            )
        ]

    def __str__(self) -> str:
        return self.trigger_id
