"""What a user wishes while the JobManager decides, from rows it read before, is not undone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import pytest
from django.utils import timezone

from jobs import actions, attempts, taskmanagers
from jobs.models import Attempt, Job
from jobs.states import AttemptState, JobState, Wanted, change_state
from workers.jobmanager import JobManager
from workers.round import Round
from workers.word import Word

pytestmark = pytest.mark.django_db


@pytest.fixture
def ended() -> Attempt:
    """Of a job that runs; nobody has acted on its end yet."""
    row = taskmanagers.register("tm", "here", 1, 1, 1024)
    job = actions.submit("job", (b"pass\n", "job.py"))
    change_state(job, JobState.CREATED)
    attempt = attempts.begin(job, row.pk, [row.slot_set.get().pk])
    now = timezone.now()
    Attempt.objects.update(state=AttemptState.FAILED, error="boom", ended_at=now)
    Job.objects.update(state=JobState.RUNNING, restarts_in_a_row=3, failure_times=[1, 2, 3])
    attempt.refresh_from_db()
    return attempt


def acts_late(attempt: Attempt, wish: Callable[[Job], Job]) -> Job:
    """The JobManager reads, the user wishes, the JobManager steps."""
    seen = Job.objects.get(), Attempt.objects.select_related("taskmanager").get()
    wish(Job.objects.get())
    Round(nullcontext, lambda: None, Word())._step(*seen)
    return Job.objects.get()


def test_a_restart_by_hand_beats_the_end_of_the_job(ended: Attempt) -> None:
    Attempt.objects.update(restartable=False, cause="final")

    job = acts_late(ended, actions.restart)

    assert (job.state, job.restart_of) == (JobState.RUNNING, 1)
    JobManager("jobmanager").tick()
    assert Job.objects.get().state not in (JobState.FAILING, JobState.FAILED)


def test_a_restart_by_hand_costs_no_restart(ended: Attempt) -> None:
    job = acts_late(ended, actions.restart)

    assert (job.restarts, job.restarts_in_a_row, job.failure_times) == (0, 0, [])
    assert Attempt.objects.get().verdict == ""
    JobManager("jobmanager").tick()
    job = Job.objects.get()
    assert (job.restarts, job.restarts_in_a_row, job.restart_of) == (0, 0, None)


def test_a_resume_beats_the_suspension_that_came_before(ended: Attempt) -> None:
    Attempt.objects.update(state=AttemptState.SUSPENDED, command=Attempt.Command.SUSPEND)
    Job.objects.update(wanted=Wanted.SUSPENDED)

    job = acts_late(ended, actions.resume)

    assert (job.state, job.wanted, job.current_attempt) == (JobState.RUNNING, Wanted.RUNNING, 1)
    JobManager("jobmanager").tick()
    assert Job.objects.get().state in (JobState.RESTARTING, JobState.CREATED)
