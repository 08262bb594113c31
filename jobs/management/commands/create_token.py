"""`manage.py create_token USER`: an API token for a program, made on the machine itself."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from jobs import audit, tokens
from jobs.options import InvalidOption
from jobs.roles import Role


class Command(BaseCommand):
    help = "Make an API token and print it: the only time that anybody sees it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user")
        parser.add_argument("--name", default="made on the machine")
        roles = [role.name.lower() for role in Role]
        parser.add_argument("--role", choices=roles, default="admin", help="no more than this")
        parser.add_argument("--days", type=int, help="it expires after so many days")

    def handle(self, *args: Any, **options: Any) -> None:
        owner = User.objects.filter(username=options["user"], is_active=True).first()
        if owner is None:
            raise CommandError(f"there is no active account {options['user']!r}")
        days = options["days"]
        expires = None if days is None else timezone.now() + timedelta(days=days)
        try:
            row, key = tokens.create(
                owner, options["name"], role=Role.named(options["role"]), expires_at=expires
            )
        except InvalidOption as error:
            raise CommandError(f"{error}. No token was made.") from error
        audit.record(None, "token.create", f"{row.name} of {owner.username}")
        self.stdout.write(key)
