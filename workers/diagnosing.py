"""Answers what people ask of running processes, beside the loop that looks after them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import structlog
from django.db import connections

from jobs import diagnostics
from jobs.models import Diagnosis, TaskManager
from workers import drivers, sampling
from workers.embedded.process import Identity

log = structlog.get_logger(__name__)


class Diagnosing:
    """In threads, as a flame graph takes seconds: one at a time of drivers, and beside it one of
    this process itself."""

    def __init__(self, *, taskmanager: TaskManager | None = None, jobmanager: str = "") -> None:
        self._taskmanager = taskmanager
        self._jobmanager = jobmanager
        #: By whether they look at this process.
        self._threads: dict[bool, threading.Thread] = {}

    def look(self) -> None:
        """Begin with what is asked for, unless such a thing is under way. Called with every
        tick."""
        for own in (True, False):
            thread = self._threads.get(own)
            if thread is None or not thread.is_alive():
                self._begin(own)

    def _begin(self, own: bool) -> None:
        row = diagnostics.take(taskmanager=self._taskmanager, jobmanager=self._jobmanager, own=own)
        if row is not None:
            self._threads[own] = threading.Thread(
                target=_answer, args=(row,), name="diagnosis", daemon=True
            )
            self._threads[own].start()


def _answer(row: Diagnosis) -> None:
    try:
        diagnostics.answer(row, _found(row))
    except sampling.CannotLook as error:
        diagnostics.fail(row, str(error))
    except Exception as error:
        log.exception("diagnosis failed", diagnosis=row.pk)
        diagnostics.fail(row, f"it failed: {error}")
    finally:
        connections.close_all()  # of this thread, which ends


def _found(row: Diagnosis) -> dict[str, Any]:
    if row.attempt is None:
        return {"threads": sampling.own_threads()}
    pids = _processes(row)
    if row.kind == Diagnosis.Kind.THREADS:
        return {"threads": sampling.threads(pids)}
    return sampling.flame_graph(pids, diagnostics.SECONDS)


def _processes(row: Diagnosis) -> list[int]:
    """The driver and its Python workers, as far as they run on this machine. Raises CannotLook."""
    attempt = row.attempt
    assert attempt is not None
    known = None
    if attempt.pid is not None and attempt.process_started_at is not None:
        known = Identity(attempt.pid, attempt.process_started_at)
    driver = drivers.Driver(Path(attempt.run_dir), known)
    if not driver.is_alive() or driver.identity is None:
        raise sampling.CannotLook("the driver has ended meanwhile")
    return sampling.python_processes(driver.identity.pid, driver.processes())
