"""Logins that worked, and those that did not."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class SignIn(models.Model):
    """A login in a browser; its session is there until it expires or is ended."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="headrace_sign_ins"
    )
    session_key = models.CharField(max_length=40, db_index=True, editable=False)
    address = models.CharField(max_length=45, blank=True)
    agent = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.user} from {self.address or '?'}"


class FailedLogins(models.Model):
    """Failures in a row of an account at an address, of an account ("" as the address), or of an
    address ("" as the account). See `jobs.throttling`."""

    username = models.CharField(max_length=150, blank=True)
    address = models.CharField(max_length=45, blank=True)
    failures = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(default=timezone.now, db_index=True)
    blocked_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-last_at"]
        verbose_name_plural = "failed logins"
        constraints = [
            models.UniqueConstraint(fields=["username", "address"], name="one_count_of_failures")
        ]

    def __str__(self) -> str:
        return f"{self.username or 'any account'} from {self.address or 'anywhere'}"


class OpenIdAccount(models.Model):
    """Which account a person of the OpenID provider has here."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="headrace_openid"
    )
    issuer = models.CharField(max_length=255)
    #: The provider's id of the person: names can be given to others, this cannot.
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = "OpenID account"
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="one_account_of_a_person")
        ]

    def __str__(self) -> str:
        return f"{self.user} at {self.issuer}"
