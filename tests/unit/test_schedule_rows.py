"""What is kept of the times of a schedule."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction

from jobs import schedules
from jobs.models import Job, Schedule, ScheduledRun
from jobs.states import JobState
from workers import schedules as leader

pytestmark = pytest.mark.django_db


@pytest.fixture
def row(monkeypatch: pytest.MonkeyPatch) -> Schedule:
    monkeypatch.setattr(schedules, "RUNS", 3)
    return schedules.create("minutely", (b"pass\n", "program.py"), cron="* * * * *")


def pass_minutes(row: Schedule, count: int) -> None:
    for _ in range(count):
        row.refresh_from_db()
        assert row.next_run_at is not None
        leader.settle(row.next_run_at + timedelta(seconds=1), transaction.atomic)


def test_that_a_job_still_runs_is_not_forgotten(row: Schedule) -> None:
    pass_minutes(row, 6)

    job = Job.objects.get()
    assert schedules.going(row) == job
    outcomes = list(row.runs.values_list("outcome", flat=True))
    assert outcomes == [*[ScheduledRun.Outcome.SKIPPED] * 3, ScheduledRun.Outcome.STARTED]

    Job.objects.update(state=JobState.FINISHED)
    pass_minutes(row, 1)

    assert Job.objects.count() == 2
    assert row.runs.count() == 4
    assert not row.runs.filter(job=job).exists()
