"""What a job does right now, from its last few checkpoints: rates, latency, lag.

Two queries for any number of jobs: the checkpoints wanted are named by job and id.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Max, Q, TextField
from django.db.models.functions import Cast

from dashboard import formats, series
from jobs.models import Checkpoint, Job

#: Rates are means over this many checkpoints.
CHECKPOINTS = 10
#: A backlog that this many seconds of work take away is no backlog.
KEEPING_UP = 10

#: Columns of JSON come as text: of most of them only the last row's is looked into.
_JSON = ("records_out", "lag", "latency", "counters")
_FIELDS = (
    *("job_id", "checkpoint_id", "completed_at", "duration", "state_size", "records_in"),
    *("state_rows", "transactions", "watermark"),
)
_TEXTS = {f"{name}_text": Cast(name, TextField()) for name in _JSON}


@dataclass(frozen=True, slots=True)
class Recent:
    """The last checkpoint's figures, and rates in records per second over the last few."""

    checkpoint_id: int
    completed_at: datetime
    duration: int
    state_size: int
    state_rows: int
    transactions: int
    rate_in: float
    rate_out: float
    latency: Mapping[str, float]
    lag: int | None
    #: Records per second the backlog grows by (or shrinks, below zero); None when unknown.
    lag_growth: float | None
    watermark: int | None
    counters: Mapping[str, int]

    @property
    def lag_words(self) -> str:
        """What the backlog does, in words."""
        if self.lag is None:
            return "not reported"
        if self.lag == 0:
            return "caught up"
        if self.lag < self.rate_in * KEEPING_UP:
            return "keeping up"
        if not self.rate_in:
            return "nothing read lately"
        if self.lag_growth is None or abs(self.lag_growth) <= 0.01 * self.rate_in:
            return "steady"
        if self.lag_growth > 0:
            return f"growing by {formats.number(self.lag_growth)} /s"
        return f"caught up in {formats.elapsed(1000 * self.lag / -self.lag_growth)}"


def of(jobs: Iterable[Job], now: datetime) -> dict[str, Recent]:
    """Job id to what it does; jobs without a checkpoint are left out."""
    intervals = {job.pk: job.checkpoint_interval for job in jobs}
    newest = (
        Checkpoint.objects.filter(job__in=intervals)
        .values_list("job_id")
        .annotate(Max("checkpoint_id"))
        .order_by()
    )
    wanted = [Q(job_id=job, checkpoint_id__gt=last - CHECKPOINTS - 1) for job, last in newest]
    if not wanted:
        return {}
    rows: dict[str, list[dict[str, Any]]] = {}
    found = Checkpoint.objects.filter(reduce(or_, wanted)).values(*_FIELDS, **_TEXTS)
    for row in found.order_by("job_id", "checkpoint_id"):
        rows.setdefault(row["job_id"], []).append(row)
    return {job: _recent(of_job, intervals[job], now) for job, of_job in rows.items()}


def _recent(rows: list[dict[str, Any]], interval: int, now: datetime) -> Recent:
    last = rows[-1]
    taken = series.samples(map(_sampled, rows), interval)
    counted = taken[1:] or taken
    seconds = sum(sample.span for sample in counted) / 1000
    if now - last["completed_at"] > timedelta(milliseconds=series.idle_after(interval, last)):
        seconds = float("inf")
    return Recent(
        checkpoint_id=last["checkpoint_id"],
        completed_at=last["completed_at"],
        duration=last["duration"],
        state_size=last["state_size"],
        state_rows=last["state_rows"],
        transactions=last["transactions"],
        rate_in=sum(sample.records_in for sample in counted) / seconds,
        rate_out=sum(sample.records_out for sample in counted) / seconds,
        latency=_last_latency(rows),
        lag=taken[-1].lag,
        lag_growth=_growth(taken),
        watermark=last["watermark"],
        counters=_json(last["counters_text"]) or {},
    )


def _sampled(row: dict[str, Any]) -> dict[str, Any]:
    """With what rates and lag are made of; latencies of single checkpoints are none of it."""
    found = {name: _json(row[f"{name}_text"]) for name in ("records_out", "lag")}
    return {**row, **found, "latency": None}


def _json(text: str | None) -> Any:
    return json.loads(text) if text else None


def _growth(taken: list[series.Sample]) -> float | None:
    known = [(sample.at, sample.lag) for sample in taken if sample.lag is not None]
    if len(known) < 2:
        return None
    (first, before), (last, now) = known[0], known[-1]
    return (now - before) * 1000 / max(last - first, 1)


def _last_latency(rows: list[dict[str, Any]]) -> Mapping[str, float]:
    """Of the last checkpoint that something came in with."""
    told = (_json(row["latency_text"]) for row in reversed(rows))
    return next((latency for latency in told if latency), {})
