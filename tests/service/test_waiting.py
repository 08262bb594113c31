"""A job that asks for more slots than there are waits, says why, and starts when it can."""

from __future__ import annotations

from jobs import actions
from jobs.models import Job, Slot
from jobs.states import JobState
from tests.service.conftest import Cluster


def test_job_waits_for_slots_that_do_not_exist(running: Cluster) -> None:
    small = running.wait(running.submit(), JobState.RUNNING)
    big = running.submit(parallelism=4)

    running.until(lambda: _waits(big) != "")
    assert _waits(big) == (
        "needs 4 slots; 2 exist, 1 free. The job waits until TaskManagers with more slots register."
    )
    assert big.state == JobState.CREATED
    assert not big.attempts.exists()
    running.start_taskmanager("bigger", slots=4)
    running.wait(big, JobState.RUNNING)

    assert _waits(big) == ""
    assert {slot.taskmanager.name for slot in Slot.objects.filter(job=big)} == {"bigger"}
    small.refresh_from_db()
    assert small.state == JobState.RUNNING


def test_job_waits_for_slots_that_others_hold(running: Cluster) -> None:
    first = running.wait(running.submit(parallelism=2), JobState.RUNNING)
    second = running.submit(parallelism=2)
    running.until(lambda: "until other jobs free theirs" in _waits(second))

    actions.cancel(first)
    running.wait(second, JobState.RUNNING)

    assert Slot.objects.filter(job=second).count() == 2


def test_waiting_job_can_be_cancelled(running: Cluster) -> None:
    job = running.submit(parallelism=9)
    running.until(lambda: _waits(job) != "")

    actions.cancel(job)
    running.wait(job, JobState.CANCELED)

    assert not job.attempts.exists()
    assert job.waiting_for == ""


def _waits(job: Job) -> str:
    job.refresh_from_db()
    return job.waiting_for
