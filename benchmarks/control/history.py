"""What a cluster has behind it that has run for a while: rows in every table that grows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import models
from django.utils import timezone

from jobs.models import Alert, AlertRule, Attempt, Checkpoint, Event, Job, Savepoint, TaskManager
from jobs.states import AlertState, AttemptState, JobState, SavepointState, Wanted

FILLED: tuple[type[models.Model], ...] = (Job, Attempt, Checkpoint, Event, Savepoint, Alert)
ENDS = (JobState.FINISHED, JobState.CANCELED, JobState.FAILED)
AT_ONCE = 2000


def fill(jobs: int, attempts: int = 1, checkpoints: int = 5, events: int = 5) -> None:
    """So many ended jobs, and of each so many attempts, checkpoints and events; an alert rule of
    each kind, about all jobs."""
    now = timezone.now()
    gone = TaskManager.objects.create(
        **{"name": "gone", "host": "gone", "pid": 1, "slots": 0, "memory_mib": 1},
        **{"state": "LEFT", "queue": "gone", "started_at": now, "last_heartbeat": now},
    )
    rules = [
        AlertRule.objects.create(name=kind.label, kind=kind, threshold=1_000_000, seconds=60)
        for kind in AlertRule.Kind
    ]
    ended = [_job(number, now - timedelta(hours=jobs - number)) for number in range(jobs)]
    _store(ended)
    runs = [_attempt(job, number + 1, gone) for job in ended for number in range(attempts)]
    _store(runs)
    last = {run.job_id: run for run in runs}
    _store(_checkpoint(last[job.pk], id_ + 1) for job in ended for id_ in range(checkpoints))
    _store(_event(last[job.pk], number) for job in ended for number in range(events))
    _store(_savepoint(last[job.pk]) for job in ended)
    _store(_alert(rules[0], job) for job in ended)


def _store(rows: Iterable[Any]) -> None:
    found = list(rows)
    type(found[0])._default_manager.bulk_create(found, batch_size=AT_ONCE)


def _job(number: int, at: datetime) -> Job:
    return Job(
        name=f"ended-{number}",
        state=ENDS[number % len(ENDS)],
        wanted=Wanted.RUNNING,
        entry="/nowhere/program.py",
        entry_name="program.py",
        artifact_sha256="0" * 64,
        created_at=at,
        started_at=at,
        ended_at=at,
        state_changed_at=at,
    )


def _attempt(job: Job, number: int, taskmanager: TaskManager) -> Attempt:
    return Attempt(
        job=job,
        number=number,
        taskmanager=taskmanager,
        state=AttemptState.FAILED,
        run_dir="/nowhere",
        created_at=job.created_at,
        ended_at=job.ended_at,
    )


def _checkpoint(attempt: Attempt, id_: int) -> Checkpoint:
    at = attempt.created_at
    return Checkpoint(
        job_id=attempt.job_id,
        attempt=attempt,
        checkpoint_id=id_,
        started_at=at,
        completed_at=at,
        duration=100,
        offsets={"topic": {str(n): id_ * 1000 for n in range(4)}},
        phases={"planning": 20, "processing": 100, "commit": 30},
    )


def _event(attempt: Attempt, number: int) -> Event:
    kinds = list(Event.Kind)
    return Event(
        job_id=attempt.job_id,
        attempt=attempt,
        at=attempt.created_at + timedelta(seconds=number),
        kind=kinds[number % len(kinds)],
        message="something happened",
    )


def _savepoint(attempt: Attempt) -> Savepoint:
    return Savepoint(
        job_id=attempt.job_id,
        attempt=attempt,
        job_name="ended",
        state=SavepointState.COMPLETED,
        path=f"/nowhere/{attempt.pk}",
        requested_by_name="alice",
        created_at=attempt.created_at,
    )


def _alert(rule: AlertRule, job: Job) -> Alert:
    return Alert(
        rule=rule, job=job, state=AlertState.RESOLVED, since=job.created_at, summary="it had failed"
    )
