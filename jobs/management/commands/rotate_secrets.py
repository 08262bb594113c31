"""`manage.py rotate_secrets`: encrypt the secrets of jobs with the first of the keys."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from jobs import audit, job_secrets


class Command(BaseCommand):
    help = (
        "Encrypt the secrets of jobs with the first of HEADRACE_SECRETS_KEYS. Put a new key before "
        "the old one, restart all processes, run this, then take the old one out."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            done = job_secrets.rotate()
        except job_secrets.Unreadable as error:
            raise CommandError(f"{error}. Nothing was changed.") from error
        audit.record(None, "secret.rotate", f"{done} secrets")
        self.stdout.write(f"{done} secrets are encrypted with the first key")
