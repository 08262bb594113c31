"""How a stream ends: in a sink, printed, or collected by the program itself."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any

from headrace.common.type_hints import type_of
from headrace.common.typeinfo import TypeInformation
from headrace.connectors.twophase.sink import TwoPhaseCommitSink
from headrace.datastream.closeable_iterator import CloseableIterator
from headrace.datastream.connectors.base import Sink
from headrace.datastream.connectors.flink_kafka import FlinkKafkaProducerBase
from headrace.datastream.node_settings import NodeSettings
from headrace.datastream.sink_function import SinkFunction
from headrace.datastream.streams.sink import DataStreamSink
from headrace.datastream.typed_text import in_text
from headrace.runtime.sinks import CollectSink, FunctionSink, PrintSink
from headrace.runtime.transformations import Edge, SinkTransformation

if TYPE_CHECKING:
    from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment

AnySink = Sink | TwoPhaseCommitSink[Any, Any]


class StreamEnds(NodeSettings):
    """What `DataStream` has of sinks."""

    _environment: StreamExecutionEnvironment

    @property
    def _edges(self) -> list[Edge]:
        raise NotImplementedError

    def get_type(self) -> TypeInformation | None:
        raise NotImplementedError

    def sink_to(self, sink: AnySink) -> DataStreamSink:
        if isinstance(sink, SinkFunction):
            return self.add_sink(sink)
        return self._sink("Writer", in_text(sink, type_of(self.get_type())))

    def add_sink(
        self, sink_func: SinkFunction | AnySink | Callable[[Any], object]
    ) -> DataStreamSink:
        """To a SinkFunction or any function of one value, called for each: at least once, as a
        micro-batch that fails calls it again. Sinks of `sink_to` are taken, too."""
        if isinstance(sink_func, FlinkKafkaProducerBase):
            return self.sink_to(sink_func.sink())
        if isinstance(sink_func, Sink | TwoPhaseCommitSink):
            return self.sink_to(sink_func)
        if not isinstance(sink_func, SinkFunction) and not callable(sink_func):
            raise TypeError(f"a {type(sink_func).__name__} is no sink: {sink_func!r}"[:200])
        return self._sink("Unnamed", FunctionSink(sink_func))

    def print(self, sink_identifier: str | None = None) -> DataStreamSink:
        """To the standard output of the driver, one value a line, in PyFlink's form: with the
        number of the subtask before it where the parallelism is more than 1."""
        return self._sink("Print to Std. Out", PrintSink(sink_identifier, type_of(self.get_type())))

    def print_to_err(self, sink_identifier: str | None = None) -> DataStreamSink:
        """As `print`, to the standard error."""
        sink = PrintSink(sink_identifier, type_of(self.get_type()), to_err=True)
        return self._sink("Print to Std. Err", sink)

    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: int | None = None
    ) -> CloseableIterator[Any] | list[Any]:
        """Run the job and give what this stream holds: all of it as an iterator, batch by batch
        while the job runs, or the first `limit` values as a list. Closing the iterator, and
        having `limit` values, cancels a job that still runs."""
        if limit is not None and limit < 1:
            raise ValueError(f"limit must be positive, not {limit}")
        self._sink("Collect", CollectSink(type_of(self.get_type())))
        values = self._environment.execute_to_iterator(job_execution_name)
        if limit is None:
            return values
        with values:
            return list(islice(values, limit))

    def _sink(self, name: str, sink: Any) -> DataStreamSink:
        transformation = SinkTransformation(name=f"Sink: {name}", inputs=self._edges, sink=sink)
        self._environment._add_sink_node(transformation)
        return DataStreamSink(transformation)
