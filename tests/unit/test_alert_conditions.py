"""When alerts begin, fire and are over: figures and the clock are given, nothing is waited for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs.states import AlertState, JobState
from workers.alerts import conditions
from workers.alerts.conditions import (
    Begin,
    Drop,
    Figures,
    Fire,
    Kind,
    Level,
    Note,
    Open,
    Reading,
    Resolve,
    Rule,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LAG = Rule(Kind.LAG, threshold=1000, seconds=120)
FAILED = Rule(Kind.FAILED)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def level(rule: Rule, **figures: Any) -> Level:
    values = {"state": JobState.RUNNING, **figures}
    return conditions.read(rule, Figures(**values), NOW).level


def pending(since: float) -> Open:
    return Open(AlertState.PENDING, ago(since))


def firing(clear_since: float | None = None) -> Open:
    clear = None if clear_since is None else ago(clear_since)
    return Open(AlertState.FIRING, ago(1000), clear)


def step(rule: Rule, at: Level, alert: Open | None = None) -> conditions.Step | None:
    return conditions.next_step(rule, Reading(at, "words"), alert, NOW)


@pytest.mark.parametrize(
    ("lag", "expected"),
    [
        (0, Level.CLEAR),
        (800, Level.CLEAR),
        (801, Level.BETWEEN),
        (1000, Level.BETWEEN),
        (1001, Level.OVER),
        (None, Level.UNKNOWN),
    ],
)
def test_lag_has_two_levels(lag: int | None, expected: Level) -> None:
    assert level(LAG, lag=lag) is expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (JobState.RESTARTING, Level.UNKNOWN),
        (JobState.CREATED, Level.UNKNOWN),
        (JobState.RECONCILING, Level.UNKNOWN),
        (JobState.SUSPENDED, Level.CLEAR),
        (JobState.CANCELED, Level.CLEAR),
        (JobState.FAILED, Level.CLEAR),
    ],
)
def test_a_job_that_does_not_run_has_no_lag(state: JobState, expected: Level) -> None:
    assert level(LAG, state=state, lag=5000) is expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (JobState.FAILED, Level.OVER),
        (JobState.FAILING, Level.UNKNOWN),
        (JobState.CREATED, Level.UNKNOWN),
        (JobState.RUNNING, Level.CLEAR),
        (JobState.CANCELED, Level.CLEAR),
    ],
)
def test_failed_until_it_runs_again(state: JobState, expected: Level) -> None:
    assert level(FAILED, state=state) is expected


def test_failures_are_counted_within_the_rules_time() -> None:
    rule = Rule(Kind.RESTARTS, threshold=3, seconds=600)

    assert level(rule, failures_within={600: 2, 60: 9}) is Level.CLEAR
    assert level(rule, failures_within={600: 3}) is Level.OVER
    found = Figures(JobState.RESTARTING, failures_within={600: 4}, error="KeyError: 'x'")
    said = "4 failures within 600 s; the last: KeyError: 'x'"
    assert conditions.read(rule, found, NOW).summary == said


def test_failures_in_a_row_end_with_a_checkpoint() -> None:
    rule = Rule(Kind.CHECKPOINTS, threshold=2)

    assert level(rule, failures_in_a_row=2, state=JobState.RESTARTING) is Level.OVER
    assert level(rule, failures_in_a_row=1) is Level.CLEAR


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        ({"duration": 2100, "progressed_at": ago(1), "completed_at": ago(1)}, Level.OVER),
        ({"duration": 1900, "progressed_at": ago(1), "completed_at": ago(1)}, Level.BETWEEN),
        ({"duration": 900, "progressed_at": ago(1), "completed_at": ago(1)}, Level.CLEAR),
        # idle since a long batch
        ({"duration": 9000, "progressed_at": ago(1), "completed_at": ago(60)}, Level.CLEAR),
        # nothing said for a minute: it is within a batch
        ({"duration": 10, "progressed_at": ago(60), "completed_at": ago(60)}, Level.OVER),
        ({"duration": 2100, "interval": 0, "progressed_at": ago(1)}, Level.UNKNOWN),
        ({}, Level.UNKNOWN),
    ],
)
def test_batches_against_their_interval(figures: dict[str, Any], expected: Level) -> None:
    rule = Rule(Kind.SLOW, threshold=200, seconds=60)

    assert level(rule, **{"interval": 1000, **figures}) is expected


def test_what_must_last_is_pending_first() -> None:
    assert step(LAG, Level.OVER) == Begin(firing=False)
    assert step(LAG, Level.OVER, pending(119)) is None
    assert step(LAG, Level.OVER, pending(120)) == Fire()
    assert step(FAILED, Level.OVER) == Begin(firing=True)


@pytest.mark.parametrize("at", [Level.BETWEEN, Level.CLEAR, Level.NOT_WATCHED])
def test_what_does_not_last_is_told_to_nobody(at: Level) -> None:
    assert step(LAG, at, pending(60)) == Drop()
    assert step(LAG, at) is None


def test_a_restart_neither_ends_nor_begins_an_alert() -> None:
    assert step(LAG, Level.UNKNOWN) is None
    assert step(LAG, Level.UNKNOWN, pending(500)) is None
    assert step(LAG, Level.UNKNOWN, firing()) is None


def test_an_alert_is_over_when_it_was_clear_for_long_enough() -> None:
    assert step(LAG, Level.CLEAR, firing()) == Note(NOW)
    assert step(LAG, Level.CLEAR, firing(clear_since=119)) is None
    assert step(LAG, Level.CLEAR, firing(clear_since=120)) == Resolve()
    assert step(FAILED, Level.CLEAR, firing(clear_since=60)) == Resolve()


@pytest.mark.parametrize("at", [Level.OVER, Level.BETWEEN, Level.UNKNOWN])
def test_a_swinging_figure_stays_one_alert(at: Level) -> None:
    assert step(LAG, at, firing(clear_since=100)) == Note(None)
    assert step(LAG, at, firing()) is None


def test_nobody_waits_for_a_rule_that_is_off() -> None:
    assert step(LAG, Level.NOT_WATCHED, firing()) == Resolve()
