"""Secrets that jobs are given: passwords and keys, encrypted."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone

from jobs.models.team import Team

NAME = RegexValidator(r"^[A-Z][A-Z0-9_]{0,79}$", "capital letters, digits and _, a letter first")


class Secret(models.Model):
    """Its value is only ever decrypted for the driver of a job that names it (`jobs.secrets`)."""

    name = models.CharField(max_length=80, validators=[NAME])
    #: Whose jobs may have it; without a team, all jobs.
    team = models.ForeignKey(Team, models.CASCADE, null=True, blank=True, related_name="secrets")
    description = models.CharField(max_length=500, blank=True)
    ciphertext = models.TextField(editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    #: When its value was set last, and when a driver was given it last.
    changed_at = models.DateTimeField(default=timezone.now)
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "name"],
                condition=models.Q(team__isnull=False),
                name="one_secret_of_a_name_in_a_team",
            ),
            models.UniqueConstraint(
                fields=["name"],
                condition=models.Q(team__isnull=True),
                name="one_secret_of_a_name_in_the_cluster",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.team}" if self.team else self.name
