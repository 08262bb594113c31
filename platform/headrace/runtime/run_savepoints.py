"""The savepoints of a run: when they can be made, and how the job ends with one."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from pyspark.sql.streaming.query import StreamingQuery

from headrace.runtime.batch_reporting import BatchReporting
from headrace.runtime.context import RunContext
from headrace.runtime.errors import JobFailed
from headrace.runtime.python_sources import ControlFile
from headrace.runtime.savepoint_requests import SavepointRequest
from headrace.runtime.savepointing import Savepointing
from headrace.runtime.savepoints import Origin
from headrace.runtime.spark_offsets import SparkOffsets
from headrace.wire.failures import Cause


class RunSavepoints:
    """Used by the thread that watches the queries of the run."""

    def __init__(
        self,
        context: RunContext,
        offsets: SparkOffsets,
        control: ControlFile,
        roots: Mapping[str, str],
    ) -> None:
        """`roots`: what the names of its sinks' transactions begin with."""
        self._context = context
        self._offsets = offsets
        self._control = control
        entry = Path(sys.argv[0])
        origin = Origin(context.job_id, context.name, entry, context.checkpoint_dir, dict(roots))
        self._savepointing = Savepointing(context, origin)
        self._interrupted = False

    def due(self, reporting: BatchReporting, query: StreamingQuery | None) -> bool:
        """Begin what can be made while the job runs; whether the query is to be stopped for a
        savepoint that ends the job. The first batch runs for it, though nothing may have come."""
        self._interrupted = self._begin(reporting, query)
        return self._interrupted

    def _begin(self, reporting: BatchReporting, query: StreamingQuery | None) -> bool:
        self._savepointing.check()
        if not self._context.savepoints.wanted:
            return False
        if self._offsets.completed is None:
            if self._control.read()[0] == 0:
                self._control.tick()
            return False

        def settled() -> int | None:
            if query is not None:
                reporting.take(query)
            reported = reporting.reported
            return reported if reported == self._offsets.completed else None

        self._savepointing.serve(settled)
        return self._context.savepoints.begin_ending()

    def batch_completed(self) -> None:
        self._savepointing.batch_completed()

    def end_query(self, control_source: int, run_planned: Callable[[], None]) -> bool:
        """A query has ended without an error: make the savepoint that the job is to end with.
        Whether the job goes on, as the query had been stopped for one and there is none."""
        interrupted, self._interrupted = self._interrupted, False
        request = self._savepointing.ending()
        if request is not None:
            self._end(request, control_source, run_planned)
        wanted = interrupted or request is not None
        return wanted and not self._context.stop.asked.is_set()

    def _end(
        self, request: SavepointRequest, control_source: int, run_planned: Callable[[], None]
    ) -> None:
        """No query runs; `run_planned` runs the one batch that is planned, and `control_source` is
        the control file's place among the sources.

        1. Finish a batch that was begun: its output may be visible already.
        2. Drain: a batch that reads nothing and tells the operators that no more comes.
        3. Save what is there now; 4. end. Without a savepoint the job goes on, unless drained.
        """
        stop = self._context.stop
        try:
            # 1.
            if self._offsets.planned != self._offsets.completed:
                run_planned()
            # 2.
            if request.options.drain and not stop.asked.is_set():
                self._control.end()
                end = {"position": self._control.read()[0]}
                self._offsets.plan({control_source: end}, int(time.time() * 1000))
                run_planned()
        except Exception as error:
            reason = f"the job failed before: {error}".splitlines()[0]
            self._savepointing.fail(request, reason)
            raise
        if stop.asked.is_set():
            self._savepointing.fail(request, f"the job was {stop.reason} before")
            return
        # 3.
        completed = self._offsets.completed
        assert completed is not None  # `due` has seen to it
        if self._savepointing.save_last(request, completed):
            # 4.
            stop.ask(request.options.then)
        elif request.options.drain:
            raise JobFailed(
                "the job was drained, and its savepoint could not be made; its checkpoint stands, "
                "with event time at its end, so the job does not go on",
                cause=Cause.FINAL,
            )

    def give_up(self, reason: str) -> None:
        """The job has failed: it does not wait for what is being copied."""
        self._savepointing.give_up(reason)

    def close(self) -> None:
        """Until what is being copied is there."""
        self._savepointing.close()
