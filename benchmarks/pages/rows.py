"""A cluster that has run for a while: jobs that run and jobs that have ended, with checkpoints."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from benchmarks.control import history
from jobs.models import Attempt as AttemptRow
from jobs.models import AuditEntry, Checkpoint, Job, JobFigures, Slot, TaskManager
from jobs.states import AttemptState, JobState

AT_ONCE = 2000
PLAN = {
    "nodes": [
        {"id": "1", "description": "Source: orders", "parallelism": 2, "inputs": []},
        {"id": "2", "description": "Window", "parallelism": 2, "inputs": [{"id": "1"}]},
        {"id": "3", "description": "Sink: totals", "parallelism": 2, "inputs": [{"id": "2"}]},
    ]
}


def fill(jobs: int, checkpoints: int, running: int) -> Job:
    """So many jobs, so many checkpoints over all of them; one that runs is given back."""
    each = max(1, checkpoints // jobs)
    history.fill(jobs=jobs - running, checkpoints=each, events=5)
    now = timezone.now()
    live = [
        Job(
            name=f"running-{number}",
            state=JobState.RUNNING,
            entry="/nowhere/program.py",
            entry_name="program.py",
            artifact_sha256="0" * 64,
            parallelism=2,
            checkpoint_interval=1000,
            plan=PLAN,
            current_attempt=1,
            created_at=now - timedelta(hours=number % 90),
            started_at=now,
        )
        for number in range(running)
    ]
    Job.objects.bulk_create(live, batch_size=AT_ONCE)
    attempts = [
        AttemptRow(job=job, number=1, run_dir="/nowhere", state=AttemptState.RUNNING)
        for job in live
    ]
    AttemptRow.objects.bulk_create(attempts, batch_size=AT_ONCE)
    Checkpoint.objects.bulk_create(
        (
            _checkpoint(attempt, number, each, now)
            for attempt in attempts
            for number in range(1, each + 1)
        ),
        batch_size=AT_ONCE,
    )
    _seat(live, now)
    figures = {"job": {"numRecordsInPerSecond": 5000.0, "numRecordsOutPerSecond": 30.0}}
    JobFigures.objects.bulk_create(
        JobFigures(job=job, at=now, attempt=1, figures=figures) for job in live
    )
    user = User.objects.create_superuser("bench", password="bench-password")
    AuditEntry.objects.bulk_create(
        AuditEntry(
            user=user, username="bench", action="job.cancel", via="page", target_name=job.name
        )
        for job in live
        for _ in range(100)
    )
    return live[0]


def _checkpoint(attempt: AttemptRow, number: int, last: int, now: Any) -> Checkpoint:
    completed = now - timedelta(seconds=last - number)
    return Checkpoint(
        job=attempt.job,
        attempt=attempt,
        checkpoint_id=number,
        started_at=completed - timedelta(milliseconds=400),
        completed_at=completed,
        duration=400,
        state_size=3 << 20,
        records_in=5000,
        records_out={"totals": 30},
        offsets={"orders": {"0": 90_000 + number, "1": 80_000}},
        lag={"orders": {"0": 120, "1": 30}},
        latency={"p50": 800.0, "p99": 1500.0, "max": 2000.0, "count": 5000},
        phases={"addBatch": 350, "walCommit": 20},
    )


def _seat(live: list[Job], now: Any) -> None:
    """On TaskManagers of eight slots each."""
    for number in range(0, len(live), 4):
        row = TaskManager.objects.create(
            name=f"tm-{number // 4}",
            host="here",
            pid=1,
            slots=8,
            memory_mib=4096,
            queue=f"tm-{number}",
            started_at=now,
            last_heartbeat=now,
        )
        seated = [job for job in live[number : number + 4] for _ in range(2)]
        Slot.objects.bulk_create(
            Slot(taskmanager=row, index=index, job=job, allocated_at=now)
            for index, job in enumerate(seated)
        )
