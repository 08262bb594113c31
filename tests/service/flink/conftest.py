"""A job with everything that Flink's routes tell about: attempts, checkpoints, figures, a failure,
a savepoint; and one of a team that only some see."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient

from headrace.wire import columns
from jobs import actions, vertices
from jobs.models import (
    Attempt,
    Checkpoint,
    Diagnosis,
    Event,
    Job,
    JobFigures,
    Savepoint,
    TaskManager,
)
from jobs.states import AttemptState, JobState, SavepointState

PROGRAM = b"print('never run')\n"

PLAN: dict[str, Any] = {
    "max_parallelism": 128,
    "nodes": [
        {
            "id": 1,
            "uid": "orders",
            "type": "Source: orders",
            "pact": "Data Source",
            "contents": "orders",
            "parallelism": 2,
            "chain": 1,
        },
        {
            "id": 2,
            "uid": "counted",
            "type": "counted & shown",
            "pact": "Operator",
            "contents": "counted",
            "parallelism": 2,
            "predecessors": [{"id": 1, "ship_strategy": "HASH", "side": "first"}],
            "chain": 2,
        },
        {
            "id": 3,
            "uid": "out",
            "type": "Sink: out",
            "pact": "Data Sink",
            "contents": "out",
            "parallelism": 2,
            "predecessors": [{"id": 2, "ship_strategy": "FORWARD", "side": "first"}],
            "chain": 2,
        },
    ],
}
SOURCE, KEYED = vertices.of(PLAN)


def task_figures(subtask: int) -> dict[str, float]:
    """Of one subtask; the second has less to do."""
    return {
        "numRecordsIn": 100 - 40 * subtask,
        "numRecordsOut": 100 - 40 * subtask,
        "numBytesIn": 1000,
        "numBytesOut": 900,
        "numRecordsInPerSecond": 10.5,
        "busyTimeMsPerSecond": 250.0,
        "idleTimeMsPerSecond": 150.0,
        "backPressuredTimeMsPerSecond": 600.0 - 550 * subtask,
        "accumulateBusyTimeMs": 5000.0,
        "accumulateIdleTimeMs": 300,
        "accumulateBackPressuredTimeMs": 700,
    }


FIGURES: dict[str, Any] = {
    "job": {"numRecordsInPerSecond": 20.5},
    "vertices": {
        SOURCE.id: columns.columns(map(task_figures, (0, 1))),
        KEYED.id: columns.columns(
            task_figures(n) | {"currentInputWatermark": 1_795_245_157_644 + n} for n in (0, 1)
        ),
    },
    "operators": {
        SOURCE.operators[0].id: columns.columns([{"pendingRecords": 7}, {"pendingRecords": 8}]),
    },
    "accumulators": {KEYED.id: [{"name": "seen", "type": "LongCounter", "value": "160"}]},
}


@pytest.fixture
def alice(db: None) -> User:
    """May submit jobs. Nobody logs in with a password here: hashing one takes long."""
    return User.objects.create(username="alice", is_staff=True)


@pytest.fixture
def client(alice: User) -> APIClient:
    """Alice's: she may do everything."""
    return client_of(alice)


def client_of(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


@pytest.fixture
def now() -> datetime:
    return timezone.now()


@pytest.fixture
def job(alice: User, now: datetime) -> Job:
    """It runs, at its second attempt; the first failed."""
    job = new_job(alice, "orders", parallelism=2)
    taskmanager = TaskManager.objects.create(
        name="tm-1",
        host="host-1",
        pid=1,
        slots=2,
        memory_mib=1024,
        queue="tm-1",
        started_at=now,
        last_heartbeat=now,
    )
    first = _attempt(job, 1, AttemptState.FAILED, taskmanager, now - timedelta(minutes=10))
    second = _attempt(job, 2, AttemptState.RUNNING, taskmanager, now - timedelta(minutes=5))
    second.restored_checkpoint = 4
    second.save()
    Event.objects.create(
        job=job,
        attempt=first,
        at=now - timedelta(minutes=6),
        kind=Event.Kind.FAILURE,
        message="ValueError: boom on key 0",
        detail={
            "attempt": 1,
            "cause": "running",
            "traceback": 'Traceback (most recent call last):\n  File "job.py"\nValueError: boom',
        },
    )
    add_checkpoints(job, second, 12, now - timedelta(minutes=4))
    JobFigures.objects.create(
        job=job, at=now, attempt=2, figures=FIGURES, failed_checkpoints=1, first_checkpoint=0
    )
    started = int((now - timedelta(minutes=5)).timestamp() * 1000)
    Job.objects.filter(pk=job.pk).update(
        state=JobState.RUNNING,
        plan=PLAN,
        current_attempt=2,
        checkpoint_interval=5000,
        timestamps={**job.timestamps, "CREATED": started - 100, "RUNNING": started},
    )
    job.refresh_from_db()
    return job


def new_job(user: User | None, name: str, parallelism: int = 1) -> Job:
    return actions.submit(
        name,
        (PROGRAM, "job.py"),
        ["--topic", "orders", "--password", "hunter2"],
        parallelism,
        configuration={
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": "5",
            "restart-strategy.fixed-delay.delay": "2 s",
        },
        user=user,
    )


def _attempt(
    job: Job, number: int, state: AttemptState, taskmanager: TaskManager, at: datetime
) -> Attempt:
    attempt = Attempt.objects.create(
        job=job,
        number=number,
        state=state,
        taskmanager=taskmanager,
        host=taskmanager.host,
        run_dir=f"/runs/{number}",
        journal_number=9,
        application_id="app",
        created_at=at,
        started_at=at + timedelta(seconds=1),
        ended_at=at + timedelta(minutes=4) if state.is_terminal else None,
    )
    for seconds, message in ((2, "driver started, process 7"), (4, f"attempt {number} runs")):
        Event.objects.create(
            job=job,
            attempt=attempt,
            at=at + timedelta(seconds=seconds),
            kind=Event.Kind.ATTEMPT,
            message=message,
        )
    return attempt


def add_checkpoints(job: Job, attempt: Attempt, number: int, at: datetime) -> None:
    first = job.checkpoints.count()
    Checkpoint.objects.bulk_create(
        Checkpoint(
            job=job,
            attempt=attempt,
            checkpoint_id=first + n,
            started_at=at + timedelta(seconds=n),
            completed_at=at + timedelta(seconds=n, milliseconds=100 + n),
            duration=100 + n,
            state_size=5000 + n,
        )
        for n in range(number)
    )


def add_savepoint(job: Job, checkpoint_id: int, **fields: Any) -> Savepoint:
    """One that is complete."""
    return Savepoint.objects.create(
        job=job,
        job_name=job.name,
        state=SavepointState.COMPLETED,
        path=f"/savepoints/savepoint-{job.pk[:6]}-{checkpoint_id:012x}",
        requested_by_name="alice",
        checkpoint_id=checkpoint_id,
        size=4321,
        completed_at=timezone.now(),
        **fields,
    )


def answer_threads(taskmanager: TaskManager) -> None:
    """As if it had been asked for its threads, and the answer were good for a while."""
    Diagnosis.objects.create(
        kind=Diagnosis.Kind.THREADS,
        taskmanager=taskmanager,
        answered_at=timezone.now() + timedelta(hours=1),
        answer={"threads": [{"name": "main", "text": "at main.py:1"}]},
    )


@pytest.fixture
def late(job: Job) -> Event:
    """A checkpoint of the job that took too long, and did not come."""
    return Event.objects.create(
        job=job,
        kind=Event.Kind.CHECKPOINT,
        message="checkpoint 12 takes longer than 10 min",
        detail={"checkpoint": 12, "in_a_row": 1},
    )


@pytest.fixture
def savepoint(job: Job) -> Savepoint:
    return add_savepoint(job, 9)
