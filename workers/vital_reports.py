"""How a TaskManager fares, told now and then."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import structlog

from jobs import taskmanagers
from jobs.models import TaskManager
from workers.drivers import Driver
from workers.vitals import Gauge

log = structlog.get_logger(__name__)

#: However often it beats.
EVERY_SECONDS = 5.0


class VitalReports:
    """Of one incarnation, after its heartbeats."""

    def __init__(self, taskmanager: TaskManager, clock: Callable[[], float]) -> None:
        self._taskmanager = taskmanager
        self._clock = clock
        self._next = clock()
        self._gauge = Gauge()

    def report(self, drivers: Iterable[Driver]) -> None:
        """`drivers`: those that were looked after. Trouble is told, and is nobody else's."""
        if self._clock() < self._next:
            return
        self._next = self._clock() + EVERY_SECONDS
        try:
            pids = [pid for driver in drivers for pid in driver.processes()]
            figures = self._gauge.look(pids, self._taskmanager.memory_mib)
            taskmanagers.report(self._taskmanager, figures)
        except Exception:
            log.exception("vitals not reported")
