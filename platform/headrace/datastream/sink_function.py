"""Sinks and sources that are functions; PyFlink's names in `pyflink.datastream.functions`."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import Any

from headrace.datastream.function import Function


@dataclass(frozen=True)
class SinkContext:
    """What a sink knows of a value beside it."""

    #: The time of the micro-batch, ms: the same when it is run again.
    processing_time: int
    #: Event time, None without.
    element_timestamp: int | None

    def current_processing_time(self) -> int:
        return self.processing_time

    def timestamp(self) -> int | None:
        return self.element_timestamp


class SinkFunction(Function):
    """Takes each value of a stream, for `add_sink` and `sink_to`.

    `open` is called once per worker process. At least once: a micro-batch that fails after
    `invoke` runs again and calls it again, with the same values in the same order. What has to be
    exactly-once is a `TwoPhaseCommitSink`."""

    @abc.abstractmethod
    def invoke(self, value: Any, context: SinkContext) -> None:
        """Called once per value, in order. Raising fails the micro-batch."""

    def finish_batch(self) -> None:
        """Called behind the last value of this task in a micro-batch, before it counts as done:
        what is buffered must be written when it returns."""


class SourceFunction:
    """In PyFlink the name of a Java class, which there is no JVM of Flink's for."""

    def __init__(self, source_func: Any) -> None:
        raise NotImplementedError(
            f"{source_func!r} is a source of Java's; write a PythonSource "
            "(headrace.datastream.connectors.python_source)"
        )
