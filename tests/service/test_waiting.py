"""A job that asks for more slots than there are waits, says why, and starts when it can."""

from __future__ import annotations

from jobs import actions
from jobs.models import Event, Job, Slot
from jobs.states import JobState
from tests.service.conftest import Cluster


def test_job_waits_for_slots_that_do_not_exist(running: Cluster) -> None:
    small = running.wait(running.submit(), JobState.RUNNING)
    big = running.submit(parallelism=4)

    running.until(lambda: _waits(big) != "")
    assert _waits(big) == (
        "needs 4 slots; 2 exist, 1 free. It cannot run on what is registered: "
        "the job waits until TaskManagers with more slots register."
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


def test_slot_sharing_groups_take_slots_of_their_own(running: Cluster) -> None:
    job = running.wait(running.submit("--groups", "2"), JobState.RUNNING)
    other = running.submit()

    running.until(lambda: "needs 1 slot; 2 exist, 0 free" in _waits(other))
    assert Slot.objects.filter(job=job).count() == 2
    assert [row.state for row in job.attempts.order_by("number")] == ["SUSPENDED", "RUNNING"]
    assert job.restarts == 0


def test_waiting_job_can_be_cancelled(running: Cluster) -> None:
    job = running.submit(parallelism=9)
    running.until(lambda: _waits(job) != "")

    actions.cancel(job)
    running.wait(job, JobState.CANCELED)

    assert not job.attempts.exists()
    assert job.waiting_for == ""


def test_the_queue_is_in_order_of_priority(running: Cluster) -> None:
    first = running.wait(running.submit(parallelism=2), JobState.RUNNING)
    late = running.submit(parallelism=2)
    running.until(lambda: _waits(late) != "")
    urgent = running.submit(parallelism=2, configuration={"headrace.priority": "5"})
    running.until(lambda: _waits(urgent).endswith("Place 1 of 2 in the queue."))
    running.until(lambda: _waits(late).endswith("Place 2 of 2 in the queue."))

    actions.cancel(first)
    running.wait(urgent, JobState.RUNNING)

    assert late.state == JobState.CREATED


def test_a_job_that_waits_for_too_long_fails_by_its_strategy(running: Cluster) -> None:
    settings = {"slot.request.timeout": "100 ms", "restart-strategy.type": "none"}
    job = running.wait(running.submit(parallelism=9, configuration=settings), JobState.FAILED)

    failure = job.events.get(kind=Event.Kind.FAILURE)
    assert "no slots within slot.request.timeout (0.1 s): needs 9 slots; 2 exist" in failure.message
    assert not job.attempts.exists()


def test_a_job_that_may_wait_again_keeps_its_place(running: Cluster) -> None:
    settings = {"slot.request.timeout": "100 ms"}
    job = running.submit(parallelism=9, configuration=settings)
    running.until(lambda: job.events.filter(kind=Event.Kind.FAILURE).count() > 1)
    job.refresh_from_db()
    queued_at = job.queued_at

    running.start_taskmanager("huge", slots=9)
    running.wait(job, JobState.RUNNING)

    assert queued_at is not None
    assert job.queued_at is None
    assert job.restarts > 0


def _waits(job: Job) -> str:
    job.refresh_from_db()
    return job.waiting_for
