"""Alerts: what is watched, whom to tell, what was found, and each message about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import models
from django.utils import timezone

from jobs import masking, states
from jobs.models.job import Job
from jobs.states import AlertState, DeliveryState, State

SECRET_LENGTH = 16
#: Of a URL's path and query, beside letters and digits: what RFC 3986 allows there, and escapes.
_KEPT = "/?:@!$&'()*+,;=-._~%"


class AlertChannel(models.Model):
    """Where messages go. `secret` is never shown, nor is a URL's path, which often is one."""

    class Kind(models.TextChoices):
        WEBHOOK = "webhook", "Webhook"
        SLACK = "slack", "Slack-compatible webhook"
        EMAIL = "email", "E-mail"

    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=8, choices=Kind.choices)
    address = models.TextField(help_text="a URL, or e-mail addresses separated by commas")
    secret = models.CharField(
        max_length=200, blank=True, help_text="signs a webhook's messages (HMAC-SHA256)"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        if self.kind == self.Kind.EMAIL:
            if not self.recipients:
                raise ValidationError({"address": "name at least one e-mail address"})
            for recipient in self.recipients:
                validate_email(recipient)
        else:
            _check_url(self.address)
        if self.secret and self.kind != self.Kind.WEBHOOK:
            raise ValidationError({"secret": "only a webhook's messages are signed"})
        if self.secret and len(self.secret) < SECRET_LENGTH:
            raise ValidationError({"secret": f"give at least {SECRET_LENGTH} characters"})

    @property
    def recipients(self) -> list[str]:
        return [part.strip() for part in self.address.split(",") if part.strip()]

    @property
    def shown_address(self) -> str:
        if self.kind == self.Kind.EMAIL:
            return self.address
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.netloc}/{masking.MASK}"


def url_of(address: str) -> str:
    """A webhook's address as it is asked for: in ASCII. Raises ValueError for one that nothing can
    be sent to."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError("no URL of a web server")
    if "@" in parts.netloc or any(c.isspace() for c in address):
        raise ValueError("a name and password, and spaces, belong into no URL")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else _ascii(parts.hostname)
    netloc = host if parts.port is None else f"{host}:{parts.port}"
    path, query = (quote(part, safe=_KEPT) for part in (parts.path, parts.query))
    return urlunsplit((parts.scheme, netloc, path, query, ""))


def _ascii(host: str) -> str:
    """As DNS has it. Raises ValueError for empty labels and those of more than 63 characters."""
    return host.encode("idna").decode()


def _check_url(address: str) -> None:
    try:
        url_of(address)
    except ValueError:
        raise ValidationError({"address": "give an address like https://host/path"}) from None


class AlertRule(models.Model):
    """What is watched, of one job or (`job` empty) of all. What the numbers mean: `Kind`."""

    class Kind(models.TextChoices):
        FAILED = "failed", "The job has failed and is not restarted"
        RESTARTS = "restarts", "Failures within a time"
        CHECKPOINTS = "checkpoints", "Failed checkpoints in a row"
        LAG = "lag", "Records behind, for a time"
        SLOW = "slow", "Batches longer than the checkpoint interval, for a time"

    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=12, choices=Kind.choices)
    job = models.ForeignKey(
        Job, models.CASCADE, null=True, blank=True, help_text="empty: all jobs", related_name="+"
    )
    threshold = models.PositiveBigIntegerField(
        default=1, help_text="failures; records of lag; a batch's time in % of the interval"
    )
    seconds = models.PositiveIntegerField(
        default=0, help_text="lag, slow: how long it must last; restarts: within which time"
    )
    enabled = models.BooleanField(default=True)
    channels = models.ManyToManyField(AlertChannel, related_name="rules")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        if self.kind != self.Kind.LAG and self.threshold < 1:
            raise ValidationError({"threshold": "give at least 1"})
        if self.kind == self.Kind.RESTARTS and not 0 < self.seconds <= 86_400:
            raise ValidationError({"seconds": "failures are counted within 1 to 86400 seconds"})


class Alert(models.Model):
    """One time that a rule's condition held for a job: from `since` until it was over."""

    rule = models.ForeignKey(AlertRule, models.CASCADE, related_name="alerts")
    job = models.ForeignKey(Job, models.CASCADE, related_name="alerts")
    state = models.CharField(max_length=8, choices=AlertState.choices())
    since = models.DateTimeField()
    #: The condition has not held from here on; empty while it holds.
    clear_since = models.DateTimeField(null=True, blank=True)
    summary = models.CharField(max_length=500)
    fired_at = models.DateTimeField(null=True, blank=True)
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["rule", "job"],
                condition=models.Q(state__in=["pending", "firing"]),
                name="one_open_alert_per_rule_and_job",
            )
        ]
        indexes = [models.Index(fields=["state", "since"])]

    def __str__(self) -> str:
        return f"{self.rule}: {self.job}"

    @property
    def state_info(self) -> AlertState:
        return AlertState(self.state)

    def transitions(self) -> Mapping[State, frozenset[State]]:
        return states.ALERT_TRANSITIONS

    def entering(self, target: State) -> dict[str, Any]:
        now = timezone.now()
        return {"fired_at" if target is AlertState.FIRING else "resolved_at": now}

    def entered(self, seen: State) -> None:
        """One message to each channel of its rule; the constraint makes it one."""
        AlertDelivery.objects.bulk_create(
            [
                AlertDelivery(alert=self, channel=channel, about=self.state)
                for channel in self.rule.channels.all()
            ],
            ignore_conflicts=True,
        )


class AlertDelivery(models.Model):
    """A message to a channel, sent again with growing pauses until it was taken."""

    class About(models.TextChoices):
        FIRING = "firing", "Firing"
        RESOLVED = "resolved", "Resolved"
        TEST = "test", "Test"

    alert = models.ForeignKey(
        Alert, models.CASCADE, null=True, blank=True, related_name="deliveries"
    )
    channel = models.ForeignKey(AlertChannel, models.CASCADE, related_name="deliveries")
    about = models.CharField(max_length=8, choices=About.choices)
    state = models.CharField(
        max_length=8, choices=DeliveryState.choices(), default=DeliveryState.WAITING.value
    )
    attempts = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(default=timezone.now)
    error = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "alert deliveries"
        constraints = [
            models.UniqueConstraint(
                fields=["alert", "channel", "about"], name="one_message_per_alert_and_channel"
            )
        ]
        indexes = [models.Index(fields=["state", "due_at"])]

    def __str__(self) -> str:
        return f"{self.about} to {self.channel}"

    @property
    def state_info(self) -> DeliveryState:
        return DeliveryState(self.state)

    def transitions(self) -> Mapping[State, frozenset[State]]:
        return states.DELIVERY_TRANSITIONS

    def entering(self, target: State) -> dict[str, Any]:
        return {"ended_at": timezone.now()}

    def entered(self, seen: State) -> None:
        """Deliveries are their own history."""
