"""Where a job runs: on a laptop by `python job.py`, or launched by the platform."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from headrace.runtime.checkpoint_requests import CheckpointRequests
from headrace.runtime.savepoint_requests import SavepointRequests
from headrace.wire import events
from headrace.wire.savepoint import Restore
from headrace.wire.spec import RUN_DIR_VARIABLE, JobSpec

#: Jar files for Spark's class path when no platform gives them: paths joined by os.pathsep.
JARS_VARIABLE = "HEADRACE_SPARK_JARS"


class Reporter(Protocol):
    """Who hears of the job's events."""

    def report(self, event: events.Event) -> None: ...


class NoReporter:
    """On a laptop nobody listens."""

    def report(self, event: events.Event) -> None:
        pass


@dataclass
class StopRequest:
    """Asks a run to end between two micro-batches. Set by a signal or a command."""

    #: "" until asked, then "canceled", "suspended" or "finished".
    reason: str = ""
    asked: threading.Event = field(default_factory=threading.Event)

    def ask(self, reason: str) -> None:
        if not self.asked.is_set():
            self.reason = reason
            self.asked.set()


@dataclass
class RunContext:
    """One run of one job. Paths exist; `checkpoint_dir` outlives the run on the platform."""

    job_id: str
    name: str
    attempt: int
    parallelism: int
    master: str
    memory_mib: int
    run_dir: Path
    checkpoint_dir: Path
    jars: list[str]
    configuration: dict[str, str]
    reporter: Reporter
    stop: StopRequest
    #: Savepoints that are asked for, and what the job began with.
    savepoints: SavepointRequests = field(default_factory=SavepointRequests)
    checkpoints: CheckpointRequests = field(default_factory=CheckpointRequests)
    restore: Restore | None = None
    #: Why the job failed, whatever its program does with the exception.
    failure: Exception | None = None
    #: Jobs that the program has run.
    jobs: int = 0
    #: Units of parallelism that it was given.
    slots: int = 1


class Waitable(Protocol):
    """A job that runs beside its program."""

    def wait(self) -> None: ...


_current: RunContext | None = None
_beside: list[Waitable] = []
#: The directories of runs without a platform, and whether they still run.
_laptop_runs: dict[Path, bool] = {}
_lock = threading.Lock()


def launched() -> RunContext | None:
    """The platform's context, if this process is a driver that it launched."""
    return _current


def use(context: RunContext) -> None:
    """Called once by the driver before it runs the job's program."""
    global _current
    _current = context


def keep(job: Waitable) -> None:
    """The job is waited for where its program ends first."""
    _beside.append(job)


def wait_for_jobs() -> None:
    """Until all jobs have ended that the program started and did not wait for."""
    while _beside:
        _beside.pop().wait()


def laptop_parallelism() -> int:
    return min(os.cpu_count() or 1, 4)


@contextmanager
def laptop(name: str, parallelism: int) -> Iterator[RunContext]:
    """A run without a platform: everything in a temporary directory, nothing kept. Runs at once
    share Spark's files, so the directories are removed with the last one."""
    folder = Path(tempfile.mkdtemp(prefix="headrace-"))
    with _lock:
        _laptop_runs[folder] = True
    try:
        yield _laptop(name, parallelism, folder)
    finally:
        with _lock:
            _laptop_runs[folder] = False
            if not any(_laptop_runs.values()):
                while _laptop_runs:
                    shutil.rmtree(_laptop_runs.popitem()[0], ignore_errors=True)


def _laptop(name: str, parallelism: int, run_dir: Path) -> RunContext:
    return RunContext(
        job_id=uuid.uuid4().hex,
        name=name,
        attempt=1,
        parallelism=parallelism,
        master=os.environ.get("SPARK_MASTER") or f"local[{parallelism}]",
        memory_mib=2700,
        slots=parallelism,
        run_dir=run_dir,
        checkpoint_dir=run_dir / "checkpoint",
        jars=_laptop_jars(),
        configuration={},
        reporter=NoReporter(),
        stop=StopRequest(),
    )


def for_run(name: str, parallelism: int) -> AbstractContextManager[RunContext]:
    """Where `execute` runs: what the platform gave this driver, else this machine."""
    return nullcontext(_current) if _current is not None else laptop(name, parallelism)


def platform(spec: JobSpec, run_dir: Path, reporter: Reporter) -> RunContext:
    """A run the platform launched."""
    os.environ[RUN_DIR_VARIABLE] = str(run_dir)
    return RunContext(
        job_id=spec.job_id,
        name=spec.name,
        attempt=spec.attempt,
        parallelism=spec.parallelism,
        master=spec.master,
        memory_mib=spec.memory_mib,
        slots=spec.slots or spec.parallelism,
        run_dir=run_dir,
        checkpoint_dir=Path(spec.checkpoint_dir),
        jars=spec.jars,
        configuration=spec.configuration,
        reporter=reporter,
        stop=StopRequest(),
        restore=Restore.of(spec.restore),
    )


def _laptop_jars() -> list[str]:
    return [path for path in os.environ.get(JARS_VARIABLE, "").split(os.pathsep) if path]
