"""JobManager, TaskManager and Redis may go and come back; running drivers do not notice."""

from __future__ import annotations

import os
import signal

from headrace.wire import journal
from jobs import actions
from jobs.models import Attempt, Event, Job, TaskManager
from jobs.states import JobState, TaskManagerState
from tests.service.conftest import Cluster, attempt_of, batches, driver_of, heartbeats

#: Of the newest checkpoints each has a row.
UNTHINNED = 100


def test_killed_taskmanager_comes_back_and_adopts_its_driver(cluster: Cluster) -> None:
    cluster.environment["HEADRACE_PROPERTIES"] = heartbeats(timeout=5)
    cluster.start_jobmanager()
    cluster.start_taskmanager()
    job = cluster.wait(cluster.submit(), JobState.RUNNING)
    attempt = attempt_of(job, 1)
    cluster.until(lambda: job.checkpoints.count() > 2)

    cluster.kill("tm")
    cluster.until(lambda: TaskManager.objects.get().state == TaskManagerState.LOST)
    cluster.wait(job, JobState.RECONCILING)
    cluster.until(lambda: "It does not move" in Job.objects.get(pk=job.pk).waiting_for)
    recorded, made = job.checkpoints.count(), len(batches(job))
    cluster.until(lambda: len(batches(job)) > made + 5)
    assert job.checkpoints.count() == recorded
    cluster.start_taskmanager()
    cluster.wait(job, JobState.RUNNING)
    _end(cluster, job)

    assert job.attempts.count() == 1
    assert {pid for _, pid in batches(job)} == {attempt.pid}
    _assert_each_event_recorded_once(job, attempt)


def test_driver_that_ended_while_its_taskmanager_was_away(own: Cluster) -> None:
    job = own.wait(own.submit(), JobState.RUNNING)
    attempt = attempt_of(job, 1)
    own.kill("tm")
    os.kill(attempt.pid or 0, signal.SIGKILL)

    own.start_taskmanager()
    own.until(lambda: job.attempts.count() == 2)
    own.wait(job, JobState.RUNNING)

    attempt.refresh_from_db()
    assert (attempt.state, attempt.exit_code) == ("FAILED", None)
    _assert_each_event_recorded_once(job, attempt, ended=False)


def test_taskmanager_killed_again_and_again_doubles_nothing(own: Cluster) -> None:
    job = own.wait(own.submit("--pause", "0.01"), JobState.RUNNING)
    attempt = attempt_of(job, 1)

    for _ in range(3):
        made = len(batches(job))
        own.until(lambda made=made: len(batches(job)) > made + 50)  # type: ignore[misc]
        own.kill("tm")
        own.start_taskmanager()
        seen = job.checkpoints.count()
        own.until(lambda seen=seen: job.checkpoints.count() > seen)  # type: ignore[misc]
    _end(own, job)

    _assert_each_event_recorded_once(job, attempt)


def test_killed_jobmanager_goes_on_where_it_was(own: Cluster) -> None:
    job = own.wait(own.submit(), JobState.RUNNING)
    attempt = attempt_of(job, 1)

    own.kill("jobmanager")
    second = own.submit()
    os.kill(attempt.pid or 0, signal.SIGKILL)
    own.until(lambda: Attempt.objects.get(pk=attempt.pk).state == "FAILED")
    assert Job.objects.get(pk=second.pk).state == JobState.INITIALIZING
    own.start_jobmanager()
    own.until(lambda: job.attempts.count() == 2)
    own.wait(job, JobState.RUNNING)
    own.wait(second, JobState.RUNNING)

    assert job.attempts.count() == 2
    assert second.attempts.count() == 1


def test_jobs_run_and_are_steered_without_redis(cluster: Cluster) -> None:
    cluster.redis_url = "redis://127.0.0.1:1/0"
    cluster.start_jobmanager()
    cluster.start_taskmanager()

    job = cluster.wait(cluster.submit(), JobState.RUNNING)
    actions.cancel(job)
    cluster.wait(job, JobState.CANCELED)


def test_stopped_taskmanager_leaves_and_its_driver_runs_on(own: Cluster) -> None:
    job = own.wait(own.submit(), JobState.RUNNING)

    own.kill("tm", signal.SIGTERM)

    told = Event.objects.filter(kind=Event.Kind.TASKMANAGER)
    assert told.filter(message=f"TaskManager tm: {TaskManagerState.LEFT.label.lower()}").exists()
    own.wait(job, JobState.RECONCILING)
    assert driver_of(attempt_of(job, 1)).is_alive()
    own.start_taskmanager()
    own.wait(job, JobState.RUNNING)


def _end(cluster: Cluster, job: Job) -> None:
    actions.suspend(job)
    cluster.wait(job, JobState.SUSPENDED)


def _assert_each_event_recorded_once(job: Job, attempt: Attempt, *, ended: bool = True) -> None:
    entries = list(journal.read(driver_of(attempt).run_dir, limit=100_000))
    attempt.refresh_from_db()
    assert attempt.journal_number == entries[-1].number
    checkpoints = [e.event.checkpoint_id for e in entries if e.event.KIND == "checkpoint"]  # type: ignore[attr-defined]
    kept = job.checkpoints.filter(attempt=attempt).order_by("checkpoint_id")
    rows = list(kept.values_list("checkpoint_id", flat=True))
    assert rows[-UNTHINNED:] == checkpoints[-UNTHINNED:]
    assert set(rows) <= set(checkpoints)
    assert len(rows) == len(set(rows))
    told = job.events.filter(attempt=attempt, kind=Event.Kind.ATTEMPT)
    assert told.filter(message__startswith="driver started").count() == 1
    assert told.filter(message__startswith="attempt 1 runs").count() == 1
    if ended:
        assert told.filter(message="attempt 1: driver suspended").count() == 1
