"""A job in one process, from its sources to its sinks, without Spark.

For programs on a laptop and in tests: it starts in milliseconds and runs the operators that run on
Spark. State and positions are kept in memory, and gone when the process ends.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import ExitStack
from typing import Any

from headrace.common import restart_strategy
from headrace.common.job_execution_result import JobExecutionResult
from headrace.common.job_id import JobID
from headrace.datastream.connectors.python_source import SourceContext
from headrace.runtime import metrics
from headrace.runtime.context import RunContext
from headrace.runtime.errors import from_error
from headrace.runtime.local_restarts import LocalRestarts
from headrace.runtime.local_run import LocalRun
from headrace.runtime.local_sinks import LocalSinks
from headrace.runtime.local_sources import SPLIT, LocalReader, python_source
from headrace.runtime.parts import Part
from headrace.runtime.program import Program

#: How often sources that have nothing are asked, and time goes on without data.
IDLE_SECONDS = 0.02
TICK_SECONDS = 0.1


class LocalJob:
    """1. open the sources, 2. batches until all have ended, 3. one more that says so."""

    def __init__(self, program: Program, context: RunContext, interval: int | None) -> None:
        self._context = context
        self._interval = (interval or 0) / 1000
        self._sources = {n: python_source(source) for n, source in program.sources.items()}
        self.collected: list[Any] = []
        self._sinks = LocalSinks(program, context, self.collected)
        self._run = LocalRun(program, (SPLIT,))
        self._restarts = LocalRestarts(restart_strategy.read(context.configuration))
        self._batch_id = 0
        self._time = 0
        self._told: set[int] = set()

    @property
    def counters(self) -> dict[str, Any]:
        return metrics.results(self._run.metrics.counters, self._run.metrics.accumulators)

    def execute(self) -> JobExecutionResult:
        """Returns when the job has ended on purpose. Raises JobFailed, SinkError."""
        begun = time.monotonic()
        self._sinks.recover()
        state_dir = self._context.checkpoint_dir / "headrace"
        state_dir.mkdir(parents=True, exist_ok=True)
        where = SourceContext(state_dir, self._context.parallelism)
        readers = [LocalReader(n, source, where) for n, source in self._sources.items()]
        with ExitStack() as closes:
            for close in (self._sinks.close, self._run.close, *(r.close for r in readers)):
                closes.callback(close)
            self._read(readers)
            if not self._context.stop.asked.is_set():
                self._batch({}, ended=True)
        self._sinks.release()
        took = int((time.monotonic() - begun) * 1000)
        return JobExecutionResult(JobID(self._context.job_id), took, self.counters)

    def _read(self, readers: list[LocalReader]) -> None:
        quiet_since = time.monotonic()
        while not self._context.stop.asked.is_set():
            begun = time.monotonic()
            rows = {reader.number: parts for reader in readers if (parts := reader.next())}
            ended = {reader.number for reader in readers if reader.ended}
            if len(ended) == len(readers):
                return
            new = ended - self._told
            if rows or new or self._is_due(begun - quiet_since):
                self._batch(rows, ended_sources=new, tick=True)
                self._told |= new
                quiet_since = time.monotonic()
                for reader in readers:
                    reader.committed()
            self._pause(begun, bool(rows), all(r.ended or r.bounded for r in readers))

    def _is_due(self, quiet: float) -> bool:
        """Whether time has to go on without data: for a timer, or as it has not for a while."""
        due = self._run.metrics.next_timer
        return quiet > TICK_SECONDS or (due is not None and due <= time.time() * 1000)

    def _pause(self, begun: float, busy: bool, bounded: bool) -> None:
        pause = 0.0 if busy else IDLE_SECONDS
        if busy and not bounded:
            pause = max(0.0, begun + self._interval - time.monotonic())
        if pause:
            self._context.stop.asked.wait(pause)

    def _batch(
        self,
        rows: dict[int, list[Part]],
        *,
        tick: bool = False,
        ended: bool = False,
        ended_sources: Collection[int] = (),
    ) -> None:
        """One micro-batch, again after a failure if the restart strategy says so."""
        self._time = max(self._time, int(time.time() * 1000))
        splits = [f"{number}:{SPLIT}" for number in sorted(ended_sources)]
        while True:
            snapshot = self._run.snapshot() if self._restarts.may_follow else None
            self._run.metrics.next_timer = None  # each batch says it anew
            try:
                sent = self._run.frames(
                    rows, time=self._time, tick=tick, ended=ended, ended_splits=splits
                )
                self._sinks.write(self._run, self._batch_id, sent)
                self._batch_id += 1
                return
            except Exception as error:
                delay = self._restarts.delay_after_failure(time.monotonic())
                if snapshot is None or delay is None:
                    raise from_error(error) from error
                if self._context.stop.asked.wait(delay):
                    return
                self._run.restore(snapshot)
                self._sinks.recover()
