"""`manage.py prepare`: what has to be there once, before the processes of a cluster start."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from workers.embedded import jars
from workers.up import account, example


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
        call_command("migrate", verbosity=0, interactive=False)
        password = account.ensure(settings.HEADRACE_HOME)
        try:
            found = jars.resolve("spark", settings.HEADRACE_JARS)
        except jars.JarsMissing as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"database ready, {len(found)} jars in {settings.HEADRACE_JARS}")
        self.stdout.write(f"login {account.NAME}, password {password}")
        if options["example"]:
            example.ensure_topics()
            job, submitted = example.ensure_job()
            self.stdout.write(f"example job {job.name}: {example.how_it_is(job, submitted)}")
