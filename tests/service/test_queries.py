"""What the JobManager and the TaskManagers ask of the database: by an index, and as little for many
jobs as for few."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import psutil
import pytest
from django.apps import apps
from django.conf import settings
from django.utils import timezone

from benchmarks.control import history
from headrace.wire import events, journal, rundir
from jobs import attempts, leases, savepoints, taskmanagers
from jobs.models import (
    AlertChannel,
    AlertRule,
    Attempt,
    Job,
    JobManagerProcess,
    Lease,
    Schedule,
    Slot,
    TaskManager,
)
from jobs.states import AttemptState, JobState, Wanted, change_state
from tests.service import plans
from tests.service.pages import make_attempt, make_checkpoint, make_failure, make_job
from workers import jobmanager as jobmanager_module
from workers.jobmanager import JobManager
from workers.listening import Listening
from workers.supervisor import Limits, Supervisor

pytestmark = pytest.mark.django_db
LONG = timedelta(hours=1)
LATER = timezone.now() + 24 * LONG
#: Attributes that say when something was done last.
PERIODIC = {"_evaluated", "_looked", "_renewed"}
#: With a row for each that there is, not for each that there ever was.
BOUNDED = {TaskManager, Slot, Lease, JobManagerProcess, AlertRule, AlertChannel, Schedule}
GROWING = {model._meta.db_table for model in apps.get_app_config("jobs").get_models()} - {
    model._meta.db_table for model in BOUNDED
}


@pytest.fixture(autouse=True)
def long_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a JobManager that has led for a while, and leads on however slow the test is."""
    monkeypatch.setattr(Listening, "silent", silent)
    monkeypatch.setattr(leases, "LENGTH", LONG)


def silent(_: Listening, now: float, heartbeats: dict[int, datetime], timeout: float) -> set[int]:
    return {pk for pk, beat in heartbeats.items() if timezone.now() - beat > LONG}


@pytest.fixture
def process(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Stands for a driver."""
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    started = subprocess.Popen(command, start_new_session=True)
    yield started
    started.kill()
    started.wait()


def test_no_query_of_the_jobmanager_reads_a_growing_table_whole() -> None:
    history.fill(jobs=30, checkpoints=5)
    jobmanager = leading()
    here, drained = register("here", 20), register("drained", 4)
    taskmanagers.drain(drained)
    for state in (JobState.INITIALIZING, JobState.RESTARTING, JobState.SUSPENDED):
        make_job(state.label, state)
    run(here, 4)
    run(drained, 2)
    wait(3)
    failing, cancelled, finished, unlaunched = run(here, 4)
    end(failing, AttemptState.FAILED)
    Job.objects.filter(pk=cancelled.job_id).update(wanted=Wanted.CANCELED)
    end(finished, AttemptState.FINISHED)
    Attempt.objects.filter(pk=unlaunched.pk).update(state=AttemptState.CREATED)
    lost = register("lost", 1)
    run(lost, 1)
    TaskManager.objects.filter(pk=lost.pk).update(last_heartbeat=timezone.now() - 10 * LONG)

    with plans.recorded() as statements:
        for _ in range(3):
            jobmanager.tick()

    assert len(statements) > 50
    assert plans.read_whole(statements, GROWING) == set()
    assert Job.objects.get(pk=finished.job_id).state == JobState.FINISHED
    assert Job.objects.get(attempts__taskmanager=lost).state == JobState.RECONCILING


def test_no_query_of_a_taskmanager_reads_a_growing_table_whole(
    process: subprocess.Popen[bytes],
) -> None:
    history.fill(jobs=30, checkpoints=5)
    here = register("here", 3)
    supervisor = supervise(here)
    running, failed, asked = run(here, 3)
    for attempt in (running, failed, asked):
        driver(attempt, process)
    say(running, *(batch(n) for n in range(498, 503)))  # 500 of them: old rows are thinned out
    say(failed, events.Failed("an error", "Traceback"))
    savepoints.trigger(asked.job)
    attempts.ask(asked, Attempt.Command.SUSPEND)

    with plans.recorded() as statements:
        supervisor.tick()
        process.kill()
        process.wait()
        supervisor.tick()

    assert len(statements) > 20
    assert plans.read_whole(statements, GROWING) == set()
    assert Job.objects.get(pk=running.job_id).checkpoints.count() == 5
    assert not Attempt.objects.filter(taskmanager=here, state__in=AttemptState.live()).exists()


@dataclass(frozen=True)
class Crowd:
    """So many jobs that are all in the same place."""

    name: str
    make: Callable[[int], object]


CROWDS = (
    Crowd("running", lambda number: run(register("here", 50), number)),
    Crowd("waiting", lambda number: wait(number)),
    Crowd("restarting", lambda number: wait(number, JobState.RESTARTING, restart_at=LATER)),
    Crowd("moving", lambda number: run(drained(register("here", 50)), number)),
    Crowd("out of reach", lambda number: run(left(register("here", 50)), number)),
    Crowd("late", lambda number: [late(attempt) for attempt in run(register("a", 50), number)]),
)


@pytest.mark.parametrize("crowd", CROWDS, ids=lambda crowd: crowd.name)
def test_many_jobs_take_as_many_queries_of_the_jobmanager_as_few(crowd: Crowd) -> None:
    history.fill(jobs=1)
    jobmanager = leading()
    asked = []
    for number in (3, 20):
        Job.objects.filter(ended_at=None).delete()
        TaskManager.objects.all().delete()
        crowd.make(number)
        jobmanager.tick()  # what is new is written
        for each in (jobmanager._alerts, jobmanager):  # what is done now and then is done now
            vars(each).update(dict.fromkeys(vars(each).keys() & PERIODIC, float("-inf")))
        with plans.recorded() as statements:
            jobmanager.tick()
        asked.append(statements)

    few, many = asked
    assert len(many) == len(few) < 25, "\n".join(sql for sql, _ in many)


def test_the_lease_is_renewed_before_each_job_that_is_launched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jobmanager = leading()
    register("here", 3)
    jobs = [make_job(state=JobState.CREATED) for _ in range(3)]
    renewals = []
    renew = leases.renew
    monkeypatch.setattr(jobmanager_module, "RENEW_SECONDS", -1)
    monkeypatch.setattr(leases, "renew", lambda held: (renewals.append(held), renew(held)))

    jobmanager.tick()

    assert Attempt.objects.filter(job__in=jobs).count() == len(jobs)
    assert len(renewals) == 1 + 2 * len(jobs)  # at first, and before its decision and its launch


def test_many_silent_drivers_take_as_many_queries_of_their_taskmanager_as_few(
    process: subprocess.Popen[bytes],
) -> None:
    here = register("here", 20)
    supervisor = supervise(here)
    counts = []
    for number in (2, 8):
        for attempt in run(here, number):
            driver(attempt, process)
        supervisor.tick()
        with plans.recorded() as statements:
            supervisor.tick()
        counts.append(len(statements))

    assert counts[0] == counts[1] <= 5


def test_batches_take_few_writes_of_their_taskmanager(process: subprocess.Popen[bytes]) -> None:
    here = register("here", 1)
    supervisor = supervise(here)
    (attempt,) = run(here, 1)
    driver(attempt, process)
    supervisor.tick()
    with plans.recorded() as silent:
        supervisor.tick()
    say(attempt, batch(1), batch(2))

    with plans.recorded() as statements:
        supervisor.tick()

    kept = [sql for sql, _ in statements if "jobs_historychunk" in sql]
    others = [sql for sql, _ in statements if sql not in kept]
    written = [sql.split()[0] for sql in others if not sql.startswith("SELECT")]
    # How far it is read, its rows, its job, its figures.
    assert written == ["UPDATE", "INSERT", "UPDATE", "INSERT"]
    assert len(others) == len(silent) + len(written)
    assert len(kept) <= 4  # for the first of a minute
    assert attempt.job.checkpoints.count() == 2


# --- rows ---


def leading() -> JobManager:
    jobmanager = JobManager("leader")
    jobmanager.tick()
    assert jobmanager.leads
    return jobmanager


def supervise(taskmanager: TaskManager) -> Supervisor:
    """It beats once, with its first tick, and waits for slow drivers however slow the test is."""
    limits = Limits(driver=3600, stop=3600)
    return Supervisor(taskmanager, limits=limits, clock=lambda: 0.0)


def register(name: str, slots: int) -> TaskManager:
    return taskmanagers.register(name, "here", os.getpid(), slots, slots * 2000)


def drained(taskmanager: TaskManager) -> TaskManager:
    taskmanagers.drain(taskmanager)
    return taskmanager


def left(taskmanager: TaskManager) -> TaskManager:
    taskmanagers.leave(taskmanager)
    return taskmanager


def run(taskmanager: TaskManager, number: int) -> list[Attempt]:
    """So many running jobs on it."""
    free = Slot.objects.filter(taskmanager=taskmanager, job=None).order_by("index")
    found = []
    for slot in free[:number]:
        job = make_job(current_attempt=1, progressed_at=timezone.now())
        attempt = make_attempt(job, run_dir=settings.HEADRACE_RUNS / job.pk / "1")
        Attempt.objects.filter(pk=attempt.pk).update(taskmanager=taskmanager)
        Slot.objects.filter(pk=slot.pk).update(job=job)
        found.append(attempt)
    assert len(found) == number
    return found


def wait(number: int, state: JobState = JobState.CREATED, **values: object) -> list[Job]:
    """So many jobs for which there are too few slots."""
    now = timezone.now()
    return [make_job(state=state, parallelism=1000, queued_at=now, **values) for _ in range(number)]


def late(attempt: Attempt) -> None:
    """Its job's checkpoints have failed since the last."""
    make_checkpoint(attempt, 1, age=60)
    make_failure(attempt, "an error")


def end(attempt: Attempt, state: AttemptState) -> None:
    assert change_state(attempt, state, error="an error")


def driver(attempt: Attempt, process: subprocess.Popen[bytes]) -> None:
    """The files of a driver that runs."""
    run_dir = Path(attempt.run_dir)
    run_dir.mkdir(parents=True)
    (run_dir / rundir.HEARTBEAT).touch()
    me = {"pid": process.pid, "started_at": psutil.Process(process.pid).create_time()}
    (run_dir / rundir.PROCESS).write_text(json.dumps(me))


def say(attempt: Attempt, *told: events.Event) -> None:
    writer = journal.JournalWriter(Path(attempt.run_dir))
    for event in told:
        writer.append(event, durable=False)
    writer.close()


def batch(number: int) -> events.CheckpointCompleted:
    return events.CheckpointCompleted(number, 1_000_000, 20)
