"""Cancel, suspend, resume and restart reach the driver and end in the state asked for."""

from __future__ import annotations

from django.contrib.auth.models import User

from jobs import actions
from jobs.models import Event, Slot
from jobs.states import JobState
from tests.service.conftest import Cluster, attempt_of, batches, driver_of


def test_cancel_ends_the_job_between_batches(running: Cluster, alice: User) -> None:
    job = running.wait(running.submit(), JobState.RUNNING)

    actions.cancel(job, alice)
    running.wait(job, JobState.CANCELED)

    attempt = attempt_of(job, 1)
    assert (attempt.state, attempt.exit_code) == ("CANCELED", 0)
    assert not driver_of(attempt).remains()
    assert not Slot.objects.exclude(job=None).exists()
    assert job.events.get(kind=Event.Kind.ACTION).message == "cancel by alice"
    assert job.events.filter(message="driver carries out cancel").count() == 1


def test_driver_that_ignores_cancel_is_killed(cluster: Cluster) -> None:
    cluster.environment["HEADRACE_STOP_TIMEOUT"] = "1"
    cluster.start_jobmanager()
    cluster.start_taskmanager()
    job = cluster.wait(cluster.submit("--deaf", "--child"), JobState.RUNNING)

    actions.cancel(job)
    cluster.wait(job, JobState.CANCELED)

    attempt = attempt_of(job, 1)
    assert attempt.state == "CANCELED"
    assert not driver_of(attempt).remains()
    assert job.events.filter(message__contains="without confirming it").exists()


def test_suspended_job_goes_on_from_its_checkpoint(running: Cluster, alice: User) -> None:
    job = running.wait(running.submit(), JobState.RUNNING)
    running.until(lambda: job.checkpoints.count() > 2)

    actions.suspend(job, alice)
    running.wait(job, JobState.SUSPENDED)
    assert not Slot.objects.exclude(job=None).exists()
    done = len(batches(job))
    actions.resume(job, alice)
    running.wait(job, JobState.RUNNING)
    running.until(lambda: len(batches(job)) > done + 2)

    assert attempt_of(job, 1).state == "SUSPENDED"
    assert attempt_of(job, 2).restored_checkpoint == done
    checkpoints = [checkpoint for checkpoint, _ in batches(job)]
    assert checkpoints == list(range(1, len(checkpoints) + 1))
    assert job.restarts == 0


def test_restart_by_hand_follows_with_another_attempt(running: Cluster, alice: User) -> None:
    job = running.wait(running.submit(), JobState.RUNNING)
    running.until(lambda: job.checkpoints.count() > 2)

    actions.restart(job, alice)
    running.until(lambda: job.attempts.count() == 2)
    running.wait(job, JobState.RUNNING)

    assert attempt_of(job, 1).state == "SUSPENDED"
    assert job.restarts == 0
    assert job.restart_of is None


def test_canceled_job_is_started_again_from_its_checkpoint(running: Cluster) -> None:
    job = running.wait(running.submit(), JobState.RUNNING)
    running.until(lambda: job.checkpoints.count() > 2)
    actions.cancel(job)
    running.wait(job, JobState.CANCELED)
    done = len(batches(job))

    actions.restart(job)
    running.wait(job, JobState.RUNNING)

    assert attempt_of(job, 2).restored_checkpoint == done
    assert job.ended_at is None


def test_platform_stops_all_jobs_and_lets_its_own_go_on(running: Cluster, alice: User) -> None:
    mine = running.wait(running.submit(), JobState.RUNNING)
    other = running.wait(running.submit(), JobState.RUNNING)
    actions.suspend(mine, alice)
    running.wait(mine, JobState.SUSPENDED)

    assert actions.suspend_all() == 1
    running.wait(other, JobState.SUSPENDED)
    assert actions.resume_all() == 1
    running.wait(other, JobState.RUNNING)

    mine.refresh_from_db()
    assert mine.state == JobState.SUSPENDED
