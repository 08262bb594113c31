"""Carries wishes about savepoints from the tables to drivers and directories."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import structlog

from headrace.wire import commands, savepoint
from jobs import savepoints
from jobs.models import Attempt, Savepoint, TaskManager
from jobs.states import AttemptState, SavepointState

log = structlog.get_logger(__name__)


def carry(taskmanager: TaskManager) -> None:
    """Everything that is to be done for savepoints on this TaskManager. Killed in between, the
    next call does the same again: drivers know a savepoint by its id."""
    for row in savepoints.waiting():
        try:
            if row.state == SavepointState.DISPOSING:
                _remove(row, taskmanager)
            elif _is_here(row, taskmanager):
                _ask(row)
        except Exception:
            # The trouble of one (a full disk, a broken run directory) stays its own.
            log.exception("savepoint not seen to", path=row.path)


def give_up_unreached(now: datetime, guard: Callable[[], AbstractContextManager[None]]) -> None:
    """The leader's part: a removal that no TaskManager can do does not wait for ever."""
    for row in savepoints.unreached(now):
        with guard():
            savepoints.give_up_disposal(row)


def clear_up(attempt: Attempt) -> None:
    """No process of it is left: remove what it has left of savepoints that it was making."""
    for row in Savepoint.objects.filter(attempt=attempt, state=SavepointState.FAILED):
        left = savepoint.partial(Path(row.path).parent, attempt.job_id, row.pk)
        if left.exists():
            log.info("unfinished savepoint removed", path=str(left))
            shutil.rmtree(left, ignore_errors=True)


def _is_here(row: Savepoint, taskmanager: TaskManager) -> bool:
    attempt = row.attempt
    return (
        attempt is not None
        and attempt.taskmanager_id == taskmanager.pk
        and attempt.is_on(taskmanager)
        and attempt.state == AttemptState.RUNNING
    )


def _ask(row: Savepoint) -> None:
    """Have the driver make it."""
    assert row.attempt is not None
    wish = asdict(savepoints.wish(row))
    command = commands.Command(f"savepoint-{row.pk}", "savepoint", wish)
    commands.send(Path(row.attempt.run_dir), command)
    savepoints.sent(row)


def _remove(row: Savepoint, taskmanager: TaskManager) -> None:
    """If it is here. When it is not, it is for one that reaches it, or gone if this one made it."""
    mine = row.attempt is not None and row.attempt.taskmanager_id == taskmanager.pk
    try:
        if savepoint.dispose(Path(row.path), row.pk) or mine:
            left = savepoint.left_beside(Path(row.path))
            savepoints.disposed(row, left)
            log.info("savepoint removed", path=row.path, left=left)
    except (savepoint.BadSavepoint, OSError) as error:
        if mine or isinstance(error, savepoint.BadSavepoint):
            log.warning("savepoint not removed", path=row.path, error=str(error))
            savepoints.kept(row, str(error))
