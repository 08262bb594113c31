"""Programs that were uploaded to be run later: what Flink calls jars."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from jobs.artifacts import Artifact
from jobs.models.team import Team


class Upload(models.Model):
    """A stored program and who brought it. Jobs made of it keep the file when this row goes."""

    #: `<uuid>_<file name>`, as Flink names a jar.
    id = models.CharField(primary_key=True, max_length=240, editable=False)
    name = models.CharField(max_length=200)
    #: Where it is stored, by its content.
    path = models.CharField(max_length=500)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    #: What can be run in it (`headrace.wire.packages`); empty for a file that is run as it is.
    entries = models.JSONField(default=list, blank=True)
    #: Whose it is, and so whose its jobs are; one of no team is everybody's.
    team = models.ForeignKey(Team, models.CASCADE, null=True, blank=True, related_name="uploads")
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="uploads"
    )
    uploaded_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-uploaded_at"]
        verbose_name = "uploaded program"

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self.pk:
            self.pk = f"{uuid.uuid4()}_{self.name}"
        super().save(*args, **kwargs)

    @property
    def artifact(self) -> Artifact:
        return Artifact(Path(self.path), self.name, self.sha256)
