"""Runs a job's program in a real driver process, as a TaskManager would."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest

from headrace.wire import commands, events, journal, rundir
from headrace.wire.spec import JobSpec

#: A driver on a busy machine of two cores needs most of it to start Spark.
TIMEOUT_SECONDS = 600.0


@dataclass
class DrivenJob:
    """One job: a folder for its checkpoint, and a run directory for each attempt."""

    folder: Path
    jars: list[Path]
    entry: Path
    arguments: list[str] = field(default_factory=list)
    kafka: str = "127.0.0.1:1"
    configuration: dict[str, str] = field(default_factory=dict)
    parallelism: int = 2
    memory_mib: int = 2700
    #: The savepoint that its first attempt begins with: `savepoint.Restore`.
    restore: dict[str, Any] = field(default_factory=dict)
    #: Spark's; local unless given.
    master: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    attempts: int = 0
    process: subprocess.Popen[bytes] | None = None
    job_id: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def run_dir(self) -> Path:
        return self.folder / "runs" / str(self.attempts)

    def start(self) -> None:
        """The next attempt, from the job's checkpoint."""
        self.attempts += 1
        self.run_dir.mkdir(parents=True)
        JobSpec(
            job_id=self.job_id,
            name=self.entry.stem,
            attempt=self.attempts,
            entry=str(self.entry),
            arguments=self.arguments,
            parallelism=self.parallelism,
            master=self.master or f"local[{self.parallelism}]",
            memory_mib=self.memory_mib,
            checkpoint_dir=str(self.folder / "checkpoint"),
            jars=[str(jar) for jar in self.jars],
            kafka_bootstrap_servers=self.kafka,
            restore=self.restore,
            configuration=self.configuration,
        ).write(self.run_dir)
        with (self.run_dir / rundir.LOG).open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "headrace.runtime.driver", str(self.run_dir)],
                stdout=log,
                stderr=log,
                env={**os.environ, **self.environment},
                start_new_session=True,
            )

    def wait(self, timeout: float = TIMEOUT_SECONDS) -> int:
        """Exit code of the attempt."""
        assert self.process is not None
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            pytest.fail(f"the driver still runs after {timeout} s\n{self.log()[-3000:]}")

    def until(self, condition: Callable[[], bool], timeout: float = TIMEOUT_SECONDS) -> None:
        """Until the condition holds; fails when the driver ends before."""
        assert self.process is not None
        deadline = time.monotonic() + timeout
        while not condition():
            if self.process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"driver {self.process.poll()}\n{self.log()[-3000:]}")
            time.sleep(0.1)

    def kill(self) -> None:
        """SIGKILL, to the driver alone: its JVM and workers have to find out themselves."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def savepoint(self, directory: Path, name: str, **options: Any) -> None:
        """Ask the driver for one; the answer is an event."""
        wish = commands.SavepointOptions(uuid.uuid4().hex, str(directory), name, **options)
        send = commands.Command(f"savepoint-{wish.savepoint_id}", "savepoint", asdict(wish))
        commands.send(self.run_dir, send)

    def terminate(self) -> None:
        assert self.process is not None
        self.process.terminate()

    def end(self) -> None:
        """Whatever of the attempt still runs is killed."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def events(self, kind: type[events.Event] | None = None) -> list[Any]:
        found = [entry.event for entry in journal.read(self.run_dir, limit=1_000_000)]
        return [event for event in found if kind is None or isinstance(event, kind)]

    def log(self) -> str:
        return (self.run_dir / rundir.LOG).read_text(errors="replace")

    def run(self) -> int:
        self.start()
        return self.wait()


@pytest.fixture
def drive(tmp_path: Path, jars: list[Path]) -> Iterator[Callable[..., DrivenJob]]:
    """Makes DrivenJobs; none outlives the test."""
    made: list[DrivenJob] = []

    def make(entry: Path | str, *arguments: str, **settings: Any) -> DrivenJob:
        if isinstance(entry, str):
            path = tmp_path / f"job_{len(made)}.py"
            path.write_text(entry)
            entry = path
        job = DrivenJob(tmp_path / str(len(made)), jars, entry, list(arguments), **settings)
        made.append(job)
        return job

    yield make
    for job in made:
        job.end()
