"""The processes of the benchmark: database, Redis, JobManager, TaskManagers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks import processes
from benchmarks.control import driver
from workers.embedded import ports, redis

ROOT = Path(__file__).parents[2]
#: Its imports beyond the standard library's would cost more than the driver itself.
DRIVER = (sys.executable, "-S", "-P", driver.__file__)
STOP_SECONDS = 60.0


@dataclass(frozen=True)
class Cluster:
    home: Path
    #: The database, as a report names it.
    database: str
    jobmanager: subprocess.Popen[bytes]
    taskmanagers: subprocess.Popen[bytes]
    #: The database server's first process, if it has any.
    server: int | None

    @property
    def notes(self) -> Path:
        return self.home / "ticks.jsonl"

    def cpu_seconds(self) -> dict[str, float]:
        """Used so far, by who."""
        roots = {
            "JobManager": self.jobmanager.pid,
            "TaskManagers and drivers": self.taskmanagers.pid,
            **({"database": self.server} if self.server is not None else {}),
        }
        return {name: processes.cpu_seconds(pid) for name, pid in roots.items()}


@contextmanager
def environment(home: Path, *, sqlite: bool) -> Iterator[int | None]:
    """A database and a Redis of its own, named in the environment for this process and those that
    it starts; the database server's pid. Before Django is set up."""
    with ExitStack() as stack:
        port = ports.free()
        server = redis.start(home / "redis", port)
        stack.callback(redis.stop, server)
        url, pid = f"sqlite:///{home}/db.sqlite3", None
        if not sqlite:
            url, pid = stack.enter_context(_postgresql())
        os.environ.update(
            HEADRACE_HOME=str(home),
            DATABASE_URL=url,
            REDIS_URL=redis.url(port),
            HEADRACE_DRIVER_COMMAND=",".join(DRIVER),
            HEADRACE_SPARK_JARS="",
            HEADRACE_LOG_LEVEL="WARNING",
            DJANGO_SETTINGS_MODULE="config.settings",
            PYTHONPATH=os.pathsep.join([str(ROOT), str(ROOT / "platform")]),
        )
        yield pid


@contextmanager
def _postgresql() -> Iterator[tuple[str, int]]:
    """The machine's own, as the tests start it."""
    from tests.twophase import postgresql

    with postgresql.running("max_connections=300", "shared_buffers=256MB") as server:
        url = f"postgres://{server.user}:{server.password}@127.0.0.1:{server.port}/{server.user}"
        with server.connect() as connection:
            pid = psutil.Process(connection.info.backend_pid).ppid()
        yield url, pid


@contextmanager
def running(home: Path, taskmanagers: int, slots: int, server: int | None) -> Iterator[Cluster]:
    """A JobManager and its TaskManagers. When a round does not come to its end, neither drivers
    nor what the processes complained of are left behind."""
    with ExitStack() as stack:
        stack.callback(_end_drivers)
        leader = stack.enter_context(_module(home, "jobmanager", str(home / "ticks.jsonl")))
        others = stack.enter_context(_module(home, "taskmanagers", str(taskmanagers), str(slots)))
        database = "PostgreSQL" if server is not None else "SQLite"
        try:
            yield Cluster(home, database, leader, others, server)
        except BaseException:
            for path in home.glob("*.log"):
                print(f"--- {path.name}\n{path.read_text()[-4000:]}", file=sys.stderr)
            raise


def _end_drivers() -> None:
    from jobs.models import Attempt
    from jobs.states import AttemptState
    from workers import drivers

    for attempt in Attempt.objects.filter(state__in=AttemptState.live()):
        drivers.Driver(Path(attempt.run_dir)).kill()


@contextmanager
def _module(home: Path, name: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", f"benchmarks.control.{name}", *arguments]
    with (home / f"{name}.log").open("ab") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, cwd=ROOT, start_new_session=True
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
