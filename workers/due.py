"""What becomes of a schedule's time that has come. No I/O, no clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.timetables import Timetable

#: Nobody says that a job started late within this: a tick, and a JobManager that took over.
PUNCTUAL = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class ScheduleView:
    timetable: Timetable
    next_run_at: datetime
    grace: timedelta
    #: Its job that has not ended, if any.
    going: str = ""


@dataclass(frozen=True, slots=True)
class Start:
    """Submit the job, late or not, for the time `at`."""

    at: datetime
    following: datetime | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Skip:
    """The job before still goes on: no second one beside it."""

    at: datetime
    following: datetime | None
    why: str


@dataclass(frozen=True, slots=True)
class Miss:
    """Nobody was there, and now it is too late."""

    at: datetime
    following: datetime | None
    why: str


def decide(schedule: ScheduleView, now: datetime) -> Start | Skip | Miss | None:
    """None before its time. Of several times that have passed, only the newest counts: a job that
    reads what is there reads it once."""
    if now < schedule.next_run_at:
        return None
    at = schedule.timetable.newest(schedule.next_run_at, now)
    following = schedule.timetable.after(now)
    late = now - at
    if late > schedule.grace and late > PUNCTUAL:
        return Miss(
            at,
            following,
            f"no JobManager was there, and {_words(late)} late is more than its grace, "
            f"{_words(schedule.grace)}",
        )
    if schedule.going:
        return Skip(at, following, f"its job {schedule.going} has not ended")
    why = f"{_words(late)} late: no JobManager was there" if late > PUNCTUAL else ""
    if at > schedule.next_run_at:
        earlier = f"times since {schedule.next_run_at:%Y-%m-%d %H:%M:%S} UTC were passed over"
        why = f"{why}; {earlier}" if why else earlier
    return Start(at, following, why)


def _words(span: timedelta) -> str:
    return str(timedelta(seconds=round(span.total_seconds())))
