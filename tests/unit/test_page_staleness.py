"""When a page says that what it shows is old."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from dashboard import staleness

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def overdue(
    *, running: float | None, last: float | None, interval: int = 1_000, took: int = 0
) -> staleness.Overdue | None:
    """Of a job that has run for so many seconds, its last checkpoint so many seconds ago."""
    return staleness.checkpoint(
        running_since=None if running is None else NOW - timedelta(seconds=running),
        last_completed=None if last is None else NOW - timedelta(seconds=last),
        interval=interval,
        last_duration=took,
        now=NOW,
    )


def test_a_job_that_does_not_run_owes_nothing() -> None:
    assert overdue(running=None, last=9_000) is None


def test_a_checkpoint_is_late_after_half_a_minute() -> None:
    assert overdue(running=600, last=29) is None
    assert overdue(running=600, last=31) == staleness.Overdue(NOW - timedelta(seconds=31), 1_000)


def test_a_slow_job_has_three_intervals_or_three_batches() -> None:
    assert overdue(running=900, last=170, interval=60_000) is None
    assert overdue(running=900, last=181, interval=60_000) is not None
    assert overdue(running=900, last=170, interval=1_000, took=60_000) is None


def test_a_restarted_job_is_given_its_time_anew() -> None:
    assert overdue(running=10, last=5_000) is None
    assert overdue(running=40, last=None) == staleness.Overdue(NOW - timedelta(seconds=40), 1_000)


def test_a_heartbeat_is_late_when_one_was_left_out() -> None:
    assert not staleness.heartbeat(NOW - timedelta(seconds=19), NOW, 10)
    assert staleness.heartbeat(NOW - timedelta(seconds=21), NOW, 10)
