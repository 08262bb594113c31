"""One run of a program on Spark, measured between its batches."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from benchmarks import processes
from headrace.runtime.context import NoReporter, Reporter, RunContext, StopRequest
from headrace.runtime.job_run import JobRun
from headrace.runtime.program import Program
from headrace.wire import events
from headrace.wire.events import CheckpointCompleted


@dataclass(frozen=True)
class Machine:
    """What a run gets of the machine."""

    cores: int
    memory_mib: int
    jars: list[str]
    home: Path
    #: Of each input.
    per_batch: int
    #: Processes whose CPU and memory are not the job's: the broker.
    without: tuple[int, ...] = ()
    #: Whether memory is looked at, which takes a while.
    weighed: bool = False


@dataclass(frozen=True)
class Mark:
    """How things stood when a batch was done."""

    records: int
    seconds: float
    #: Of driver, JVM and Python workers; the JVM's compilers apart.
    cpu_seconds: float
    compiler_seconds: float
    memory_mib: float


@dataclass(frozen=True)
class Run:
    """What came between the last batch of the warm-up and the last one with records."""

    marks: list[Mark]
    warm_up: int

    @property
    def records(self) -> int:
        return self.marks[-1].records - self.marks[self.warm_up].records

    @property
    def micros(self) -> float:
        """CPU per record, without the JVM's compilers."""
        used = self.marks[-1].cpu_seconds - self.marks[self.warm_up].cpu_seconds
        return used / self.records * 1e6

    @property
    def compiler_micros(self) -> float:
        """What those used besides: less and less, the longer the JVM runs."""
        used = self.marks[-1].compiler_seconds - self.marks[self.warm_up].compiler_seconds
        return used / self.records * 1e6

    @property
    def per_second(self) -> float:
        return self.records / (self.marks[-1].seconds - self.marks[self.warm_up].seconds)

    @property
    def memory_mib(self) -> float:
        return max(mark.memory_mib for mark in self.marks)


def mark(machine: Machine, before: list[Mark], records: int) -> Mark:
    """`records` came in since the last one."""
    compiling = processes.compiler_seconds(without=machine.without)
    return Mark(
        records=records + (before[-1].records if before else 0),
        seconds=time.monotonic(),
        cpu_seconds=processes.cpu_seconds(without=machine.without) - compiling,
        compiler_seconds=compiling,
        memory_mib=processes.memory_mib(without=machine.without) if machine.weighed else 0.0,
    )


class Marks:
    """Listens to the job."""

    def __init__(self, machine: Machine) -> None:
        self.found: list[Mark] = []
        self._machine = machine

    def report(self, event: events.Event) -> None:
        if isinstance(event, CheckpointCompleted) and event.records_in:
            self.found.append(mark(self._machine, self.found, event.records_in))


def run(program: Program, machine: Machine, warm_up: int) -> Run:
    """The program to its end; its first `warm_up` batches, and one more, do not count."""
    marks = Marks(machine)
    folder = machine.home / uuid.uuid4().hex
    folder.mkdir(parents=True)
    JobRun(program, context_of(program.name, machine, folder, marks), None).execute()
    return Run(marks.found, warm_up)


def context_of(
    name: str, machine: Machine, folder: Path, reporter: Reporter | None = None
) -> RunContext:
    return RunContext(
        job_id=uuid.uuid4().hex,
        name=name,
        attempt=1,
        parallelism=machine.cores,
        master=f"local[{machine.cores}]",
        memory_mib=machine.memory_mib,
        run_dir=folder,
        checkpoint_dir=folder / "checkpoint",
        jars=machine.jars,
        configuration={
            "source.max-records-per-batch": str(machine.per_batch),
            # compilers whose time can be told apart to the end
            "spark.driver.extraJavaOptions": "-Xss8m -XX:-UseDynamicNumberOfCompilerThreads",
        },
        reporter=reporter or NoReporter(),
        stop=StopRequest(),
    )
