"""Who has changed what, when, and from where."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class AuditEntry(models.Model):
    """One change that a person or a program asked for. Entries are written and never changed; they
    keep names, so that they say the same when what they name is gone."""

    class Via(models.TextChoices):
        PAGE = "page", "page"
        API = "api", "API"
        FLINK = "flink", "Flink's API"
        CONSOLE = "console", "admin console"
        COMMAND = "command", "command line"
        LOGIN = "login", "login"

    class Result(models.TextChoices):
        OK = "ok", "done"
        #: The account may not do this.
        REFUSED = "refused", "refused"
        #: It may, and it did not work: the state or the request was wrong.
        FAILED = "failed", "failed"

    at = models.DateTimeField(default=timezone.now, db_index=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    username = models.CharField(max_length=150, db_index=True)
    #: "job.cancel", "token.create"
    action = models.CharField(max_length=80, db_index=True)
    #: Of what kind it is, its id, and how people call it.
    target_kind = models.CharField(max_length=40, blank=True)
    target_id = models.CharField(max_length=255, blank=True, db_index=True)
    target_name = models.CharField(max_length=255, blank=True)
    #: More about it, no secrets.
    detail = models.JSONField(default=dict, blank=True)
    result = models.CharField(max_length=8, choices=Result.choices, default=Result.OK)
    via = models.CharField(max_length=8, choices=Via.choices)
    address = models.CharField(max_length=45, blank=True)
    agent = models.CharField(max_length=200, blank=True)
    #: How the token begins that was used, and its name.
    token = models.CharField(max_length=120, blank=True)

    class Meta:
        ordering = ["-at", "-id"]
        verbose_name_plural = "audit log"

    def __str__(self) -> str:
        return f"{self.username}: {self.action} {self.target_name or self.target_id}"
