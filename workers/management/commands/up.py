"""`manage.py up`: everything on this machine, until Ctrl-C."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from workers.embedded.jars import JarsMissing
from workers.embedded.kafka import KafkaFailed
from workers.embedded.redis import RedisFailed
from workers.up.machine import NotPossible
from workers.up.run import Up
from workers.up.terminal import Terminal


class Command(BaseCommand):
    help = "Start everything on this machine, run the example job, and watch over it until Ctrl-C."
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--no-example", action="store_true", help="no topics, replay, job")
        parser.add_argument("--speed", type=float, help="of the replay (see `manage.py replay`)")

    def handle(self, *args: Any, **options: Any) -> None:
        up = Up(Terminal(), options["speed"], with_example=not options["no_example"])
        try:
            up.run()
        except (NotPossible, JarsMissing, KafkaFailed, RedisFailed) as error:
            self.stderr.write(f"\nHeadrace cannot start: {error}")
            sys.exit(1)
