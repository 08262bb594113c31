"""Teams own jobs; memberships say what a person may do with them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from jobs.roles import Role


class Team(models.Model):
    """Its jobs are seen by its members and by admins only."""

    name = models.CharField(max_length=100, unique=True)
    description = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A person's role in a team; without a team, the one for the cluster and for its jobs that
    belong to no team."""

    class Source(models.TextChoices):
        HAND = "hand", "by hand"
        #: From the groups of the OpenID provider; made anew at each login.
        OIDC = "oidc", "the OpenID provider"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="headrace_memberships"
    )
    team = models.ForeignKey(
        Team, models.CASCADE, null=True, blank=True, related_name="memberships"
    )
    role = models.PositiveSmallIntegerField(choices=Role.choices, default=Role.VIEWER)
    source = models.CharField(max_length=4, choices=Source.choices, default=Source.HAND)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["team__name", "user__username"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "team", "source"],
                condition=models.Q(team__isnull=False),
                name="one_role_in_a_team",
            ),
            models.UniqueConstraint(
                fields=["user", "source"],
                condition=models.Q(team__isnull=True),
                name="one_role_in_the_cluster",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} {self.role_info.label} of {self.team or 'the cluster'}"

    @property
    def role_info(self) -> Role:
        return Role(self.role)
