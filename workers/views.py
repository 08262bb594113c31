"""Rows of the tables as `workers.decisions` sees them."""

from __future__ import annotations

from datetime import datetime

from headrace.wire.failures import Cause
from jobs import savepoints
from jobs.models import Attempt, Job, Upgrade
from jobs.states import AttemptState, JobState, TaskManagerState, Wanted
from workers import allocation, decisions, restarts, upgrading


def of(
    job: Job,
    attempt: Attempt | None,
    now: datetime,
    *,
    to_leave: bool = False,
    has_room: bool = False,
    unsaved: bool = False,
    upgrading: bool = False,
) -> decisions.JobView:
    """The rows as the decision sees them. `to_leave`: it holds a slot of a TaskManager that is
    drained; `has_room`: it holds all its slots where it may stay; `unsaved`: the savepoint to leave
    with could not be made; `upgrading`: it is on its way to another version or to other slots."""
    return decisions.JobView(
        state=JobState(job.state),
        wanted=Wanted(job.wanted),
        attempt=None if attempt is None else _attempt_view(attempt, now),
        restart_of=job.restart_of,
        restart_due=job.restart_at is None or job.restart_at <= now,
        strategy=job.strategy,
        history=restarts.History(
            job.restarts_in_a_row,
            tuple(job.failure_times),
            milliseconds(job.restart_at) if job.restart_at is not None else None,
        ),
        seed=job.pk,
        movable=allocation.movable(job),
        to_leave=to_leave,
        has_room=has_room,
        unsaved=unsaved,
        upgrading=upgrading,
    )


def of_upgrade(upgrade: Upgrade, job: Job, now: datetime) -> upgrading.UpgradeView:
    row = upgrade.savepoint
    return upgrading.UpgradeView(
        state=upgrade.state_info,
        savepoint=row.state_info,
        savepoint_failure=row.failure,
        progressed=job.progressed_at is not None,
        overdue=upgrade.deadline is not None and upgrade.deadline <= now,
    )


def milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000)


def _attempt_view(attempt: Attempt, now: datetime) -> decisions.AttemptView:
    taskmanager = attempt.taskmanager
    left_behind = taskmanager is not None and not attempt.is_on(taskmanager)
    state = None if taskmanager is None or left_behind else taskmanager.state
    return decisions.AttemptView(
        number=attempt.number,
        state=AttemptState(attempt.state),
        command=attempt.command,
        final=_final(attempt),
        cause=attempt.cause,
        error=attempt.error,
        ended_with=savepoints.ended_with(attempt),
        abandoned=attempt.abandoned,
        ended_at=milliseconds(attempt.ended_at or now),
        out_of_reach=state != TaskManagerState.REGISTERED,
        lost=state in (None, TaskManagerState.LOST),
        left_behind_on=attempt.host if left_behind else "",
    )


def _final(attempt: Attempt) -> str | None:
    """Why no attempt may follow this one's failure; None when one may."""
    if attempt.restartable:
        return None
    return Cause.of(attempt.cause, restartable=False).final
