"""A miniature of Spark's micro-batch engine: a commit log, tasks one after the other, one driver.

Run as a process of its own, `python -m tests.kafka.engine <plan.json>`, so that a test can kill
it at a crash mark and start it again. Batch b gives partition p of every sink the records
`<b>-<p>-<i>`, each time the same, so the right output of a run is known.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from headrace.connectors.kafka import steps
from headrace.connectors.kafka.committer import Committer
from headrace.connectors.kafka.messages import Resume, TaskIdentity
from headrace.connectors.kafka.settings import DeliveryGuarantee, SinkSettings
from headrace.connectors.kafka.writer import Prepared, open_writer

ROOT = Path(__file__).parent.parent.parent
RECORDS = 5
#: A run takes two; what hangs is to fail before pytest ends the test.
TIMEOUT_SECONDS = 400


@dataclass(frozen=True)
class Crash:
    """Get this signal at the nth time that the step is reached in the batch; -1 is recovery."""

    step: str
    batch: int = 2
    nth: int = 1
    signal: str = "SIGKILL"


@dataclass(frozen=True)
class Plan:
    servers: str
    directory: str
    #: Topic per exactly-once sink.
    topics: dict[str, str]
    prefix: str
    batches: int = 4
    partitions: int = 3
    transaction_timeout_ms: int = 900_000
    crash: Crash | None = None
    #: Records that a batch has more than it had before: an engine that breaks its promise.
    surplus: int = 0

    @property
    def home(self) -> Path:
        return Path(self.directory)

    def sinks(self) -> list[SinkSettings]:
        return [
            SinkSettings(
                name=name,
                bootstrap_servers=self.servers,
                topic=topic,
                guarantee=DeliveryGuarantee.EXACTLY_ONCE,
                transactional_id_prefix=self.prefix,
                transaction_timeout_ms=self.transaction_timeout_ms,
            )
            for name, topic in self.topics.items()
        ]

    def values(self, batch: int, partition: int) -> list[str]:
        return [f"{batch}-{partition}-{i}" for i in range(RECORDS + partition + self.surplus)]

    def all_values(self) -> list[str]:
        """What each sink's topic must hold in the end."""
        return sorted(
            value
            for batch in range(self.batches)
            for partition in range(self.partitions)
            for value in self.values(batch, partition)
        )


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
        done = max((int(path.name) for path in self.commits.iterdir()), default=None)
        committer = Committer(self.plan.sinks(), self.plan.home)
        steps.listen(self._at)
        found = committer.recover(completed=done)
        self.recovered = found.counts()
        resume: Resume = pickle.loads(pickle.dumps(found.resume))
        for batch in range(0 if done is None else done + 1, self.plan.batches):
            self.batch = batch
            self.reached.clear()
            self._batch(resume)
            (self.commits / str(self.batch)).touch()

    def _batch(self, resume: Resume) -> None:
        messages: list[Prepared | None] = []
        committer = Committer(self.plan.sinks(), self.plan.home, resume)
        resume = replace(resume, ended=committer.ended())
        try:
            for partition in range(self.plan.partitions):
                for sink in self.plan.sinks():
                    messages.append(self._task(sink, partition, resume))
            # As in Spark, the commit gets nothing but what can be pickled.
            committer.commit(self.batch, pickle.loads(pickle.dumps(messages)))
        except Exception:
            committer.abort(self.batch, messages)
            raise

    def _task(self, sink: SinkSettings, partition: int, resume: Resume) -> Prepared | None:
        writer = open_writer(sink, TaskIdentity(self.batch, partition), resume)
        for value in self.plan.values(self.batch, partition):
            writer.write([{"key": str(partition).encode(), "value": value.encode()}])
        return writer.prepare()

    def _at(self, step: steps.Step) -> None:
        with self.counting:
            nth = self.reached[step] = self.reached.get(step, 0) + 1
        crash = self.plan.crash
        if crash and (crash.step, crash.batch, crash.nth) == (step.value, self.batch, nth):
            os.kill(os.getpid(), signal.Signals[crash.signal])


@contextmanager
def started(plan: Plan) -> Iterator[subprocess.Popen[bytes]]:
    """The engine in a process of its own, in its own group; killed at the end if it still runs."""
    plan.home.mkdir(parents=True, exist_ok=True)
    path = plan.home / "plan.json"
    path.write_text(json.dumps(asdict(plan)))
    (plan.home / "ended.json").unlink(missing_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.kafka.engine", str(path)],
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
