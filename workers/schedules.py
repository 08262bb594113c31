"""The leader's part in schedules: settles each time that has come."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta

import structlog

from jobs import actions, leases, schedules
from jobs.models import Schedule, ScheduledRun
from workers import due

log = structlog.get_logger(__name__)

_OUTCOMES = {
    due.Start: ScheduledRun.Outcome.STARTED,
    due.Skip: ScheduledRun.Outcome.SKIPPED,
    due.Miss: ScheduledRun.Outcome.MISSED,
}


def settle(now: datetime, guard: Callable[[], AbstractContextManager[None]]) -> None:
    """Called with each tick. Raises Deposed; other trouble stays that of one schedule."""
    for row in schedules.due(now):
        try:
            _settle(row, now, guard)
        except leases.Deposed:
            raise
        except Exception:
            log.exception("schedule not settled; trying again", schedule=row.pk)


def _settle(
    row: Schedule, now: datetime, guard: Callable[[], AbstractContextManager[None]]
) -> None:
    going = schedules.going(row)
    assert row.next_run_at is not None  # of what is due
    view = due.ScheduleView(
        schedules.timetable(row),
        row.next_run_at,
        timedelta(milliseconds=row.grace),
        going.pk if going is not None else "",
    )
    decision = due.decide(view, now)
    if decision is None:
        return
    outcome, why, job = _OUTCOMES[type(decision)], decision.why, None
    if outcome == ScheduledRun.Outcome.STARTED:
        try:
            job = schedules.next_job(row)
        except actions.InvalidJob as error:
            outcome, why = ScheduledRun.Outcome.REFUSED, str(error)
    # Looked at before: the transaction holds the lease, and file systems may hang.
    with guard():
        settled = schedules.settle(row, decision.at, decision.following, outcome, why, job)
    if settled:
        log.info("schedule", name=row.name, outcome=outcome, why=why)
