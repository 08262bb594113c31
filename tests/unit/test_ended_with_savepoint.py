"""A job that was stopped with a savepoint stays stopped, however its driver ended behind it."""

from __future__ import annotations

import pytest
from django.utils import timezone

from headrace.wire import events
from jobs import actions, attempts, savepoints
from jobs.models import Attempt, Job, Savepoint
from jobs.states import AttemptState, JobState
from workers import views
from workers.decisions import Again, Change, next_step

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt() -> Attempt:
    job = actions.submit("job", (b"pass\n", "program.py"))
    Job.objects.filter(pk=job.pk).update(state=JobState.RUNNING, current_attempt=1)
    return Attempt.objects.create(job=job, number=1, state=AttemptState.RUNNING.value)


def asked(attempt: Attempt, then: Savepoint.Then) -> Savepoint:
    row = savepoints.trigger(attempt.job, then=then)
    savepoints.sent(row)
    return row


def dies(attempt: Attempt) -> object:
    """What follows when its driver is killed."""
    attempts.end(attempt)
    attempt.refresh_from_db()
    assert attempt.state == AttemptState.FAILED
    attempt.job.refresh_from_db()
    return next_step(views.of(attempt.job, attempt, timezone.now()))


def made(attempt: Attempt, row: Savepoint) -> None:
    savepoints.completed(attempt, events.SavepointCompleted(row.pk, row.path, 7, 100))


@pytest.mark.parametrize(
    ("then", "state"),
    [
        (Savepoint.Then.FINISH, JobState.FINISHED),
        (Savepoint.Then.CANCEL, JobState.CANCELLING),
    ],
)
def test_a_driver_that_is_killed_behind_it(
    attempt: Attempt, then: Savepoint.Then, state: JobState
) -> None:
    made(attempt, asked(attempt, then))
    step = dies(attempt)
    assert isinstance(step, Change)
    assert step.target is state


def test_a_driver_that_is_killed_before_it(attempt: Attempt) -> None:
    row = asked(attempt, Savepoint.Then.FINISH)
    assert isinstance(dies(attempt), Again)
    row.refresh_from_db()
    assert row.state == "FAILED"


def test_one_that_the_job_ran_on_from(attempt: Attempt) -> None:
    made(attempt, asked(attempt, Savepoint.Then.RUN))
    assert isinstance(dies(attempt), Again)
