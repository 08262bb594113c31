"""Jobs that run, and what their drivers say they measured."""

from __future__ import annotations

import random
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from headrace.wire import events
from headrace.wire.operator_ids import operator_id
from jobs.models import Attempt, Job, TaskManager
from jobs.states import AttemptState, JobState

VERTICES, PARALLELISM, TASKMANAGERS = 4, 4, 50
IDS = [operator_id(str(number)) for number in range(VERTICES)]
_RATES = (
    *("numRecordsIn", "numRecordsOut", "numBytesIn", "numBytesOut"),
    *("busyTimeMs", "idleTimeMs", "backPressuredTimeMs", "softBackPressuredTimeMs"),
    *("hardBackPressuredTimeMs", "numFiredTimers"),
)
_COUNTS = (
    *("numRecordsIn", "numRecordsOut", "numBytesIn", "numBytesOut", "accumulateBusyTimeMs"),
    *("accumulateIdleTimeMs", "accumulateBackPressuredTimeMs", "numFiredTimers"),
    *("currentInputWatermark", "numLateRecordsDropped"),
)
TASK = [f"{name}PerSecond" for name in _RATES] + list(_COUNTS)
OPERATOR = ["numRecordsIn", "numRecordsOut", "numRecordsInPerSecond", "currentOutputWatermark"]
_NOISE = random.Random(1)


def make(jobs: int) -> list[Attempt]:
    """So many running jobs, and a user who sees them."""
    User.objects.create_superuser("admin")
    now = timezone.now()
    taskmanagers = TaskManager.objects.bulk_create(
        TaskManager(
            **{"name": f"tm-{number}", "host": f"node-{number}", "pid": 1, "slots": 40},
            **{"memory_mib": 1, "queue": "q", "started_at": now, "last_heartbeat": now},
            vitals=dict.fromkeys((f"Status.JVM.{n}" for n in range(22)), 1.5),
        )
        for number in range(TASKMANAGERS)
    )
    rows = Job.objects.bulk_create(_job(number) for number in range(jobs))
    return Attempt.objects.bulk_create(
        Attempt(
            **{"job": job, "number": 1, "run_dir": "/nowhere", "state": AttemptState.RUNNING},
            taskmanager=taskmanagers[number % TASKMANAGERS],
            host=f"node-{number % TASKMANAGERS}",
        )
        for number, job in enumerate(rows)
    )


def _job(number: int) -> Job:
    nodes = [
        {
            **{"id": str(vertex), "operator_id": IDS[vertex], "description": f"step {vertex}"},
            **{"parallelism": PARALLELISM, "inputs": [{"id": str(vertex - 1)}] if vertex else []},
        }
        for vertex in range(VERTICES)
    ]
    lag = {"flights": {str(partition): 1_000 + number for partition in range(4)}}
    return Job(
        **{"name": f"job-{number}", "state": JobState.RUNNING, "entry": "/nowhere/job.py"},
        **{"entry_name": "job.py", "artifact_sha256": "0" * 64, "plan": {"nodes": nodes}},
        **{"lag": lag, "timestamps": {"RUNNING": 1}, "progressed_at": timezone.now()},
    )


def measured() -> events.Measured:
    """All values differ from subtask to subtask and from time to time: the worst case."""
    partitions = {str(n): {"lag": _some(), "trend": _some(), "catch_up": 9.5} for n in range(4)}
    quantiles = {name: _some() for name in ("p50", "p75", "p90", "p95", "p98", "p99", "p999")}
    pair = {"source": IDS[0], "sink": IDS[-1], "count": 5_000.0, "mean": _some(), **quantiles}
    return events.Measured(
        job={"numRecordsInPerSecond": _some(), "numRecordsOutPerSecond": _some()},
        vertices={vertex: {name: _column() for name in TASK} for vertex in IDS},
        operators={vertex: {name: _column() for name in OPERATOR} for vertex in IDS},
        latency=[{**pair, "to": "pre-commit"}, {**pair, "to": "visible"}],
        partitions={"flights": partitions},
    )


def _column() -> list[float | None]:
    return [_some() for _ in range(PARALLELISM)]


def _some() -> Any:
    return round(_NOISE.lognormvariate(5, 2), 3)
