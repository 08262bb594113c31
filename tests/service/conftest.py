"""A control plane of real processes: JobManager, TaskManagers, drivers that speak the journal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import override_settings
from pytest_django import DjangoDbBlocker, Settings

from jobs import actions
from jobs.models import Attempt, Job
from jobs.states import Ends, JobState
from workers import drivers

ROOT = Path(__file__).parents[2]
FAKE_DRIVER = Path(__file__).with_name("fake_driver.py")
PROGRAM = b"print('never run by the control plane')\n"


def heartbeats(timeout: int) -> str:
    """Settings. Who is silent for so many seconds is lost: on a machine that is busy with other
    things, writers of SQLite may wait for 20."""
    return f"heartbeat.interval: 1 s\nheartbeat.timeout: {timeout} s"


@dataclass
class Cluster:
    """Processes of one test; all are ended, and drivers killed, at its end."""

    logs: Path
    redis_url: str
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)

    def start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.logs / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, str(ROOT / "manage.py"), *arguments],
                stdout=log,
                stderr=log,
                env=self.variables,
                start_new_session=True,
            )
        self.processes[name] = process
        return process

    @property
    def variables(self) -> dict[str, str]:
        """The environment of its processes."""
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": f"sqlite:///{connection.settings_dict['NAME']}",
            "REDIS_URL": self.redis_url,
            "HEADRACE_DRIVER_COMMAND": f"{sys.executable},{FAKE_DRIVER}",
            "HEADRACE_SPARK_JARS": "",
            "HEADRACE_PROPERTIES": heartbeats(timeout=60),
            "HEADRACE_DRIVER_TIMEOUT": "120",
            **self.environment,
        }

    def start_jobmanager(self, name: str = "jobmanager") -> subprocess.Popen[bytes]:
        return self.start(name, "jobmanager", "--name", name)

    def start_taskmanager(self, name: str = "tm", slots: int = 2) -> subprocess.Popen[bytes]:
        return self.start(name, "taskmanager", "--name", name, "--slots", str(slots))

    def kill(self, name: str, number: signal.Signals = signal.SIGKILL) -> None:
        process = self.processes.pop(name)
        process.send_signal(number)
        process.wait(120)

    def stop_all(self) -> None:
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(60)
        for attempt in Attempt.objects.all():
            drivers.Driver(Path(attempt.run_dir)).kill()

    def submit(
        self,
        *arguments: str,
        parallelism: int = 1,
        configuration: Mapping[str, str] | None = None,
    ) -> Job:
        entry = (PROGRAM, "program.py")
        return actions.submit("job", entry, arguments, parallelism, configuration)

    def wait(self, job: Job, *states: JobState, timeout: float = 400) -> Job:
        """The job once it is in one of the states."""

        def there() -> bool:
            job.refresh_from_db()
            return job.state in states

        self.until(there, timeout, lambda: f"{job.state} ({job.waiting_for}), not {states}")
        return job

    def until(
        self,
        condition: Callable[[], bool],
        timeout: float = 400,
        what: Callable[[], str] = lambda: "condition not met",
    ) -> None:
        deadline = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > deadline:
                pytest.fail(f"after {timeout} s: {what()}\n{self.log_tails()}")
            time.sleep(0.05)

    def log_tails(self) -> str:
        paths = [*self.logs.glob("*.log"), *settings.HEADRACE_RUNS.glob("*/*/driver.log")]
        return "\n".join(f"--- {path}\n{path.read_text()[-2000:]}" for path in paths[:6])


@pytest.fixture
def cluster(
    transactional_db: None, redis_url: str, tmp_path: Path, settings: Settings
) -> Iterator[Cluster]:
    """Of its own for one test, with nothing started yet."""
    settings.REDIS_URL = redis_url
    cluster = Cluster(tmp_path, redis_url)
    yield cluster
    cluster.stop_all()


@pytest.fixture
def own(cluster: Cluster) -> Cluster:
    """Of its own, with a JobManager and a TaskManager of two slots: for tests that kill them."""
    cluster.start_jobmanager()
    cluster.start_taskmanager()
    return cluster


@pytest.fixture(scope="module")
def shared(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    redis_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Cluster]:
    """As `own`, for all tests of a module: use it through `running`."""
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), redis_url)
    with django_db_blocker.unblock(), override_settings(REDIS_URL=redis_url):
        cluster.start_jobmanager()
        cluster.start_taskmanager()
        yield cluster
        cluster.stop_all()
        call_command("flush", interactive=False, verbosity=0)


@pytest.fixture
def running(shared: Cluster) -> Iterator[Cluster]:
    """A JobManager and a TaskManager of two slots, none of them taken."""
    yield shared
    _end_jobs(shared)
    for name in shared.processes.keys() - {"jobmanager", "tm"}:
        shared.kill(name, signal.SIGTERM)
    User.objects.all().delete()


def _end_jobs(cluster: Cluster) -> None:
    for job in Job.objects.filter(state__in=[*JobState.live(), JobState.SUSPENDED]):
        cluster.until(lambda job=job: _cancelled(job))  # type: ignore[misc]
    for job in Job.objects.all():
        cluster.wait(job, *(state for state in JobState if state.ends is Ends.FOR_GOOD))


def _cancelled(job: Job) -> bool:
    try:
        actions.cancel(job)
    except actions.Conflict:  # it changed this moment, or has ended
        return JobState(job.state).ends is Ends.FOR_GOOD
    return True


@pytest.fixture
def alice() -> User:
    """May submit jobs."""
    return User.objects.create_user("alice", password="alice-password", is_staff=True)


def attempt_of(job: Job, number: int) -> Attempt:
    return job.attempts.get(number=number)


def driver_of(attempt: Attempt) -> drivers.Driver:
    return drivers.Driver(Path(attempt.run_dir))


def batches(job: Job) -> list[tuple[int, int]]:
    """(checkpoint, pid of the driver that made it), in order, as the drivers wrote them."""
    path = settings.HEADRACE_CHECKPOINTS / job.pk / "batches.log"
    return [tuple(map(int, line.split())) for line in path.read_text().splitlines()]  # type: ignore[misc]
