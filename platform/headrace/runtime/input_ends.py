"""When a job's input has ended, of each split and of all, and who is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headrace.runtime.bounded_sources import BoundedSources
from headrace.runtime.context import StopRequest
from headrace.runtime.kafka_sources import KafkaSources
from headrace.runtime.python_sources import ControlFile
from headrace.runtime.socket_ends import SocketEnds
from headrace.runtime.spark_offsets import SparkOffsets

#: How often a bounded source whose end lies ahead looks for more records.
MORE_SECONDS = 1.0


@dataclass(frozen=True)
class InputEnds:
    """What the sources of a run say, asked between micro-batches."""

    control: ControlFile
    offsets: SparkOffsets
    kafka: KafkaSources
    bounded: BoundedSources
    sockets: SocketEnds
    stop: StopRequest

    def all_read(self) -> bool:
        """Of a bounded job."""
        return self.kafka.all_ended

    def all_closed(self) -> bool:
        """Of an unbounded job: whether it ends all the same, as the servers of its sockets have
        closed the connections. A split that was read to its end holds event time back no more; the
        job runs on."""
        self._tell_ended()
        new = self.sockets.closed() - self.control.told().keys()
        if new:
            self.control.end_splits(sorted(new))
        return self.last_was_told()

    def last_was_told(self) -> bool:
        """Whether a batch has carried that the last socket has ended."""
        return self.sockets.ended_last(self.control.told())

    def end_told(self) -> bool:
        """Whether a batch has carried the end of input; what sources hold beyond is not wanted."""
        _, ended_at = self.control.read()
        told = self.offsets.next_start(self.kafka.count) or {}
        return self.kafka.all_ended and told.get("position", 0) >= (ended_at or 0)

    def wait_for_more(self, query_wanted: Callable[[], bool]) -> bool:
        """False when asked to stop first; True also when a query is wanted without more. Raises
        JobFailed."""
        while not self.stop.asked.wait(MORE_SECONDS):
            if query_wanted():
                return True
            # the next query's watch sees to a topic that was deleted or made again
            if self.kafka.replaced.is_set() or self.kafka.has_more():
                return True
        return False

    def _tell_ended(self) -> None:
        told = self.control.told().keys()
        new = {*self.kafka.ended_splits, *self.bounded.ended()} - told
        if new:
            self.control.end_splits(sorted(new))
        elif self.bounded.splits - told:
            self.control.tick()  # the next batch shows whether it finds more
