"""Figures as a driver makes them, not as a test thinks them up."""

from __future__ import annotations

from dataclasses import fields

from django.utils import timezone

from headrace.runtime import plan
from jobs.models import Attempt, Job, JobFigures
from jobs.states import AttemptState
from tests.service.pages import make_job, make_taskmanager
from tests.unit.runtime import test_job_measures as driver


def job() -> Job:
    """One that has run some batches, with a source, a window and a sink."""
    driven = driver.Job()
    for batch in range(6):
        first = 500 * batch
        driven.batch(
            driver.part("t-0", *range(first, first + 500), waited=700, now=driven.now),
            driver.part("t-1", *range(first, first + 500), waited=900, now=driven.now),
            behind=max(0, 400 - 100 * batch),
        )
    told = driven.told()
    row = make_job(
        "driven",
        plan=plan.plan(driven.program),
        lag={"t": {"0": 100}},
        progressed_at=timezone.now(),
        timestamps={"RUNNING": 1},
    )
    taskmanager = make_taskmanager("tm-1", 2, row)
    Attempt.objects.create(
        **{"job": row, "number": 1, "run_dir": "/nowhere", "state": AttemptState.RUNNING},
        taskmanager=taskmanager,
        host=taskmanager.host,
    )
    JobFigures.objects.create(
        **{"job": row, "at": timezone.now(), "attempt": 1},
        figures={field.name: getattr(told, field.name) for field in fields(told)},
        checkpoint={"id": 6, "duration": 400, "size": 3 << 20, "rows": 10, "completed_at": 5},
    )
    return row
