"""What Flink has no word for, under `headrace`: in records and seconds, as Prometheus likes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobs.exports.samples import HEADRACE, Group, Histogram, Value
from jobs.models import Job
from jobs.states import JobState

#: Name -> what it says, for Prometheus.
WORDS = {
    "job.state": "1 for the state that the job is in, 0 for the others",
    "job.parallelism": "Its parallelism",
    "job.slots": "Slots that it takes",
    "job.waiting.for.slots": "1 while it waits for slots",
    "job.restarts.in.a.row": "Restarts that its restart strategy counts",
    "job.progress.timestamp.seconds": "When its driver last reported, in seconds since 1970",
    "checkpoint.interval.seconds": "Time between checkpoints",
    "lag.records": "Records that the brokers hold and it has not read",
    "lag.trend.records.per.second": "Change of the lag; above 0 it falls behind",
    "lag.catch.up.seconds": "Time until it has read everything, at its present speed",
    "latency.seconds": "From a record's time in the source until it is written or visible",
}
QUANTILES = {0.5: "p50", 0.75: "p75", 0.95: "p95", 0.98: "p98", 0.99: "p99", 0.999: "p999"}


def of_job(job: Job, name: Mapping[str, str], found: Mapping[str, Any]) -> Iterator[Group]:
    """`name`: the job's variables; `found`: what was measured of it."""
    for state in JobState:
        is_in = {"job.state": 1.0 if job.state == state else 0.0}
        yield Group(HEADRACE, {**name, "state": state.value}, is_in)
    yield Group(HEADRACE, name, _of_whole(job))
    partitions = found.get("partitions", {})
    for topic, own in (job.lag or {}).items():
        for partition, lag in own.items():
            variables = {**name, "topic": topic, "partition": partition}
            more = partitions.get(topic, {}).get(partition, {})
            yield Group(HEADRACE, variables, _of_partition(lag, more))
    for row in found.get("latency", []):
        variables = {**name, **{key: str(row.get(key, "")) for key in ("source", "sink", "to")}}
        yield Group(HEADRACE, variables, {"latency.seconds": histogram(row, 1000)})


def _of_whole(job: Job) -> dict[str, Value]:
    values: dict[str, Value] = {
        "job.parallelism": job.parallelism,
        "job.slots": job.slots_wanted,
        "job.waiting.for.slots": 1.0 if job.queued_at is not None else 0.0,
        "job.restarts.in.a.row": job.restarts_in_a_row,
        "checkpoint.interval.seconds": job.checkpoint_interval / 1000,
    }
    if job.progressed_at is not None:
        values["job.progress.timestamp.seconds"] = job.progressed_at.timestamp()
    return values


def _of_partition(lag: float, more: Mapping[str, float]) -> dict[str, Value]:
    """`more`: one of `figures.lag_trend`; a time to catch up is absent while nobody can say."""
    values: dict[str, Value] = {"lag.records": lag}
    if "trend" in more:
        values["lag.trend.records.per.second"] = more["trend"]
    if "catch_up" in more:
        values["lag.catch.up.seconds"] = more["catch_up"]
    return values


def histogram(row: Mapping[str, Any], unit: float = 1) -> Histogram:
    """Of one of `figures.latency`, in units of so many milliseconds."""
    count = float(row.get("count") or 0)
    mean = row.get("mean")
    quantiles = {q: row[key] / unit for q, key in QUANTILES.items() if row.get(key) is not None}
    return Histogram(count, quantiles, None if mean is None else mean * count / unit)
