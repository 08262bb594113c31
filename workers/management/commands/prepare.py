"""`manage.py prepare`: what has to be there once, before the processes of a cluster start."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from workers.embedded import jars
from workers.up import account, example, servers
from workers.up.machine import NotPossible


class Command(BaseCommand):
    help = (
        "Bring the database up to date, make the admin account, fetch the connector's jars. "
        "For servers that are started one by one; `manage.py up` does it by itself."
    )
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--example", action="store_true", help="also the example's topics and job"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            servers.check()
            self._prepare(options["example"])
        except (NotPossible, jars.JarsMissing) as error:
            raise CommandError(str(error)) from error
        except Error as error:
            raise CommandError(str(servers.database_failed(error))) from error

    def _prepare(self, with_example: bool) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        password = account.ensure(settings.HEADRACE_HOME)
        found = jars.resolve("spark", settings.HEADRACE_JARS)
        self.stdout.write(f"database ready, {len(found)} jars in {settings.HEADRACE_JARS}")
        self.stdout.write(f"login {account.NAME}, password {password}")
        if with_example:
            example.ensure_topics()
            job, submitted = example.ensure_job()
            self.stdout.write(f"example job {job.name}: {example.how_it_is(job, submitted)}")
