"""A TaskManager's heartbeats while its supervisor is at something that takes long."""

from __future__ import annotations

import copy
import os
import threading

import structlog
from django import db
from django.conf import settings

from jobs import taskmanagers
from jobs.models import TaskManager
from workers.supervisor import Supervisor

log = structlog.get_logger(__name__)

#: A supervisor that stands still for longer can do nothing for its jobs: they are given to others.
STUCK_SECONDS = 300.0


class StandIn:
    """Beats in the supervisor's place, in a thread of its own, while that is in the middle of a
    tick: it fetches jars, or removes files on storage that is slow."""

    def __init__(self, taskmanager: TaskManager, supervisor: Supervisor) -> None:
        self._taskmanager = copy.copy(taskmanager)
        self._supervisor = supervisor
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """It beats no more afterwards."""
        self._stopped.set()
        self._thread.join(timeout)

    def beat(self) -> bool:
        """Whether it was its turn. Raises `taskmanagers.Replaced`."""
        late = self._supervisor.overdue
        if not settings.HEADRACE_HEARTBEAT_INTERVAL / 2 < late < STUCK_SECONDS:
            return False
        taskmanagers.beat(self._taskmanager)
        return True

    def _run(self) -> None:
        while not self._stopped.wait(settings.HEADRACE_HEARTBEAT_INTERVAL):
            try:
                self.beat()
            except taskmanagers.Replaced as error:
                log.error("replaced", error=str(error))
                os._exit(1)
            except Exception:
                log.exception("no heartbeat; trying again")
            db.close_old_connections()
        db.connections.close_all()
