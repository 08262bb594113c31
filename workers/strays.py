"""Drivers that run on though their attempt was ended without them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import structlog
from django.utils import timezone

from jobs.models import Attempt, TaskManager
from workers import drivers, savepoint_commands

log = structlog.get_logger(__name__)

#: Without a trace of a process for so long, none is to come.
LOOKED_FOR = timedelta(days=7)


class Strays:
    """Those of one TaskManager. An attempt may be given up at any time, also while its TaskManager
    is about to launch its driver or to say that it is back: so they are looked for all the time."""

    def __init__(self, taskmanager: TaskManager) -> None:
        self._taskmanager = taskmanager
        #: Attempts of which no process is left.
        self._cleared: set[int] = set()

    def kill(self) -> None:
        given_up = Attempt.objects.filter(
            taskmanager=self._taskmanager, abandoned=True, ended_at__isnull=False
        )
        long_ago = timezone.now() - LOOKED_FOR
        for attempt in given_up.exclude(pk__in=self._cleared):
            assert attempt.ended_at is not None
            driver = drivers.Driver(Path(attempt.run_dir))
            if driver.remains():
                log.warning("killed: its attempt had been given up", attempt=str(attempt))
                driver.kill()
            elif driver.identity is not None or attempt.ended_at < long_ago:
                self._cleared.add(attempt.pk)
            savepoint_commands.clear_up(attempt)
