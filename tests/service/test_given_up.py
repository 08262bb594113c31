"""What a driver said of its end counts, though its machine was lost before anybody saw it."""

from __future__ import annotations

import pytest

from jobs import actions, attempts, taskmanagers
from jobs.models import Attempt, Event, Job
from jobs.states import AttemptState, JobState, change_state
from workers.jobmanager import JobManager

pytestmark = pytest.mark.django_db
ENDS = [
    ("finished", AttemptState.FINISHED, "", JobState.FINISHED),
    ("failed", AttemptState.FAILED, "final", JobState.FAILED),
    ("suspended", AttemptState.SUSPENDED, "", JobState.RESTARTING),
    ("", AttemptState.FAILED, "lost", JobState.RESTARTING),
]


@pytest.fixture
def lost() -> Attempt:
    """It ran on a TaskManager that is lost."""
    row = taskmanagers.register("tm", "here", 1, 1, 1024)
    job = actions.submit("job", (b"pass\n", "job.py"))
    change_state(job, JobState.CREATED)
    attempt = attempts.begin(job, row.pk, [row.slot_set.get().pk])
    taskmanagers.lose(row)
    Attempt.objects.update(state=AttemptState.RUNNING)
    Job.objects.update(state=JobState.RECONCILING)
    return Attempt.objects.select_related("taskmanager").get(pk=attempt.pk)


@pytest.mark.parametrize(("outcome", "end", "cause", "state"), ENDS)
def test_the_attempt_ends_as_its_driver_said(
    lost: Attempt, outcome: str, end: AttemptState, cause: str, state: JobState
) -> None:
    if outcome:  # recorded since the JobManager looked
        said = {"error": "boom", "cause": cause, "restartable": False} if cause else {}
        Attempt.objects.update(outcome=outcome, **said)

    assert attempts.abandon(lost, AttemptState.FAILED)

    lost.refresh_from_db()
    assert (lost.state, lost.cause, lost.abandoned) == (end, cause, True)
    told = Event.objects.filter(kind=Event.Kind.FAILURE)
    assert [event.message for event in told] == ([lost.error] if cause else [])
    JobManager("jobmanager").tick()
    assert Job.objects.get().state == state
