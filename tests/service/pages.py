"""Jobs, checkpoints and TaskManagers for the tests of the pages, made through the models."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from django.utils import timezone

from jobs.models import Attempt, Checkpoint, Event, Job, Slot, TaskManager
from jobs.states import AttemptState, JobState

PLAN = {
    "nodes": [
        {"id": "1", "description": "Source: kafka flights", "parallelism": 2, "inputs": []},
        {"id": "2", "description": "Window by origin", "parallelism": 2, "inputs": [{"id": "1"}]},
        {"id": "3", "description": "Sink: kafka delays", "parallelism": 2, "inputs": [{"id": "2"}]},
    ]
}


def make_job(name: str = "flight delays", state: JobState = JobState.RUNNING, **values: Any) -> Job:
    return Job.objects.create(
        name=name,
        state=state,
        **{
            "entry": "/nowhere/job.py",
            "entry_name": "job.py",
            "artifact_sha256": "ab" * 32,
            "checkpoint_interval": 1_000,
            "plan": PLAN,
            **values,
        },
    )


def make_attempt(job: Job, number: int = 1, run_dir: Path | str = "/nowhere") -> Attempt:
    return Attempt.objects.create(
        job=job,
        number=number,
        run_dir=str(run_dir),
        state=AttemptState.RUNNING,
        started_at=timezone.now(),
    )


def make_checkpoint(attempt: Attempt, number: int, age: float = 0, **values: Any) -> Checkpoint:
    """The checkpoint of that id, completed `age` seconds ago."""
    made = checkpoint(attempt, number, age, **values)
    made.save(force_insert=True)
    return made


def checkpoint(attempt: Attempt, number: int, age: float = 0, **values: Any) -> Checkpoint:
    """As `make_checkpoint`, not stored."""
    completed = timezone.now() - timedelta(seconds=age)
    return Checkpoint(
        job=attempt.job,
        attempt=attempt,
        checkpoint_id=number,
        **{
            "started_at": completed - timedelta(milliseconds=400),
            "completed_at": completed,
            "duration": 400,
            "state_size": 3 << 20,
            "state_rows": 420,
            "records_in": 5_000,
            "records_out": {"delays": 30},
            "transactions": 1,
            "phases": {"addBatch": 350, "walCommit": 20},
            "offsets": {"flights": {"0": 90_000 + number, "1": 80_000}},
            "lag": {"flights": {"0": 120, "1": 30}},
            "latency": {"p50": 800.0, "p90": 900.0, "p99": 1_500.0, "max": 2_000.0, "count": 5_000},
            "watermark": 1_357_034_400_000,
            "counters": {"dead_letters": 12},
            **values,
        },
    )


def make_taskmanager(
    name: str = "tm-1", slots: int = 2, taken_by: Job | None = None
) -> TaskManager:
    now = timezone.now()
    made = TaskManager.objects.create(
        name=name,
        host="node-1",
        pid=4_242,
        slots=slots,
        memory_mib=2_048,
        queue=f"taskmanager.{name}",
        started_at=now,
        last_heartbeat=now,
    )
    for index in range(slots):
        job = taken_by if index == 0 else None
        Slot.objects.create(
            taskmanager=made, index=index, job=job, allocated_at=now if job else None
        )
    return made


def make_failure(attempt: Attempt, message: str, traceback: str = "") -> Event:
    return Event.objects.create(
        job=attempt.job,
        attempt=attempt,
        kind=Event.Kind.FAILURE,
        message=message,
        detail={"attempt": attempt.number, "traceback": traceback, "restartable": True},
    )
