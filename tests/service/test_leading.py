"""What a JobManager does by itself while it leads, step by step and by a clock of the test."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.utils import timezone

from jobs import actions, attempts, leases, savepoints, taskmanagers
from jobs.models import Attempt, Event, Job, Lease
from jobs.states import AttemptState, JobState, TaskManagerState, change_state
from workers.jobmanager import JobManager

pytestmark = pytest.mark.django_db

A_WHILE_AGO = timezone.now() - timedelta(days=1)


class Clock(SimpleNamespace):
    """Stands in for the module `time`."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now

    time = monotonic


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("workers.jobmanager.time", clock)
    return clock


def test_who_leads_again_listens_before_it_counts_anyone_as_lost(clock: Clock) -> None:
    silent = taskmanagers.register("tm", "here", 1, 1, 1024)
    jobmanager = JobManager("one")
    jobmanager.tick()
    listen(jobmanager, clock, times=3)

    Lease.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    between = leases.take(leases.JOBMANAGER, "two")
    assert between is not None
    clock.now += 2
    jobmanager.tick()  # deposed
    assert not jobmanager.leads
    leases.give_up(between)
    jobmanager.tick()
    assert jobmanager.leads
    listen(jobmanager, clock, times=1)

    silent.refresh_from_db()
    assert silent.state == TaskManagerState.REGISTERED
    listen(jobmanager, clock, times=10)
    silent.refresh_from_db()
    assert silent.state == TaskManagerState.LOST


def test_events_of_a_job_that_only_waits_are_kept_up_to_a_number(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "EVENTS", 10)
    settings = {"slot.request.timeout": "1 ms", "restart-strategy.type": "fixed-delay"}
    settings |= {"restart-strategy.fixed-delay.attempts": "1000"}
    job = actions.submit("waits", (b"pass\n", "program.py"), configuration=settings)
    jobmanager = JobManager("one")

    for _ in range(40):
        Job.objects.update(restart_at=timezone.now(), state_changed_at=A_WHILE_AGO)
        jobmanager.tick()

    job.refresh_from_db()
    assert job.restarts > 10
    assert job.events.count() < 20


def test_events_of_no_job_are_kept_up_to_a_number(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "EVENTS_OF_NO_JOB", 10)
    Event.objects.bulk_create(Event(kind=Event.Kind.SCHEDULE, message="?") for _ in range(50))
    jobmanager = JobManager("one")

    jobmanager.tick()

    assert Event.objects.count() <= 10
    Event.objects.bulk_create(Event(kind=Event.Kind.SCHEDULE, message="?") for _ in range(50))
    clock.now += 3600
    jobmanager.tick()
    assert Event.objects.count() <= 10


def test_slots_for_a_move_are_kept_only_with_the_request_to_leave(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = taskmanagers.register("tm", "here", 1, 2, 2048)
    job = actions.submit("moves", (b"pass\n", "program.py"), parallelism=2)
    jobmanager = JobManager("one")
    jobmanager.tick()
    attempt = runs(job)
    taskmanagers.drain(old)
    taskmanagers.register("other", "here", 2, 2, 2048)

    with monkeypatch.context() as patched:
        patched.setattr(savepoints, "trigger", killed)
        with pytest.raises(Killed):
            jobmanager.tick()
    assert set(job.slots.values_list("taskmanager__name", flat=True)) == {"tm"}

    jobmanager.tick()
    assert job.upgrades.get().savepoint.attempt == attempt
    assert job.slots.filter(taskmanager__name="other").count() == 2


def test_a_job_that_cannot_be_placed_keeps_no_other_from_its_slots(clock: Clock) -> None:
    taskmanagers.register("tm", "here", 1, 2, 2048)
    bad = actions.submit("bad", (b"pass\n", "program.py"))
    good = actions.submit("good", (b"pass\n", "program.py"))
    Job.objects.filter(pk=bad.pk).update(configuration={"headrace.priority": "urgent"})

    JobManager("one").tick()

    good.refresh_from_db()
    assert good.current_attempt == 1
    bad.refresh_from_db()
    assert bad.state == JobState.CREATED
    assert bad.waiting_for.startswith("cannot be placed: headrace.priority: 'urgent'")


def test_a_tick_that_fails_ends_no_jobmanager(monkeypatch: pytest.MonkeyPatch) -> None:
    jobmanager = JobManager("one")
    ticks = []

    def tick() -> None:
        ticks.append(len(ticks))
        if len(ticks) == 2:
            jobmanager.stop()
        raise RuntimeError("nobody thought of this")

    monkeypatch.setattr(jobmanager, "tick", tick)
    jobmanager.run()

    assert ticks == [0, 1]


class Killed(BaseException):
    pass


def killed(*_: object, **__: object) -> None:
    raise Killed


def runs(job: Job) -> Attempt:
    """Its driver says so."""
    job.refresh_from_db()
    attempt = job.attempts.get(number=job.current_attempt)
    change_state(attempt, AttemptState.DEPLOYING)
    change_state(attempt, AttemptState.RUNNING)
    change_state(job, JobState.RUNNING)
    return attempt


def listen(jobmanager: JobManager, clock: Clock, times: int) -> None:
    """Of four, and somewhat more, one who is silent is lost."""
    for _ in range(times):
        clock.now += settings.HEADRACE_HEARTBEAT_TIMEOUT / 4
        jobmanager.tick()
