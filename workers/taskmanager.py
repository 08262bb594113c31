"""A TaskManager: a Celery worker that consumes its own queue, with the supervisor as a bootstep.

The worker may be killed at any time: drivers run in sessions of their own, and the next worker of
the same name finds them by their run directories.
"""

from __future__ import annotations

import os
import socket
import threading
from dataclasses import dataclass
from typing import Any

import psutil
import structlog
from celery import bootsteps
from django.conf import settings
from django.db import close_old_connections, connections

from jobs import taskmanagers
from jobs.models import TaskManager
from jobs.states import TaskManagerState
from workers import storage
from workers.app import app
from workers.embedded.process import Identity
from workers.heartbeat import StandIn
from workers.supervisor import Supervisor
from workers.tasks import ANY_QUEUE, BELL

log = structlog.get_logger(__name__)

TICK_SECONDS = 0.5
STOP_SECONDS = 10.0
THREADS = 2


class NameTaken(Exception):
    """A TaskManager of this name is running already."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What this process registers."""

    name: str
    slots: int
    memory_mib: int
    #: A Spark cluster on which its jobs run; "" = in their drivers.
    spark_master: str = ""


def register(offer: Offer) -> TaskManager:
    """Register this process. Raises NameTaken while another of the same name lives."""
    check_name_free(offer.name)
    return taskmanagers.register(
        offer.name,
        socket.gethostname(),
        os.getpid(),
        offer.slots,
        offer.memory_mib,
        offer.spark_master,
        storage.identity(settings.HEADRACE_HOME),
    )


def check_name_free(name: str) -> None:
    """Raises NameTaken."""
    row = TaskManager.objects.filter(name=name, state=TaskManagerState.REGISTERED).first()
    if row is None or row.pid == os.getpid():
        return
    if row.host == socket.gethostname():
        started_before = _is_process_since(row.pid, row.started_at.timestamp())
        where = f"process {row.pid}"
    else:
        started_before = taskmanagers.silence(row) < settings.HEADRACE_HEARTBEAT_TIMEOUT
        where = f"host {row.host}"
    if started_before:
        raise NameTaken(
            f"TaskManager {name!r} runs already ({where}); stop it or choose another --name"
        )


def _is_process_since(pid: int, registered_at: float) -> bool:
    """Whether `pid` is the process that registered then, not a later one with its number."""
    try:
        identity = Identity.of(pid)
    except psutil.NoSuchProcess:
        return False
    return identity.process() is not None and identity.started_at <= registered_at


class SupervisorStep(bootsteps.StartStopStep):  # type: ignore[misc]
    """Runs the supervisor beside the consumer, whether Redis answers or not."""

    def __init__(self, worker: Any, offer: Offer, **_: Any) -> None:
        super().__init__(worker)
        self._offer = offer
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, worker: Any) -> None:
        self._thread = threading.Thread(target=self._run, name="supervisor", daemon=True)
        self._thread.start()

    def stop(self, worker: Any) -> None:
        self._stopped.set()
        BELL.rung.set()
        if self._thread is not None:
            self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        supervisor, row = self._registered()
        stand_in: StandIn | None = None
        if supervisor is not None and row is not None:
            stand_in = StandIn(row, supervisor)
            stand_in.start()
        while supervisor is not None and row is not None and not self._stopped.is_set():
            try:
                supervisor.tick()
            except taskmanagers.Replaced as error:
                log.error("replaced", error=str(error))
                os._exit(1)
            except Exception:
                log.exception("tick failed; trying again")
            close_old_connections()
            BELL.rung.wait(TICK_SECONDS)
            BELL.rung.clear()
        if stand_in is not None:
            stand_in.stop(STOP_SECONDS)
        if row is not None:
            taskmanagers.leave(row)
        connections.close_all()

    def _registered(self) -> tuple[Supervisor | None, TaskManager | None]:
        while not self._stopped.is_set():
            try:
                row = register(self._offer)
                log.info("registered", name=row.name, slots=row.slots)
                return Supervisor(row), row
            except Exception:
                log.exception("not registered; trying again")
                self._stopped.wait(TICK_SECONDS * 4)
        return None, None


def run(offer: Offer, log_level: str = "INFO") -> int:
    """Run until SIGTERM or SIGINT; the exit code."""
    app.steps["worker"].add(SupervisorStep)
    worker = app.Worker(
        hostname=f"{offer.name}@{socket.gethostname()}",
        offer=offer,
        queues=[taskmanagers.queue_of(offer.name), ANY_QUEUE],
        pool="threads",
        concurrency=THREADS,
        loglevel=log_level,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        quiet=True,
    )
    worker.start()
    return int(worker.exitcode or 0)
