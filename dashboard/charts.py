"""The answer to a page that draws a job's charts: the whole range, or what is new since."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from dashboard import series
from jobs.models import Job


def answer(job: Job, name: str, after: int | None, now: datetime) -> dict[str, Any]:
    """The columns of the range called `name`; `after` is the end of the newest bucket that the
    page holds (seconds since 1970), which is sent again, because it may have grown."""
    seconds = series.RANGES.get(name, series.RANGES[series.DEFAULT_RANGE])
    bucket = series.width(seconds)
    since = now - timedelta(seconds=seconds)
    if after is not None:
        since = max(since, _start(after, bucket, since))
    columns = series.series(_samples(job, since), bucket, since)
    return {
        "now": int(now.timestamp() * 1000),
        "range": seconds,
        "bucket": bucket,
        "series": asdict(columns),
        "attempts": _starts(job, since),
    }


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
    began = job.attempts.filter(created_at__gte=since).order_by("number")
    return [[at.timestamp(), n] for at, n in began.values_list("created_at", "number")]
