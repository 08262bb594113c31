"""When an alert begins, fires and is over. No I/O: rules, figures and the clock are passed in.

A figure has two levels, so that one that swings around the threshold is one alert and not many:
it is over beyond the threshold, clear well below it, and in between an alert stays what it is.
An alert is over when its figure has been clear for a while; one that was never told just goes.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import assert_never

from jobs.models import AlertRule
from jobs.states import AlertState, JobState

Kind = AlertRule.Kind

#: A measured figure is clear at this part of its threshold.
CLEAR_PART = 0.8
#: An alert is over when its figure was clear for this long, or for the rule's own time.
QUIET = timedelta(seconds=60)
#: A running job that reported nothing for this long is within a batch as long as that.
SILENCE = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Figures:
    """What the rows say about one job."""

    state: JobState
    #: Records behind, as last reported.
    lag: int | None = None
    #: Milliseconds: between checkpoints as asked for, and what the last batch took.
    interval: int = 0
    duration: int | None = None
    #: When the driver last reported anything, and when it last completed a checkpoint.
    progressed_at: datetime | None = None
    completed_at: datetime | None = None
    #: Failed checkpoints since the last completed one, and {seconds: failures within them}.
    failures_in_a_row: int = 0
    failures_within: dict[int, int] | None = None
    #: One line of the last failure.
    error: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    kind: str
    threshold: int = 1
    seconds: int = 0

    @property
    def lasts(self) -> timedelta:
        """How long its figure must be over before it fires."""
        measured = self.kind in (Kind.LAG, Kind.SLOW)
        return timedelta(seconds=self.seconds if measured else 0)

    @property
    def quiet(self) -> timedelta:
        return max(QUIET, self.lasts)


@dataclass(frozen=True, slots=True)
class Open:
    """An alert that is pending or firing."""

    state: AlertState
    since: datetime
    clear_since: datetime | None = None


class Level(enum.Enum):
    OVER = "over"
    #: Not over the threshold, not well below it.
    BETWEEN = "between"
    CLEAR = "clear"
    #: Nothing is known now, as of a job that is being started.
    UNKNOWN = "unknown"
    #: The rule was switched off, or is about other jobs now.
    NOT_WATCHED = "not watched"


@dataclass(frozen=True, slots=True)
class Reading:
    """A rule's figure for a job now; the summary when it is over."""

    level: Level
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Begin:
    """Open an alert, `firing` at once or pending."""

    firing: bool


@dataclass(frozen=True, slots=True)
class Fire:
    """It was over for long enough: tell."""


@dataclass(frozen=True, slots=True)
class Drop:
    """It is not over any more, before anybody was told."""


@dataclass(frozen=True, slots=True)
class Note:
    """Keep since when a firing alert's figure is clear; None when it is not."""

    clear_since: datetime | None


@dataclass(frozen=True, slots=True)
class Resolve:
    """It was clear for long enough: tell."""


Step = Begin | Fire | Drop | Note | Resolve


def next_step(rule: Rule, reading: Reading, alert: Open | None, now: datetime) -> Step | None:
    """What becomes of a rule's alert about one job; None when nothing does."""
    if alert is None:
        return Begin(firing=not rule.lasts) if reading.level is Level.OVER else None
    match alert.state:
        case AlertState.PENDING:
            return _while_pending(rule, reading, alert, now)
        case AlertState.FIRING:
            return _while_firing(rule, reading, alert, now)
        case AlertState.RESOLVED:
            raise ValueError("a resolved alert is not open")
        case _:
            assert_never(alert.state)


def _while_pending(rule: Rule, reading: Reading, alert: Open, now: datetime) -> Step | None:
    if reading.level is Level.OVER:
        return Fire() if now - alert.since >= rule.lasts else None
    return None if reading.level is Level.UNKNOWN else Drop()


def _while_firing(rule: Rule, reading: Reading, alert: Open, now: datetime) -> Step | None:
    if reading.level is Level.NOT_WATCHED:
        return Resolve()
    if reading.level is not Level.CLEAR:
        return Note(None) if alert.clear_since is not None else None
    if alert.clear_since is None:
        return Note(now)
    return Resolve() if now - alert.clear_since >= rule.quiet else None


def read(rule: Rule, job: Figures, now: datetime) -> Reading:
    """The rule's figure for this job."""
    match Kind(rule.kind):
        case Kind.FAILED:
            return _failed(job)
        case Kind.RESTARTS:
            count = (job.failures_within or {}).get(rule.seconds, 0)
            return _count(rule, count, f"{count} failures within {rule.seconds} s", job)
        case Kind.CHECKPOINTS:
            count = job.failures_in_a_row
            return _count(rule, count, f"{count} failed checkpoints in a row", job)
        case Kind.LAG:
            words = f"{job.lag} records behind, more than {rule.threshold}"
            return _measure(rule, job.lag, words, job)
        case Kind.SLOW:
            percent = _percent_of_interval(job, now)
            words = f"a batch takes {percent} % of the checkpoint interval of {job.interval} ms"
            return _measure(rule, percent, words, job)
        case _:
            assert_never(rule.kind)


def _failed(job: Figures) -> Reading:
    if job.state is JobState.FAILED:
        return Reading(Level.OVER, f"the job has failed: {job.error or 'no reason given'}")
    # While it starts again it may well fail again: clear once it runs or was ended by hand.
    settled = job.state is JobState.RUNNING or job.state.is_terminal
    return Reading(Level.CLEAR if settled else Level.UNKNOWN)


def _count(rule: Rule, count: int, words: str, job: Figures) -> Reading:
    if count >= rule.threshold:
        last = f"; the last: {job.error}" if job.error else ""
        return Reading(Level.OVER, words + last)
    return Reading(Level.CLEAR)


def _measure(rule: Rule, value: int | None, words: str, job: Figures) -> Reading:
    """Of a job that does not run nothing is known, until it is not to run."""
    if job.state.is_terminal:
        return Reading(Level.CLEAR)
    if value is None or job.state is not JobState.RUNNING:
        return Reading(Level.UNKNOWN)
    if value > rule.threshold:
        return Reading(Level.OVER, words)
    return Reading(Level.CLEAR if value <= rule.threshold * CLEAR_PART else Level.BETWEEN)


def _percent_of_interval(job: Figures, now: datetime) -> int | None:
    """None when batches follow each other without an interval, or none was made yet."""
    if not job.interval or job.progressed_at is None:
        return None
    silent = now - job.progressed_at
    took = timedelta(milliseconds=job.duration or 0)
    if job.completed_at is None or job.progressed_at > job.completed_at:
        took = timedelta()  # idle since its last batch
    longest = max(took, silent) if silent > SILENCE else took
    return round(longest / timedelta(milliseconds=job.interval) * 100)
