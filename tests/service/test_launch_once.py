"""However often a launch is delivered, and whoever delivers it, there is one driver."""

from __future__ import annotations

import datetime
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from django import db
from django.utils import timezone

from headrace.wire import journal, spec
from jobs import actions, attempts, taskmanagers
from jobs.models import Attempt, Job, Slot, TaskManager
from jobs.states import AttemptState, JobState, change_state
from tests.processes import command_line
from tests.service.conftest import FAKE_DRIVER, driver_of
from workers import drivers, specs
from workers.supervisor import RUN_DIRS, Limits, Supervisor

COMMAND = [sys.executable, str(FAKE_DRIVER)]


@pytest.fixture
def attempt(transactional_db: None, settings: object) -> Iterator[Attempt]:
    settings.HEADRACE_SPARK_JARS = []  # type: ignore[attr-defined]
    job = actions.submit("job", (b"pass\n", "job.py"))
    row = taskmanagers.register("tm", "here", 1, 1, 1024)
    change_state(job, JobState.CREATED)
    attempt = attempts.begin(job, row.pk, [row.slot_set.get().pk])
    yield attempt
    driver_of(attempt).kill()


def supervisor(attempt: Attempt) -> Supervisor:
    assert attempt.taskmanager is not None
    return Supervisor(attempt.taskmanager, COMMAND, Limits(driver=30, stop=30))


def drivers_running(attempt: Attempt) -> list[int]:
    return [
        process.pid
        for process in psutil.process_iter()
        if _runs(process, attempt.run_dir) and "launcher.py" not in command_line(process)
    ]


def _runs(process: psutil.Process, run_dir: str) -> bool:
    try:
        return run_dir in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_launch_delivered_to_many_at_once(attempt: Attempt) -> None:
    barrier = threading.Barrier(4)

    def deliver() -> None:
        mine = supervisor(Attempt.objects.get(pk=attempt.pk))
        barrier.wait()
        try:
            for _ in range(5):
                mine.tick()
        finally:
            db.connection.close()

    threads = [threading.Thread(target=deliver) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    own = supervisor(attempt)
    _tick_until(own, attempt, AttemptState.RUNNING)

    assert len(drivers_running(attempt)) == 1
    kinds = [entry.event.KIND for entry in journal.read(Path(attempt.run_dir))]
    assert kinds.count("started") == 1


def test_killed_between_deciding_and_launching(attempt: Attempt) -> None:
    """DEPLOYING, and nothing was started: the next incarnation starts it."""
    attempts.deploy(attempt)

    _tick_until(supervisor(attempt), attempt, AttemptState.RUNNING)

    assert len(drivers_running(attempt)) == 1


def test_killed_between_launching_and_knowing(attempt: Attempt) -> None:
    """DEPLOYING, and the driver runs: the next incarnation finds it by its run directory."""
    attempts.deploy(attempt)
    specs.of(attempt).write(Path(attempt.run_dir))
    drivers.Driver(Path(attempt.run_dir)).launch([*COMMAND, attempt.run_dir])

    _tick_until(supervisor(attempt), attempt, AttemptState.RUNNING)

    assert len(drivers_running(attempt)) == 1
    assert attempt.pid == drivers_running(attempt)[0]


def test_driver_that_cannot_be_started_fails_the_attempt(attempt: Attempt) -> None:
    assert attempt.taskmanager is not None
    broken = Supervisor(attempt.taskmanager, ["/no/such/program"], Limits(30, 30))

    _tick_until(broken, attempt, AttemptState.FAILED)

    assert "ended without a word" in attempt.error or "could not be" in attempt.error


def test_damaged_journal_ends_the_attempt_with_the_reason(attempt: Attempt) -> None:
    own = supervisor(attempt)
    _tick_until(own, attempt, AttemptState.RUNNING)
    with (Path(attempt.run_dir) / "journal.jsonl").open("ab") as file:
        file.write(b"\x00 not json\n")

    _tick_until(own, attempt, AttemptState.FAILED)

    assert "damaged line" in attempt.error
    assert drivers_running(attempt) == []


def test_a_driver_gets_its_time_to_end_whatever_the_clock_of_who_asked_says(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    Job.objects.update(arguments=["--deaf"])
    own = Supervisor(TaskManager.objects.get(), COMMAND, Limits(30, 30), clock=lambda: now)
    _tick_until(own, attempt, AttemptState.RUNNING)
    long_ago = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
    Attempt.objects.update(command=Attempt.Command.CANCEL, command_at=long_ago)
    killed: list[drivers.Driver] = []
    with monkeypatch.context() as patched:
        patched.setattr(drivers.Driver, "kill", lambda driver: killed.append(driver))
        own.tick()
        assert killed == []
        now += 31
        own.tick()

    assert [driver.run_dir for driver in killed] == [Path(attempt.run_dir)]


def test_stray_driver_of_an_attempt_that_was_given_up_is_killed(attempt: Attempt) -> None:
    own = supervisor(attempt)
    _tick_until(own, attempt, AttemptState.RUNNING)
    attempts.ask(attempt, Attempt.Command.CANCEL)
    attempts.abandon(attempt, AttemptState.CANCELED)

    supervisor(attempt)

    driver = driver_of(attempt)
    _wait_gone(driver)
    assert not driver.remains()


def test_stray_driver_is_killed_by_a_taskmanager_that_was_paused_past_its_timeout(
    attempt: Attempt,
) -> None:
    """It does not know yet that it was lost, and that its job has moved."""
    own = supervisor(attempt)
    _tick_until(own, attempt, AttemptState.RUNNING)
    assert taskmanagers.lose(TaskManager.objects.get())
    attempts.abandon(attempt, AttemptState.FAILED)
    own._next_beat = 0.0

    own.tick()

    driver = driver_of(attempt)
    _wait_gone(driver)
    assert not driver.remains()
    assert TaskManager.objects.get().state == "REGISTERED"


@pytest.mark.parametrize("days", [0, 30])
def test_stray_driver_is_killed_though_its_taskmanager_was_back_before_it_was_given_up(
    attempt: Attempt, days: int
) -> None:
    """The JobManager wrote what it had decided a moment before the TaskManager came back, or long
    ago, on a machine that was cut off since."""
    own = supervisor(attempt)
    _tick_until(own, attempt, AttemptState.RUNNING)
    own._next_beat = 0.0
    own.tick()
    ended = timezone.now() - datetime.timedelta(days=days)
    change_state(attempt, AttemptState.CANCELED, abandoned=True)
    Attempt.objects.filter(pk=attempt.pk).update(ended_at=ended)
    own._next_beat = 0.0

    own.tick()

    driver = driver_of(attempt)
    _wait_gone(driver)
    assert not driver.remains()


def test_an_attempt_that_was_given_up_while_it_was_launched_is_not_launched(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    def given_up(attempt: Attempt) -> spec.JobSpec:
        """The TaskManager stands still for a while, here."""
        attempts.abandon(Attempt.objects.get(pk=attempt.pk), AttemptState.FAILED)
        return told(attempt)

    told = specs.of
    monkeypatch.setattr(specs, "of", given_up)
    own = supervisor(attempt)
    own.tick()
    (driver,) = own._drivers.values()

    assert driver._popen is not None
    driver._popen.wait(120)
    _wait_gone(driver)
    assert not driver.remains()
    attempt.refresh_from_db()
    assert (attempt.state, attempt.abandoned) == ("FAILED", True)


def test_a_taskmanager_that_is_back_keeps_its_attempts(attempt: Attempt) -> None:
    row = TaskManager.objects.get()
    assert taskmanagers.lose(row)
    seen = Attempt.objects.select_related("taskmanager").get()
    taskmanagers.beat(row)

    assert not attempts.abandon(seen, AttemptState.FAILED)

    attempt.refresh_from_db()
    assert (attempt.state, attempt.abandoned) == ("CREATED", False)


def test_run_directories_of_long_ended_attempts_go(attempt: Attempt) -> None:
    attempts.end(attempt)
    Path(attempt.run_dir).mkdir(parents=True)
    Job.objects.update(current_attempt=None)
    for number in range(2, RUN_DIRS + 1):
        Attempt.objects.create(job=attempt.job, number=number, run_dir="", state="FAILED")
    latest = attempts.begin(attempt.job, attempt.taskmanager_id or 0, [Slot.objects.get().pk])

    _tick_until(supervisor(attempt), latest, AttemptState.RUNNING)

    assert latest.number == RUN_DIRS + 1
    assert not Path(attempt.run_dir).exists()
    driver_of(latest).kill()


def _tick_until(supervisor: Supervisor, attempt: Attempt, state: AttemptState) -> None:
    pause = threading.Event()
    for _ in range(200):
        supervisor.tick()
        attempt.refresh_from_db()
        if attempt.state == state:
            return
        pause.wait(0.05)
    pytest.fail(f"{attempt.state}, not {state}: {attempt.error}")


def _wait_gone(driver: drivers.Driver) -> None:
    pause = threading.Event()
    for _ in range(100):
        if not driver.remains():
            return
        pause.wait(0.05)
