"""A job with something on each of its pages, made through the models."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.utils import timezone

from headrace.wire import columns
from jobs import history, vertices
from jobs.models import (
    Alert,
    AlertRule,
    Attempt,
    Checkpoint,
    Event,
    Job,
    JobFigures,
    JobVersion,
    Savepoint,
    Upgrade,
)
from jobs.states import AlertState, AttemptState, JobState, SavepointState, UpgradeState
from tests.service import pages


def node(
    number: int, name: str, pact: str, chain: int, *before: tuple[int, str], **more: Any
) -> Any:
    reads = [{"id": id, "ship_strategy": ship} for id, ship in before]
    described = {"id": number, "uid": f"uid-{number}", "type": name, "pact": pact, "chain": chain}
    return {"parallelism": 4, "contents": name, "predecessors": reads, **described, **more}


#: Two sources that are joined, a window behind a filter, two sinks.
PLAN = {
    "max_parallelism": 128,
    "nodes": [
        node(1, "flights", "Data Source", 1),
        node(2, "parse and clean", "Operator", 1, (1, "FORWARD")),
        node(3, "airports", "Data Source", 3, parallelism=1),
        node(4, "join airports to flights by code", "Operator", 4, (2, "HASH"), (3, "BROADCAST")),
        node(5, "delays in windows of ten minutes", "Operator", 5, (4, "HASH")),
        node(6, "kafka delays", "Data Sink", 5, (5, "FORWARD")),
        node(7, "late flights", "Data Sink", 7, (4, "REBALANCE"), parallelism=2),
    ],
}
#: By vertex, in the order of the graph: records a second, busy and back-pressured ms a second.
_LOADS = ((5_200.0, 420, 610), (2.0, 10, 0), (5_200.0, 640, 180), (4_900.0, 960, 0), (31.0, 60, 0))


def make(run_dir: Path | str = "/nowhere", **values: Any) -> Job:
    """Running since an hour, in its third attempt, with 60 checkpoints."""
    now = timezone.now()
    job = pages.make_job(
        plan=PLAN,
        parallelism=4,
        restarts=2,
        **{
            "created_at": now - timedelta(hours=1),
            "started_at": now - timedelta(minutes=58),
            "state_changed_at": now - timedelta(minutes=20),
            "version": 2,
            **values,
        },
    )
    running = _attempts(job, now, run_dir)
    Checkpoint.objects.bulk_create(
        pages.checkpoint(
            running, number, age=60 - number, duration=300 + 7 * number, tasks=_tasks()
        )
        for number in range(1, 61)
    )
    pages.make_taskmanager(slots=4, taken_by=job)
    make_figures(job)
    _states(job, now)
    _versions(job)
    _alerts(job, now)
    return job


def _tasks() -> dict[str, Any]:
    return {
        vertex.id: {
            "busy": [120 + 40 * n for n in range(vertex.parallelism)],
            "state_size": 7 << 20,
        }
        for vertex in vertices.of(PLAN)
    }


def make_figures(job: Job, at: datetime | None = None) -> JobFigures:
    """What its driver measured last."""
    of_job = vertices.of(job.plan)
    loads = {vertex.id: _LOADS[n % len(_LOADS)] for n, vertex in enumerate(of_job)}
    operators = {operator.node: operator.id for vertex in of_job for operator in vertex.operators}
    return JobFigures.objects.create(
        job=job,
        at=at or timezone.now(),
        attempt=3,
        checkpoint={"id": 60, "duration": 720, "size": 3 << 20, "rows": 420, "completed_at": 0},
        figures={
            "job": {"numRecordsInPerSecond": 5_200.0, "numRecordsOutPerSecond": 31.0},
            "vertices": {
                vertex.id: columns.columns(
                    _subtask(n, *loads[vertex.id]) for n in range(vertex.parallelism)
                )
                for vertex in of_job
            },
            "operators": {
                operator.id: columns.columns(
                    {"numRecordsIn": 900 + n, "numRecordsOut": 800 + n, "my-counter": 5}
                    for n in range(vertex.parallelism)
                )
                for vertex in of_job
                for operator in vertex.operators
            },
            "latency": [
                _latency(operators.get("1", ""), operators.get("6", ""), to, most)
                for to, most in (("pre-commit", 900), ("visible", 1_500))
            ],
            "partitions": {
                "flights": {
                    "0": _partition(120, 40.0, None),
                    "1": _partition(30, -10.0, 3.0),
                }
            },
            "watermarks": {
                operators.get("5", ""): {
                    "watermark": 1_357_034_400_000,
                    "held_by": operators.get("1", ""),
                    "split": "flights-1",
                    "idle": ["flights-0"],
                }
            },
            "accumulators": {
                of_job[0].id: [{"name": "bad lines", "type": "LongCounter", "value": "17"}]
            },
        },
    )


def _subtask(number: int, rate: float, busy: int, pressed: int) -> dict[str, float]:
    tenths = (10, 14, 7, 9)[number % 4]
    share = tenths / 10
    return {
        "numRecordsIn": 9_000 * tenths,
        "numRecordsInPerSecond": round(rate * share / 4, 1),
        "numRecordsOut": 8_000 * tenths,
        "numRecordsOutPerSecond": round(rate * share / 5, 1),
        "numBytesIn": 900_000 * tenths,
        "numBytesOut": 500_000 * tenths,
        "busyTimeMsPerSecond": min(1000.0, busy * share / 1.4),
        "backPressuredTimeMsPerSecond": pressed * share / 1.4,
        "idleTimeMsPerSecond": max(0.0, 1000 - (busy + pressed) * share / 1.4),
        "currentInputWatermark": 1_357_034_400_000 + 1_000 * number,
    }


def _latency(source: str, sink: str, to: str, most: float) -> dict[str, Any]:
    shares = {"min": 0.05, "mean": 0.3, "p50": 0.25, "p75": 0.4, "p90": 0.5, "p95": 0.6}
    shares |= {"p98": 0.7, "p99": 0.8, "p999": 0.95, "max": 1.0, "stddev": 0.2}
    figures = {name: most * share for name, share in shares.items()}
    return {"source": source, "sink": sink, "to": to, "count": 5_000, **figures}


def _partition(lag: float, trend: float, catch_up: float | None) -> dict[str, float]:
    found = {"lag": lag, "arriving": 500.0, "read": 500.0 - trend, "trend": trend}
    return found if catch_up is None else {**found, "catch_up": catch_up}


def _attempts(job: Job, now: datetime, run_dir: Path | str) -> Attempt:
    """Two that failed, one that runs."""
    for number, begun, ended in ((1, 58, 40), (2, 39, 21)):
        attempt = pages.make_attempt(job, number)
        attempt.state = AttemptState.FAILED
        attempt.created_at = now - timedelta(minutes=begun + 1)
        attempt.started_at = now - timedelta(minutes=begun)
        attempt.ended_at = now - timedelta(minutes=ended)
        attempt.error = attempt.verdict = "restarts after 1 s"
        attempt.cause = "program"
        attempt.save()
        trace = "Traceback (most recent call last):\n  File job.py\nValueError: no such airport"
        failure = pages.make_failure(attempt, f"ValueError: no such airport ({number})", trace)
        Event.objects.filter(pk=failure.pk).update(at=attempt.ended_at)
    running = pages.make_attempt(job, 3, run_dir)
    Attempt.objects.filter(pk=running.pk).update(
        created_at=now - timedelta(minutes=21), started_at=now - timedelta(minutes=20)
    )
    return running


def _states(job: Job, now: datetime) -> None:
    told = (("CREATED", 60), ("RUNNING", 58), ("RESTARTING", 40), ("CREATED", 39.5))
    before = "INITIALIZING"
    for state, minutes in (*told, ("RUNNING", 39), ("RESTARTING", 21), ("RUNNING", 20)):
        Event.objects.create(
            job=job,
            kind=Event.Kind.STATE,
            at=now - timedelta(minutes=minutes),
            message=f"{before} → {state}",
            detail={"from": before, "to": state},
        )
        before = state


def make_savepoint(job: Job, **values: Any) -> Savepoint:
    return Savepoint.objects.create(
        job=job,
        job_name=job.name,
        **{
            "state": SavepointState.COMPLETED,
            "path": f"/nowhere/savepoint-{job.pk[:6]}-{Savepoint.objects.count():012x}",
            "requested_by_name": "alice",
            "reason": "before the holidays",
            "version": 1,
            "checkpoint_id": 41,
            "size": 5 << 20,
            "files": 12,
            "completed_at": timezone.now(),
            **values,
        },
    )


def make_version(job: Job, number: int, **values: Any) -> JobVersion:
    return JobVersion.objects.create(
        job=job,
        number=number,
        **{
            "entry": job.entry,
            "entry_name": job.entry_name,
            "artifact_sha256": job.artifact_sha256,
            "parallelism": job.parallelism,
            "created_by_name": "alice",
            **values,
        },
    )


def _versions(job: Job) -> None:
    first = make_version(job, 1, parallelism=2, arguments=["--rate", "5"])
    second = make_version(job, 2, configuration={"a.b": "c"}, reason="more slots")
    used = make_savepoint(job)
    make_savepoint(job, version=2, checkpoint_id=55, size=6 << 20, reason="")
    Upgrade.objects.create(
        job=job,
        before=first,
        after=second,
        savepoint=used,
        state=UpgradeState.DONE,
        requested_by_name="alice",
        ended_at=timezone.now(),
    )


def _alerts(job: Job, now: datetime) -> None:
    rule = AlertRule.objects.create(name="too far behind", kind=AlertRule.Kind.LAG, threshold=100)
    Alert.objects.create(
        rule=rule, job=job, state=AlertState.FIRING, since=now, summary="150 records behind"
    )


def write_history(job: Job, minutes: int = 60) -> None:
    """A figure every ten seconds, of the job and of its first vertex."""
    now = timezone.now()
    vertex = vertices.of(job.plan)[0].id
    samples = []
    for n in range(minutes * 6):
        wave = 1 + 0.3 * math.sin(n / 20)
        values = {
            "numRecordsInPerSecond": 5_000 * wave,
            f"{vertex}.busyTimeMsPerSecond": 400 * wave,
        }
        samples.append((now - timedelta(seconds=10 * (minutes * 6 - n)), values))
    history.write_all(job.pk, samples)


def finish(job: Job) -> None:
    """It has ended; everything else stays."""
    now = timezone.now()
    Job.objects.filter(pk=job.pk).update(state=JobState.FINISHED, ended_at=now)
    job.slots.update(job=None)
