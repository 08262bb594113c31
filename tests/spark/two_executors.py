"""One program, run in this process and on Spark: both have to give the same."""

from __future__ import annotations

import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace.common import Duration, TimestampAssigner, WatermarkStrategy
from headrace.datastream import DataStream, StreamExecutionEnvironment
from headrace.datastream.connectors.python_source import PythonSource
from headrace.runtime import executors
from headrace.runtime.context import NoReporter, RunContext, StopRequest
from headrace.runtime.sinks import CollectSink
from headrace.runtime.spark_offsets import SparkOffsets

#: For a job that does not end by itself; the machine may be busy.
PATIENCE = 600.0

#: Streams by name; what is compared.
Streams = dict[str, DataStream]
Build = Callable[[StreamExecutionEnvironment], Streams]
#: What each named stream gave, in its order.
Results = dict[str, list[Any]]


class Batches(PythonSource):
    """Each of the sequences is a micro-batch, whoever runs the job; in up to `parts` tasks."""

    def __init__(
        self, batches: Iterable[Sequence[Any]], parts: int = 1, bounded: bool = True
    ) -> None:
        self._batches = [list(batch) for batch in batches]
        self._parts = parts
        self.bounded = bounded

    def start(self) -> int:
        return 0

    def latest(self, position: int) -> int:
        return min(position + 1, len(self._batches))

    def pieces(self, start: int, end: int) -> list[list[Any]]:
        values = [value for batch in self._batches[start:end] for value in batch]
        return [part for n in range(self._parts) if (part := values[n :: self._parts])]

    def read(self, piece: list[Any]) -> Iterable[Any]:
        return piece


class FirstField(TimestampAssigner):
    """Values are tuples that begin with their event time."""

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[0])


def by_first_field(out_of_orderness: int = 0) -> WatermarkStrategy:
    delay = Duration.of_millis(out_of_orderness)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(delay)
    return strategy.with_timestamp_assigner(FirstField())


@dataclass(frozen=True)
class _Named(CollectSink):
    name: str = ""

    def value(self, value: Any) -> Any:
        return self.name, value


@dataclass
class Job:
    """A program with its checkpoint: each `run` is another attempt that goes on from there."""

    build: Build
    folder: Path
    executor: str = executors.SPARK
    parallelism: int = 2
    max_parallelism: int = 6
    attempts: int = 0

    def __post_init__(self) -> None:
        self.job_id = uuid.uuid4().hex
        self.counters: dict[str, Any] = {}
        self.stop = StopRequest()
        self._execution: executors.Execution | None = None

    @property
    def collected(self) -> list[tuple[str, Any]]:
        """(stream's name, value), in the order in which they came, of the newest attempt."""
        return [] if self._execution is None else list(self._execution.collected)

    def run(self) -> Results:
        """What this attempt gave. Raises JobFailed; `collected` has what came before."""
        execution = self._begin()
        execution.execute()
        self.counters = execution.counters
        return results(self.collected)

    def run_until(self, enough: Callable[[Results], bool]) -> Results:
        """As `run`, for a job that does not end by itself: it is stopped between two batches."""
        failed: list[BaseException] = []
        thread = threading.Thread(target=_execute, args=(self._begin(), failed))
        thread.start()
        deadline = time.monotonic() + PATIENCE
        while thread.is_alive() and not enough(results(self.collected)):
            if time.monotonic() > deadline:
                failed.append(TimeoutError(f"only {results(self.collected)}"))
                break
            thread.join(0.1)
        self.stop.ask("suspended")
        thread.join(PATIENCE)
        if failed:
            raise failed[0]
        return results(self.collected)

    def forget_last_commit(self) -> None:
        """As if Spark had ended in front of its commit log: the next run does that batch again."""
        commits = self.offsets.checkpoint / "commits"
        newest = self.offsets.completed
        (commits / f"{newest}").unlink()
        (commits / f".{newest}.crc").unlink(missing_ok=True)

    @property
    def offsets(self) -> SparkOffsets:
        return SparkOffsets(self.folder / "checkpoint" / "spark")

    def _begin(self) -> executors.Execution:
        self.attempts += 1
        self.stop = StopRequest()
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(self.parallelism).set_max_parallelism(self.max_parallelism)
        for name, stream in self.build(env).items():
            stream.sink_to(_Named(name=name))
        program = env.compile("two executors")
        program.attempt, program.job_id = self.attempts, self.job_id
        self._execution = executors.execution(program, self._context(), None, self.executor)
        return self._execution

    def _context(self) -> RunContext:
        run_dir = self.folder / str(self.attempts)
        run_dir.mkdir(parents=True)
        return RunContext(
            job_id=self.job_id,
            name="two executors",
            attempt=self.attempts,
            parallelism=self.parallelism,
            master="local[2]",
            memory_mib=1024,
            run_dir=run_dir,
            checkpoint_dir=self.folder / "checkpoint",
            jars=[],
            configuration={},
            reporter=NoReporter(),
            stop=self.stop,
        )


def _execute(execution: executors.Execution, failed: list[BaseException]) -> None:
    try:
        execution.execute()
    except BaseException as error:
        failed.append(error)


def results(collected: Iterable[tuple[str, Any]]) -> Results:
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for name, value in collected:
        found[name].append(value)
    return dict(found)


def in_process(build: Build, folder: Path, **settings: Any) -> Job:
    """Of a run that nothing disturbs."""
    job = Job(build, folder, executors.IN_PROCESS, **settings)
    job.run()
    return job


def assert_same(found: Results, expected: Results) -> None:
    """Every stream has the same records, and for each key (the first field) in the same order."""
    assert sorted(found) == sorted(expected)
    for name, values in expected.items():
        assert _by_key(found[name]) == _by_key(values), name


def _by_key(values: list[Any]) -> dict[Any, list[Any]]:
    grouped: defaultdict[Any, list[Any]] = defaultdict(list)
    for value in values:
        grouped[value[0]].append(value)
    return dict(grouped)
