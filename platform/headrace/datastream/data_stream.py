"""Streams and what can be done with them; PyFlink's `pyflink.datastream.data_stream`.

Nothing runs here: each call adds a node to the stream graph, which `execute` compiles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from headrace.common.time import Time, to_millis
from headrace.common.typeinfo import TypeInformation
from headrace.common.types import Row
from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.connectors.twophase.sink import TwoPhaseCommitSink
from headrace.datastream.connectors.base import Sink
from headrace.datastream.functions import (
    AggregateFunction,
    KeyedProcessFunction,
    ProcessFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from headrace.datastream.output_tag import OutputTag
from headrace.datastream.window import Trigger, WindowAssigner
from headrace.runtime.operators import keyed
from headrace.runtime.operators.operator import KeyedOperator, method
from headrace.runtime.operators.window import Window
from headrace.runtime.sinks import CollectSink, PrintSink
from headrace.runtime.transformations import (
    Edge,
    GraphError,
    KeyedTransformation,
    MapTransformation,
    SinkTransformation,
    TimestampsTransformation,
    Transformation,
)

if TYPE_CHECKING:
    from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment


class DataStream:
    """A stream of values. `edges` are the graph's nodes it reads: several after a union."""

    def __init__(self, environment: StreamExecutionEnvironment, edges: list[Edge]) -> None:
        self._environment = environment
        self._edges = edges

    # --- the node behind the stream

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        return self._environment

    def get_type(self) -> TypeInformation | None:
        """The declared type, or None: any Python value."""
        return self._edges[0].source.output_type

    def get_name(self) -> str:
        return self._node.name

    def name(self, name: str) -> DataStream:
        self._node.name = name
        return self

    def uid(self, uid: str) -> DataStream:
        """What the operator's state is found by after a change of the program."""
        self._node.uid = uid
        return self

    def set_parallelism(self, parallelism: int) -> DataStream:
        """A hint that the plan shows: on Spark the stages of a job share its slots."""
        self._node.parallelism = _positive(parallelism)
        return self

    @property
    def _node(self) -> Transformation:
        if len(self._edges) > 1:
            raise GraphError("a union has no node of its own; name its inputs")
        return self._edges[0].source

    # --- transformations

    def map(self, func: Any, output_type: TypeInformation | None = None) -> DataStream:
        return self._stateless("map", "Map", func, output_type)

    def flat_map(self, func: Any, output_type: TypeInformation | None = None) -> DataStream:
        return self._stateless("flat_map", "FlatMap", func, output_type)

    def filter(self, func: Any) -> DataStream:
        return self._stateless("filter", "Filter", func, None, self.get_type())

    def process(
        self, func: ProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        return self._stateless("process", "Process", func, None, output_type)

    def _stateless(
        self,
        kind: str,
        name: str,
        function: Any,
        checked: TypeInformation | None,
        declared: TypeInformation | None = None,
    ) -> DataStream:
        transformation = MapTransformation(
            name=name, inputs=self._edges, output_type=checked, kind=kind, function=function
        )
        transformation.output_type = checked or declared
        return DataStream(self._environment, [Edge(transformation)])

    def assign_timestamps_and_watermarks(self, watermark_strategy: WatermarkStrategy) -> DataStream:
        transformation = TimestampsTransformation(
            name="Timestamps/Watermarks",
            inputs=self._edges,
            output_type=self.get_type(),
            strategy=watermark_strategy,
        )
        return DataStream(self._environment, [Edge(transformation)])

    def union(self, *streams: DataStream) -> DataStream:
        edges = [edge for stream in (self, *streams) for edge in stream._edges]
        return DataStream(self._environment, edges)

    def key_by(self, key_selector: Any, key_type: TypeInformation | None = None) -> KeyedStream:
        """By a selector function, a KeySelector, a tuple's position, or a Row's field name."""
        if isinstance(key_selector, int | str):
            selector = _field(key_selector)
        else:
            selector = method(key_selector, "get_key")
        return KeyedStream(self._environment, self._edges, selector)

    def get_side_output(self, output_tag: OutputTag) -> DataStream:
        """What the operator behind this stream sent to a tag."""
        return DataStream(self._environment, [Edge(self._node, tag=output_tag)])

    # --- sinks

    def sink_to(self, sink: Sink | TwoPhaseCommitSink[Any, Any]) -> DataStreamSink:
        return self._sink("Writer", sink)

    def add_sink(self, sink_func: Sink | TwoPhaseCommitSink[Any, Any]) -> DataStreamSink:
        """As `sink_to`, for what PyFlink calls sink functions."""
        return self.sink_to(sink_func)

    def print(self, sink_identifier: str | None = None) -> DataStreamSink:
        """To the standard output of the driver, one value a line, in PyFlink's form."""
        return self._sink("Print to Std. Out", PrintSink(sink_identifier, self.get_type()))

    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: int | None = None
    ) -> Iterator[Any]:
        """Run the job to its end and give what this stream held; for bounded jobs."""
        self._sink("Collect", CollectSink())
        collected = self._environment.run_and_collect(job_execution_name or "collect")
        return iter(collected if limit is None else collected[:limit])

    def _sink(self, name: str, sink: Any) -> DataStreamSink:
        transformation = SinkTransformation(name=f"Sink: {name}", inputs=self._edges, sink=sink)
        self._environment.add_sink(transformation)
        return DataStreamSink(transformation)


class DataStreamSink:
    """The end of a stream."""

    def __init__(self, transformation: SinkTransformation) -> None:
        self._transformation = transformation

    def name(self, name: str) -> DataStreamSink:
        self._transformation.name = name
        return self

    def uid(self, uid: str) -> DataStreamSink:
        self._transformation.uid = uid
        return self

    def set_parallelism(self, parallelism: int) -> DataStreamSink:
        self._transformation.parallelism = _positive(parallelism)
        return self


class KeyedStream(DataStream):
    """A stream partitioned by key: values of one key meet in one place, in order."""

    def __init__(
        self,
        environment: StreamExecutionEnvironment,
        edges: list[Edge],
        selector: Callable[[Any], Any],
    ) -> None:
        super().__init__(environment, edges)
        self._selector = selector

    def reduce(self, func: Any) -> DataStream:
        """Emits, for each value, all values of its key so far reduced to one."""
        return self._keyed("Reduce", keyed.Reduce(func), self.get_type())

    def sum(self, position_to_sum: int | str = 0) -> DataStream:
        return self.reduce(_combining(position_to_sum, lambda a, b: a + b)).name("Sum")

    def min(self, position_to_min: int | str = 0) -> DataStream:
        return self.reduce(_combining(position_to_min, min)).name("Min")

    def max(self, position_to_max: int | str = 0) -> DataStream:
        return self.reduce(_combining(position_to_max, max)).name("Max")

    def process(  # type: ignore[override]  # PyFlink's own narrowing
        self, func: KeyedProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        return self._keyed("KeyedProcess", keyed.KeyedProcess(func), output_type)

    def window(self, window_assigner: WindowAssigner[Any, Any]) -> WindowedStream:
        return WindowedStream(self, window_assigner)

    def _keyed(
        self, name: str, operator: KeyedOperator, output_type: TypeInformation | None
    ) -> DataStream:
        edges = [Edge(edge.source, edge.tag, self._selector) for edge in self._edges]
        transformation = KeyedTransformation(
            name=name, inputs=edges, operator=operator, output_type=output_type
        )
        return DataStream(self._environment, [Edge(transformation)])


class WindowedStream:
    """A keyed stream cut into windows; `reduce`, `aggregate`, `process` or `apply` ends it."""

    def __init__(self, stream: KeyedStream, assigner: WindowAssigner[Any, Any]) -> None:
        self._stream = stream
        self._assigner = assigner
        self._trigger: Trigger[Any, Any] | None = None
        self._allowed_lateness = 0
        self._late_tag: OutputTag | None = None

    def trigger(self, trigger: Trigger[Any, Any]) -> WindowedStream:
        self._trigger = trigger
        return self

    def allowed_lateness(self, time_ms: int | Time) -> WindowedStream:
        """How long after its end a window still takes records, firing again for each."""
        self._allowed_lateness = to_millis(time_ms)
        if self._allowed_lateness < 0:
            raise ValueError(f"the allowed lateness cannot be negative: {self._allowed_lateness}")
        return self

    def side_output_late_data(self, output_tag: OutputTag) -> WindowedStream:
        """Where records go that came too late for all their windows, instead of being dropped."""
        self._late_tag = output_tag
        return self

    def reduce(
        self,
        reduce_function: Any,
        window_function: Any = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        declared = output_type if window_function else self._stream.get_type()
        return self._window("reduce", declared, reduce=reduce_function, function=window_function)

    def aggregate(
        self,
        aggregate_function: AggregateFunction,
        window_function: ProcessWindowFunction[Any, Any, Any, Any]
        | WindowFunction[Any, Any, Any, Any]
        | None = None,
        accumulator_type: TypeInformation | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        return self._window(
            "aggregate", output_type, aggregate=aggregate_function, function=window_function
        )

    def process(
        self,
        process_window_function: ProcessWindowFunction[Any, Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        return self._window("process", output_type, function=process_window_function)

    def apply(
        self,
        window_function: WindowFunction[Any, Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        return self._window("apply", output_type, function=window_function)

    def _window(
        self, kind: str, output_type: TypeInformation | None, **functions: Any
    ) -> DataStream:
        operator = Window(
            self._assigner,
            self._trigger,
            allowed_lateness=self._allowed_lateness,
            late_tag=self._late_tag.tag_id if self._late_tag else None,
            **functions,
        )
        return self._stream._keyed(f"{self._assigner!r}, {kind}", operator, output_type)


def _field(field: int | str) -> Callable[[Any], Any]:
    def select(value: Any) -> Any:
        return value[field]

    return select


def _combining(field: int | str, combine: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A reduce function that combines one field; the other fields stay those of the first."""

    def reduce(first: Any, second: Any) -> Any:
        if isinstance(first, Row):
            row = Row._named(first._names, first)
            row[field] = combine(first[field], second[field])
            return row
        if isinstance(first, tuple):
            at = int(field)
            return (*first[:at], combine(first[at], second[at]), *first[at + 1 :])
        return combine(first, second)

    return reduce


def _positive(parallelism: int) -> int:
    if parallelism < 1:
        raise ValueError(f"parallelism must be positive, not {parallelism}")
    return parallelism
