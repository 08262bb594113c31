"""When what the page shows is older than it should be. Pure: the clock is passed in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

#: A checkpoint is late when it is this many intervals, and at least LEAST, overdue.
INTERVALS = 3
LEAST = timedelta(seconds=30)
#: A TaskManager's heartbeat that is older than this many intervals is worth a word.
HEARTBEATS = 2


@dataclass(frozen=True, slots=True)
class Overdue:
    """Nothing new since `since`, where something was expected `every` milliseconds."""

    since: datetime
    every: int


def checkpoint(
    *,
    running_since: datetime | None,
    last_completed: datetime | None,
    interval: int,
    last_duration: int,
    now: datetime,
) -> Overdue | None:
    """Whether a running job's next checkpoint is overdue. `interval` and `last_duration` are
    milliseconds; None when the job does not run."""
    if running_since is None:
        return None
    every = max(interval, last_duration)
    since = max(running_since, last_completed or running_since)
    allowed = max(LEAST, timedelta(milliseconds=every) * INTERVALS)
    return Overdue(since, every) if now - since > allowed else None


def heartbeat(last: datetime, now: datetime, interval: float) -> bool:
    """Whether a heartbeat is missing; it is due every `interval` seconds."""
    return now - last > timedelta(seconds=interval) * HEARTBEATS
