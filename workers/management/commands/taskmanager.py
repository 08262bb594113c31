"""`manage.py taskmanager --name NAME --slots N`: offer slots and run the drivers in them."""

from __future__ import annotations

import re
import socket
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from jobs import placement
from jobs.options import InvalidOption
from workers import memory, taskmanager


class Command(BaseCommand):
    help = "Run a TaskManager: launches and watches the drivers of jobs in its slots."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", default=socket.gethostname(), help="unique (host name)")
        parser.add_argument("--slots", type=int, default=settings.HEADRACE_SLOTS)
        parser.add_argument(
            "--memory-mib",
            type=int,
            default=settings.HEADRACE_TASKMANAGER_MEMORY_MIB,
            help="memory for drivers; a slot is 1/n of it (a share of the machine's)",
        )
        parser.add_argument(
            "--spark-master",
            default=settings.SPARK_MASTER,
            help="run jobs on this Spark cluster: spark://host:port, yarn, k8s://url "
            "(in their drivers)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        slots = options["slots"]
        memory_mib = options["memory_mib"] or memory.managed_mib(slots)
        try:
            master = placement.check_master(options["spark_master"])
        except InvalidOption as error:
            raise CommandError(str(error)) from error
        offer = taskmanager.Offer(options["name"], slots, memory_mib, master)
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", offer.name):
            raise CommandError(f"--name {offer.name!r}: use letters, digits, '.', '_' and '-'")
        if offer.slots < 1 or offer.memory_mib < offer.slots:
            raise CommandError("--slots has to be at least 1, and --memory-mib at least that")
        try:
            taskmanager.check_name_free(offer.name)
        except taskmanager.NameTaken as error:
            raise CommandError(str(error)) from error
        sys.exit(taskmanager.run(offer))
