"""The charts' points, from a job's checkpoints. Pure: rows in, columns out.

Each checkpoint is one sample; samples are merged into buckets of equal width, aligned to the
epoch, so that a chart has a bounded number of points whatever the range, and a later answer for
the same bucket replaces the earlier one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

#: Range on the page -> its length in seconds.
RANGES = {
    "15m": 900,
    "1h": 3_600,
    "6h": 21_600,
    "24h": 86_400,
    "7d": 604_800,
    "30d": 2_592_000,
    "1y": 31_536_000,
}
DEFAULT_RANGE = "15m"
#: Points a chart holds at most, give or take one at each end.
POINTS = 300
#: A job without a checkpoint for this many intervals (at least LEAST_GAP ms) was idle meanwhile.
GAP_INTERVALS = 4
LEAST_GAP = 15_000

#: Columns of a checkpoint that `samples` reads.
FIELDS = (
    "checkpoint_id",
    "completed_at",
    "duration",
    "state_size",
    "records_in",
    "records_out",
    "lag",
    "latency",
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One checkpoint. `span` is the time its records came in over; times are ms since 1970."""

    at: int
    span: int
    records_in: int
    records_out: int
    duration: int | None
    p50: float | None
    p99: float | None
    lag: int | None
    state_size: int | None


@dataclass
class Series:
    """Columns of equal length, ready for the charts. `t` is seconds since 1970."""

    t: list[float] = field(default_factory=list)
    records_in: list[float | None] = field(default_factory=list)
    records_out: list[float | None] = field(default_factory=list)
    duration: list[float | None] = field(default_factory=list)
    p50: list[float | None] = field(default_factory=list)
    p99: list[float | None] = field(default_factory=list)
    lag: list[float | None] = field(default_factory=list)
    state_size: list[float | None] = field(default_factory=list)


def total(partitions: Mapping[str, Mapping[str, int]]) -> int | None:
    """Records over all topics and partitions; None when nothing is said about any."""
    values = [count for topic in partitions.values() for count in topic.values()]
    return sum(values) if values else None


def samples(rows: Iterable[Mapping[str, Any]], interval: int) -> list[Sample]:
    """One sample per row of FIELDS, oldest first. `interval` is the checkpoint interval in ms.

    Where nothing was committed for long, a sample of zero records stands in the gap: the rate
    was nil, and a line drawn across would say otherwise."""
    found: list[Sample] = []
    previous: int | None = None
    for row in rows:
        at = _milliseconds(row["completed_at"])
        usual = max(interval, row["duration"], 1)
        span = usual if previous is None else max(at - previous, row["duration"], 1)
        if previous is not None and span > idle_after(interval, row):
            found.append(Sample(previous + usual, usual, 0, 0, None, None, None, None, None))
            found.append(Sample(at - usual, usual, 0, 0, None, None, None, None, None))
            span = usual
        found.append(_sample(row, at, span))
        previous = at
    return found


def idle_after(interval: int, row: Mapping[str, Any]) -> int:
    """Milliseconds without a checkpoint beside this one that mean nothing came in."""
    return max(GAP_INTERVALS * max(interval, int(row["duration"])), LEAST_GAP)


def _sample(row: Mapping[str, Any], at: int, span: int) -> Sample:
    latency = row["latency"] or {}
    return Sample(
        at=at,
        span=span,
        records_in=row["records_in"],
        records_out=sum((row["records_out"] or {}).values()),
        duration=row["duration"],
        p50=latency.get("p50"),
        p99=latency.get("p99"),
        lag=total(row["lag"] or {}),
        state_size=row["state_size"],
    )


def width(seconds: int) -> int:
    """Milliseconds of one bucket for a range of so many seconds."""
    return max(1_000, seconds * 1_000 // POINTS)


def series(of: Iterable[Sample], bucket: int, since: datetime) -> Series:
    """Samples (oldest first) merged into buckets of so many milliseconds, none from before."""
    result = Series()
    group: list[Sample] = []
    begin = _milliseconds(since)
    for sample in of:
        if sample.at < begin:
            continue
        if group and sample.at // bucket != group[0].at // bucket:
            _append(result, group, bucket)
            group = []
        group.append(sample)
    if group:
        _append(result, group, bucket)
    return result


def _append(to: Series, group: list[Sample], bucket: int) -> None:
    """Rates are means over the bucket, durations and latencies its worst, levels its last."""
    span = sum(s.span for s in group) / 1000
    to.t.append((group[0].at // bucket + 1) * bucket / 1000)
    to.records_in.append(_rounded(sum(s.records_in for s in group) / span))
    to.records_out.append(_rounded(sum(s.records_out for s in group) / span))
    to.duration.append(_worst(s.duration for s in group))
    to.p50.append(_worst(s.p50 for s in group))
    to.p99.append(_worst(s.p99 for s in group))
    to.lag.append(_last(s.lag for s in group))
    to.state_size.append(_last(s.state_size for s in group))


def _worst(values: Iterable[float | None]) -> float | None:
    return max((_rounded(v) for v in values if v is not None), default=None)


def _last(values: Iterable[int | None]) -> int | None:
    return next((v for v in reversed(list(values)) if v is not None), None)


def _rounded(value: float) -> float:
    return round(value, 2)


def _milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000)
