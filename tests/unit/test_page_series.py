"""Charts' columns from checkpoints: rates, gaps, buckets, bounds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from dashboard import series

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def row(seconds: float, **values: Any) -> dict[str, Any]:
    return {
        "checkpoint_id": int(seconds),
        "completed_at": START + timedelta(seconds=seconds),
        "duration": 400,
        "state_size": 1_000,
        "records_in": 100,
        "records_out": {"a": 3, "b": 2},
        "lag": {"t": {"0": 7, "1": 5}},
        "latency": {"p50": 10.0, "p99": 90.0},
        **values,
    }


def columns(
    rows: list[dict[str, Any]], interval: int = 1_000, bucket: int = 1_000
) -> series.Series:
    return series.series(series.samples(rows, interval), bucket, START)


def test_a_rate_is_records_over_the_time_since_the_checkpoint_before() -> None:
    found = columns([row(1), row(3), row(4)])
    assert found.records_in == [100, 50, 100]
    assert found.records_out == [5, 2.5, 5]
    assert found.lag == [12, 12, 12]


def test_batches_that_follow_at_once_make_no_spike() -> None:
    assert columns([row(1), row(1.9, duration=1_000)], bucket=100).records_in == [100, 100]


def test_where_nothing_came_in_the_rate_is_nil_and_latency_is_unknown() -> None:
    found = columns([row(1), row(2), row(60)])
    assert found.records_in == [100, 100, 0, 0, 100]
    assert found.p99 == [90, 90, None, None, 90]
    assert found.t[2] - found.t[1] <= 2
    assert found.t[4] - found.t[3] <= 2


def test_buckets_hold_mean_rates_worst_latencies_and_last_levels() -> None:
    rows = [
        row(1, latency={"p50": 5.0, "p99": 500.0}, lag={"t": {"0": 1}}),
        row(2, records_in=300, lag={"t": {"0": 2}}),
        row(11),
    ]
    found = columns(rows, interval=1_000, bucket=10_000)
    assert found.t == [START.timestamp() + 10, START.timestamp() + 20]
    assert found.records_in[0] == 200
    assert (found.p50[0], found.p99[0], found.lag[0]) == (10, 500, 2)


def test_a_day_of_checkpoints_is_a_bounded_number_of_points() -> None:
    for seconds in series.RANGES.values():
        rows = [row(at) for at in range(0, seconds, max(1, seconds // 5_000))]
        found = columns(rows, bucket=series.width(seconds))
        assert len(found.t) <= series.POINTS + 1
        assert {len(column) for column in vars(found).values()} == {len(found.t)}


def test_what_came_before_the_range_is_left_out() -> None:
    rows = [row(-5), row(1)]
    assert columns(rows).t == [START.timestamp() + 2]


def test_a_checkpoint_that_says_nothing_of_lag_or_latency() -> None:
    found = columns([row(1, lag={}, latency={}, records_out={})])
    assert (found.lag, found.p50, found.records_out) == ([None], [None], [0])
