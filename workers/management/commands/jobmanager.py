"""`manage.py jobmanager`: run a JobManager; run two and the second one stands by."""

from __future__ import annotations

import signal
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from workers.jobmanager import JobManager


class Command(BaseCommand):
    help = "Run a JobManager: gives slots to jobs, restarts them, ends them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", help="how it is called in the history (host:pid)")

    def handle(self, *args: Any, **options: Any) -> None:
        jobmanager = JobManager(options["name"])
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: jobmanager.stop())
        jobmanager.run()
