"""The answers to a page that draws charts: the whole range, or what is new since.

Short ranges come from the checkpoints themselves; of longer ones, and of figures that no
checkpoint has, what `jobs.history` keeps for a year.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from dashboard import series
from dashboard.series import Series
from jobs import figures, history
from jobs.models import Job

#: Names of one answer, and marks of attempts in one chart.
NAMES, MARKS = 24, 100
#: Up to this many seconds a range is drawn from the checkpoints.
FROM_CHECKPOINTS = 3_600
#: Column of the charts -> the name that it has in the history, and which of a bucket's three
#: values is drawn: rates are means, durations and latencies its worst.
KEPT = {
    "records_in": ("numRecordsInPerSecond", 2),
    "records_out": ("numRecordsOutPerSecond", 2),
    "duration": ("checkpointDuration", 3),
    "p50": ("latency.p50", 3),
    "p99": ("latency.p99", 3),
    "lag": ("lag", 3),
    "state_size": ("checkpointSize", 3),
}
#: Flink's name of the newest value -> the name of all of them in the history.
_ALIASES = {"lastCheckpointDuration": "checkpointDuration", "lastCheckpointSize": "checkpointSize"}


def answer(job: Job, name: str, after: int | None, now: datetime) -> dict[str, Any]:
    """The columns of the range called `name`; `after` is the end of the newest bucket that the
    page holds (seconds since 1970), which is sent again, because it may have grown. Of a long
    range all is sent: its buckets are rarely asked for."""
    seconds = series.RANGES.get(name, series.RANGES[series.DEFAULT_RANGE])
    bucket = series.width(seconds)
    since = now - timedelta(seconds=seconds)
    whole = after is None or seconds > FROM_CHECKPOINTS
    if after is not None and not whole:
        since = max(since, _start(after, bucket, since))
    columns = _kept(job, bucket, since, now) if seconds > FROM_CHECKPOINTS else Series()
    if not columns.t:
        columns = series.series(_samples(job, since), bucket, since)
    return {
        "now": int(now.timestamp() * 1000),
        "range": seconds,
        "bucket": bucket,
        "whole": whole,
        "series": asdict(columns),
        "attempts": _starts(job, since),
    }


def of_names(job: Job, names: Sequence[str], name: str, now: datetime) -> dict[str, Any]:
    """{"now", "range", "names": {name: [[ms, least, mean, most], …]}, "latest": {name: value}}
    for figures of the job, or, as "<vertex id>.<figure>", of a vertex."""
    seconds = series.RANGES.get(name, series.RANGES[series.DEFAULT_RANGE])
    since = now - timedelta(seconds=seconds)
    kept = [_ALIASES.get(each, each) for each in names]
    found = history.series(job.pk, kept, since, now, series.POINTS)
    return {
        "now": int(now.timestamp() * 1000),
        "range": seconds,
        "names": {each: found[own] for each, own in zip(names, kept, strict=True)},
        "latest": _latest(job, names),
    }


def _latest(job: Job, names: Iterable[str]) -> dict[str, float]:
    """What was measured last: of a vertex the mean over its subtasks."""
    own, vertices, found = figures.of_job(job), figures.of_vertices(job), {}
    for name in names:
        vertex, _, figure = name.partition(".")
        rows = vertices.get(vertex)
        if rows is None and len(vertex) == 32:
            rows = []
        if rows is not None:
            operators = figures.of_operators(job, vertex)
            values = [row[figure] for row in (*rows, *operators) if figure in row]
            value = sum(values) / len(values) if values else None
        else:
            value = history.number(own.get(name))
        if value is not None and history.number(value) is not None:
            found[name] = value
    return found


def _kept(job: Job, bucket: int, since: datetime, now: datetime) -> Series:
    """The range from the history; empty where it has nothing of the job."""
    points = int((now - since) / timedelta(milliseconds=bucket)) + 1
    found = history.series(job.pk, [name for name, _ in KEPT.values()], since, now, points)
    values: dict[str, dict[int, float]] = {
        column: {row[0] // bucket: row[which] for row in found[name]}
        for column, (name, which) in KEPT.items()
    }
    buckets = sorted({number for column in values.values() for number in column})
    columns: dict[str, list[float | None]] = {
        column: [_rounded(own.get(number)) for number in buckets] for column, own in values.items()
    }
    return Series(t=[(number + 1) * bucket / 1000 for number in buckets], **columns)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def _start(end: int, bucket: int, otherwise: datetime) -> datetime:
    try:
        return datetime.fromtimestamp(end, UTC) - timedelta(milliseconds=bucket)
    except (OverflowError, ValueError, OSError):
        return otherwise


def _samples(job: Job, since: datetime) -> list[series.Sample]:
    """Of the checkpoints since then, and of the one before: it says how long the first took."""
    rows = job.checkpoints.order_by("checkpoint_id").values(*series.FIELDS)
    before = rows.filter(completed_at__lt=since).order_by("-checkpoint_id")[:1]
    return series.samples([*before, *rows.filter(completed_at__gte=since)], job.checkpoint_interval)


def _starts(job: Job, since: datetime) -> list[list[float]]:
    """When attempts began, with their numbers: marks in the charts."""
    began = job.attempts.filter(created_at__gte=since).order_by("-number")
    found = began.values_list("created_at", "number")[:MARKS]
    return [[at.timestamp(), n] for at, n in reversed(found)]
