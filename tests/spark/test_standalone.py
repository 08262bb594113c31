"""A job on a real Spark cluster of two workers, each with a slot of little memory: one is lost."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pyspark
import pytest

from headrace.connectors.files.staging import HIDDEN
from headrace.wire import events
from tests.chaos.processes import send
from tests.driving import TIMEOUT_SECONDS, DrivenJob
from tests.processes import command_line
from workers.embedded import ports

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
LOCAL = {"SPARK_LOCAL_IP": "127.0.0.1"}
KEYS = 5
#: Driver and two executors start Spark at once, on a machine that may be busy.
SECONDS = 600.0
#: Counts each number by key, from state, into files.
PROGRAM = f"""
import sys

from headrace.common import Encoder, Types, WatermarkStrategy
from headrace.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from headrace.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from headrace.datastream.connectors.file_system import FileSink
from headrace.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield f"{{ctx.get_current_key()}} {{count}}"


env = StreamExecutionEnvironment.get_execution_environment()
rate = RateLimiterStrategy.per_second(50)
source = DataGeneratorSource(lambda number: number, 1_000_000, rate, Types.LONG())
numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
counts = numbers.key_by(lambda number: number % {KEYS}).process(Count())
counts.sink_to(FileSink.for_row_format(sys.argv[1], Encoder.simple_string_encoder()).build())
env.execute("counts")
"""


@dataclass
class Standalone:
    """Spark's own master and workers, from pyspark's scripts."""

    folder: Path
    port: int = field(default_factory=ports.free)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._start("master", "master.Master", "--port", str(self.port))
        self._until_says("master", r"I have been elected leader", 1)
        for number in (1, 2):
            folder = self.folder / f"work-{number}"
            own = ["--cores", "1", "--memory", "600m", "--work-dir", str(folder), self.url]
            self._start(f"worker-{number}", "worker.Worker", *own)
        self._until_says("master", r"Registering worker", 2)

    def _start(self, name: str, main: str, *arguments: str) -> None:
        command = [str(SPARK_CLASS), f"org.apache.spark.deploy.{main}", "--host", "127.0.0.1"]
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [*command, "--webui-port", "0", *arguments],
                stdout=log,
                stderr=log,
                env={**os.environ, **LOCAL, "SPARK_DAEMON_MEMORY": "256m"},
                start_new_session=True,
            )

    def _until_says(self, name: str, words: str, times: int) -> None:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while len(re.findall(words, self.log(name))) < times:
            if time.monotonic() > deadline or self.processes[name].poll() is not None:
                pytest.fail(f"{name} does not say {words!r}:\n{self.log(name)[-2000:]}")
            time.sleep(0.1)

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def lose(self, name: str) -> int:
        """SIGKILL to a worker and its executors; how many executors it had."""
        root = psutil.Process(self.processes[name].pid)
        children = root.children(recursive=True)
        executors = [c for c in children if "CoarseGrainedExecutorBackend" in command_line(c)]
        send((root, *children), signal.SIGKILL)
        self.processes.pop(name).wait(240)
        return len(executors)

    def stop(self) -> None:
        """The workers before the master: an executor ends with its worker."""
        for name in sorted(self.processes, reverse=True):
            root = psutil.Process(self.processes[name].pid)
            send((*root.children(recursive=True), root), signal.SIGKILL)
            self.processes[name].wait(240)


@pytest.fixture
def standalone(tmp_path: Path) -> Iterator[Standalone]:
    (tmp_path / "spark").mkdir()
    cluster = Standalone(tmp_path / "spark")
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.mark.timeout(2000)
def test_a_job_goes_on_when_a_worker_is_lost(
    standalone: Standalone, drive: Callable[..., DrivenJob], tmp_path: Path
) -> None:
    job = drive(
        PROGRAM,
        str(tmp_path / "out"),
        master=standalone.url,
        parallelism=2,
        memory_mib=1200,
        environment=LOCAL,
    )
    job.start()
    job.until(lambda: _records(job) > 100, SECONDS)

    assert standalone.lose("worker-2") == 1
    before = _records(job)
    job.until(lambda: _records(job) > before + 200, SECONDS)
    job.terminate()
    assert job.wait(SECONDS) == 0, job.log()

    assert job.events()[-1] == events.Stopped("suspended")
    assert job.attempts == 1
    counts = _counts(tmp_path / "out")
    assert len(counts) == KEYS
    for key, found in counts.items():
        assert found == list(range(1, len(found) + 1)), f"key {key}: lost or twice"
    assert sum(map(len, counts.values())) == _records(job)
    launched = re.findall(r"Launching executor .* on worker", standalone.log("master"))
    assert len(launched) >= 2, "one for each slot"


def _records(job: DrivenJob) -> int:
    return sum(event.records_in for event in job.events(events.CheckpointCompleted))


def _counts(out: Path) -> dict[str, list[int]]:
    """What is committed, by key."""
    parts = [path for path in out.rglob("part-*") if HIDDEN not in path.parts]
    found: dict[str, list[int]] = {}
    for line in (line for path in parts for line in path.read_text().splitlines()):
        key, count = line.split()
        found.setdefault(key, []).append(int(count))
    return {key: sorted(counts) for key, counts in found.items()}
