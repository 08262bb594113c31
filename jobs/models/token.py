"""Tokens by which programs log in."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from jobs.models.team import Team
from jobs.roles import Role


class ApiToken(models.Model):
    """A token of a person: it may at most what its owner may. The token itself is not kept, only
    its SHA-256, by which it is found."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="headrace_tokens"
    )
    name = models.CharField(max_length=100)
    #: How it begins, to tell tokens apart.
    prefix = models.CharField(max_length=12)
    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    #: It may no more than this role.
    role = models.PositiveSmallIntegerField(choices=Role.choices, default=Role.ADMIN)
    #: It sees this team's jobs only.
    team = models.ForeignKey(Team, models.CASCADE, null=True, blank=True, related_name="tokens")
    created_at = models.DateTimeField(default=timezone.now)
    #: None: it does not expire.
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    last_used_from = models.CharField(max_length=45, blank=True)

    class Meta:
        ordering = ["-created_at"]
        verbose_name = "API token"

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()
