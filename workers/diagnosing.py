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
    """One at a time, in a thread: a flame graph takes seconds."""

    def __init__(self, *, taskmanager: TaskManager | None = None, jobmanager: str = "") -> None:
        self._taskmanager = taskmanager
        self._jobmanager = jobmanager
        self._thread: threading.Thread | None = None

    def look(self) -> None:
        """Begin with the next, unless one is under way. Called with every tick."""
        if self._thread is not None and self._thread.is_alive():
            return
        row = diagnostics.take(taskmanager=self._taskmanager, jobmanager=self._jobmanager)
        if row is not None:
            self._thread = threading.Thread(
                target=_answer, args=(row,), name="diagnosis", daemon=True
            )
            self._thread.start()


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
