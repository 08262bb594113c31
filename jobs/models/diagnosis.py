"""Looks at running processes, asked for by people."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from jobs.models.attempt import Attempt
from jobs.models.taskmanager import TaskManager


class Diagnosis(models.Model):
    """What one process, or all of a driver, does at a moment. Who it is asked of answers it."""

    class Kind(models.TextChoices):
        THREADS = "threads", "thread dump"
        FLAME_GRAPH = "flame-graph", "flame graph"

    kind = models.CharField(max_length=12, choices=Kind.choices)
    #: Of whom: a TaskManager's own process or, with `attempt`, its driver; else a JobManager.
    taskmanager = models.ForeignKey(
        TaskManager, models.CASCADE, null=True, blank=True, related_name="diagnoses"
    )
    attempt = models.ForeignKey(
        Attempt, models.CASCADE, null=True, blank=True, related_name="diagnoses"
    )
    jobmanager = models.CharField(max_length=255, blank=True)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    asked_at = models.DateTimeField(default=timezone.now)
    #: When whoever is asked began with it; None before.
    taken_at = models.DateTimeField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    #: THREADS: {"threads": [{"name", "text"}]}; FLAME_GRAPH: {"full": tree, "on_cpu": tree,
    #: "off_cpu": tree, "seconds": n}, a tree as `jobs.diagnostics` has it.
    answer = models.JSONField(default=dict, blank=True)
    #: Why there is none.
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "diagnoses"
        indexes = [
            models.Index(fields=["taskmanager", "taken_at"]),
            models.Index(fields=["jobmanager", "taken_at"]),
            models.Index(fields=["asked_at"]),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} #{self.pk}"
