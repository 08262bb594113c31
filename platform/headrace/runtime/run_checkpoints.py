"""Checkpoints of a run that somebody asked for: a batch is run though nothing may have come."""

from __future__ import annotations

from headrace.runtime.context import RunContext
from headrace.runtime.python_sources import ControlFile
from headrace.runtime.spark_offsets import SparkOffsets


class RunCheckpoints:
    """Used by the thread that watches the queries of the run."""

    def __init__(self, context: RunContext, offsets: SparkOffsets, control: ControlFile) -> None:
        self._requests = context.checkpoints
        self._reporter = context.reporter
        self._offsets = offsets
        self._control = control

    def check(self, control_source: int) -> None:
        """Called again and again while a query runs. `control_source`: the control file's place
        among the sources. A batch that was planned before the request does not count."""
        if not self._requests.wanted:
            return
        planned = self._offsets.planned
        self._requests.take_up(self._tick, -1 if planned is None else planned)
        completed = self._offsets.completed
        if completed is None:
            return
        end = self._offsets.ends(completed)[control_source]
        tick = -1 if end is None else end["position"]
        self._requests.reached(tick, completed, self._reporter.report)

    def _tick(self) -> int:
        self._control.tick()
        return self._control.read()[0]
