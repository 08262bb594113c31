"""A miniature of Spark's micro-batch engine whose job has a topic, files and a table as sinks.

Run as a process of its own, `python -m tests.twophase.engine <plan.json>`, so that a test can
kill it at any step of the protocol and start it again. Batch b gives partition p of every sink
the values `<b>-<p>-<i>`, each time the same, so the right output of a run is known.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from headrace.common import Encoder
from headrace.connectors.files.buckets import BucketAssigner
from headrace.connectors.files.formats import RowFormat
from headrace.connectors.files.sink import FilesSink
from headrace.connectors.kafka.settings import DeliveryGuarantee, SinkSettings
from headrace.connectors.postgres.settings import PostgresSettings
from headrace.connectors.postgres.sink import PostgresSink
from headrace.connectors.twophase import steps
from headrace.connectors.twophase.messages import Resume, TaskIdentity
from headrace.connectors.twophase.ownership import OwnerStore
from headrace.connectors.twophase.participant import Message
from headrace.runtime import outputs
from headrace.runtime.outputs import KafkaOutput, Output, TwoPhaseOutput

ROOT = Path(__file__).parent.parent.parent
RECORDS = 5
TIMEOUT_SECONDS = 400


@dataclass(frozen=True)
class Crash:
    """SIGKILL, or another signal, at the nth time that the step is reached. Before the first
    batch the engine's batch is -1."""

    step: str
    batch: int = 1
    nth: int = 1
    signal: str = "SIGKILL"


@dataclass(frozen=True)
class Plan:
    directory: str
    servers: str
    topic: str
    prefix: str
    postgres: dict[str, Any]
    table: str
    batches: int = 3
    partitions: int = 3
    crash: Crash | None = None

    @property
    def home(self) -> Path:
        return Path(self.directory)

    @property
    def files(self) -> Path:
        return self.home / "output"

    def kafka(self) -> SinkSettings:
        return SinkSettings(
            name="topic",
            bootstrap_servers=self.servers,
            topic=self.topic,
            guarantee=DeliveryGuarantee.EXACTLY_ONCE,
            transactional_id_prefix=self.prefix,
        )

    def outputs(self) -> dict[int, Output]:
        job = OwnerStore(self.home).job()
        files = FilesSink(
            str(self.files),
            RowFormat(Encoder.simple_string_encoder()),
            BucketAssigner.base_path_bucket_assigner(),
            part_size=30,
        )
        table = PostgresSink(
            PostgresSettings(**self.postgres),
            f"INSERT INTO {self.table} (value) VALUES (?)",
            transactional_id_prefix=self.prefix,
        )
        return {
            1: KafkaOutput(self.kafka(), "topic", _record),
            2: TwoPhaseOutput(files, "files", job),
            3: TwoPhaseOutput(table, "table", job),
        }

    def values(self, batch: int, partition: int) -> list[str]:
        return [f"{batch}-{partition}-{i}" for i in range(RECORDS + partition)]

    def all_values(self) -> list[str]:
        """What each sink must hold in the end."""
        return sorted(
            value
            for batch in range(self.batches)
            for partition in range(self.partitions)
            for value in self.values(batch, partition)
        )


def _record(timestamp: int | None, value: Any) -> dict[str, Any]:
    return {"value": str(value).encode()}


@dataclass
class Ended:
    """How a run of the engine ended. `error` is the class of what its driver raised."""

    code: int
    error: str = ""
    message: str = ""
    recovered: dict[str, int] = field(default_factory=dict)


class Engine:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.commits = plan.home / "commits"
        self.commits.mkdir(parents=True, exist_ok=True)
        self.batch = -1
        self.reached: dict[steps.Step, int] = {}
        #: Steps are reached in several threads.
        self.counting = threading.Lock()
        self.recovered: dict[str, int] = {}

    def run(self) -> None:
        steps.listen(self._at)
        done = max((int(path.name) for path in self.commits.iterdir()), default=None)
        committer = outputs.committer(self.plan.outputs(), self.plan.home)
        found = committer.recover(completed=done)
        self.recovered = found.counts()
        for batch in range(0 if done is None else done + 1, self.plan.batches):
            self.batch = batch
            self.reached.clear()
            self._run_batch(found.resume)
            (self.commits / str(self.batch)).touch()

    def _run_batch(self, resume: Resume) -> None:
        """As in Spark, the commit gets nothing but what can be pickled, and what tasks prepared
        is aborted when another one fails."""
        committer = outputs.committer(self.plan.outputs(), self.plan.home, resume)
        messages: list[Message | None] = []
        try:
            for partition in range(self.plan.partitions):
                for output in self.plan.outputs().values():
                    messages.append(self._task(output, partition, resume))
        except BaseException:
            committer.abort(self.batch, messages)
            raise
        committer.commit(self.batch, pickle.loads(pickle.dumps(messages)))

    def _task(self, output: Output, partition: int, resume: Resume) -> Message | None:
        writer = output.open_writer(TaskIdentity(self.batch, partition, partition), resume)
        try:
            writer.write([(None, value) for value in self.plan.values(self.batch, partition)])
            return writer.prepare()
        except BaseException:
            writer.abort()
            raise

    def _at(self, step: steps.Step) -> None:
        with self.counting:
            nth = self.reached[step] = self.reached.get(step, 0) + 1
        crash = self.plan.crash
        if crash and (crash.step, crash.batch, crash.nth) == (step.value, self.batch, nth):
            os.kill(os.getpid(), signal.Signals[crash.signal])


@contextmanager
def started(plan: Plan) -> Iterator[subprocess.Popen[bytes]]:
    """The engine in a process of its own, in its own group; killed at the end if it still runs."""
    path = plan.home / "plan.json"
    path.write_text(json.dumps(asdict(plan)))
    (plan.home / "ended.json").unlink(missing_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.twophase.engine", str(path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}"},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def ended(plan: Plan, process: subprocess.Popen[bytes]) -> Ended:
    code = process.wait(TIMEOUT_SECONDS)
    path = plan.home / "ended.json"
    return Ended(code, **json.loads(path.read_text())) if path.exists() else Ended(code)


def run(plan: Plan) -> Ended:
    with started(plan) as process:
        return ended(plan, process)


def wait_until_paused(pid: int) -> None:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while psutil.Process(pid).status() != psutil.STATUS_STOPPED:
        assert time.monotonic() < deadline, "the engine did not get to its crash mark"
        time.sleep(0.05)


def wake(pid: int) -> None:
    os.kill(pid, signal.SIGCONT)


def main() -> int:
    values = json.loads(Path(sys.argv[1]).read_text())
    crash = values.pop("crash")
    engine = Engine(Plan(**values, crash=Crash(**crash) if crash else None))
    error = message = ""
    try:
        engine.run()
    except Exception as problem:
        error, message = type(problem).__name__, str(problem)
    (engine.plan.home / "ended.json").write_text(
        json.dumps({"error": error, "message": message, "recovered": engine.recovered})
    )
    return 1 if error else 0


if __name__ == "__main__":
    sys.exit(main())
