"""Checkpoints of a run that take too long are reported, and end it where they are too many."""

from __future__ import annotations

import time

from headrace.datastream import checkpoint_config
from headrace.runtime.checkpoint_watch import CheckpointWatch
from headrace.runtime.context import RunContext
from headrace.runtime.errors import JobFailed
from headrace.runtime.spark_offsets import SparkOffsets
from headrace.wire import events


class CheckpointTimeout:
    """Asked again and again while a query of the run is watched."""

    def __init__(self, context: RunContext, offsets: SparkOffsets) -> None:
        self._watch = CheckpointWatch.of(context.configuration)
        self._reporter = context.reporter
        self._offsets = offsets

    def check(self) -> None:
        """Raises JobFailed where too many checkpoints in a row take too long."""
        planned, completed = self._offsets.planned, self._offsets.completed
        expired = self._watch.observe(planned, completed, time.monotonic())
        if expired is None:
            return
        checkpoint = expired.batch + 1
        seconds = self._watch.timeout_ms / 1000
        limit = f"{checkpoint_config.TIMEOUT}, {seconds:g} s"
        error = f"checkpoint {checkpoint} takes longer than {limit}"
        self._reporter.report(events.CheckpointFailed(checkpoint, error, expired.in_a_row))
        if expired.too_many:
            raise JobFailed(
                f"{error}; {expired.in_a_row} failed in a row, more than "
                f"{checkpoint_config.TOLERABLE} allows; nothing of it is visible, and it is run "
                "again from the last checkpoint"
            )
