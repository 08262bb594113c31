"""Streams of values, and what can be done with each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from headrace.common.execution_config import ExecutionConfig
from headrace.common.typeinfo import TupleTypeInfo, TypeInformation
from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.datastream.dataframes import DataFrames
from headrace.datastream.functions import KeyedProcessFunction, ProcessFunction
from headrace.datastream.output_tag import OutputTag
from headrace.datastream.state import MapStateDescriptor
from headrace.datastream.stream_ends import StreamEnds
from headrace.datastream.streams import fields
from headrace.datastream.streams.refusals import (
    refuse,
    refuse_keyed_state,
    refuse_no_function,
)
from headrace.runtime import exchanges
from headrace.runtime.exchanges import Exchange
from headrace.runtime.operators.operator import method
from headrace.runtime.operators.pass_on import PassOn
from headrace.runtime.transformations import (
    Edge,
    KeyedTransformation,
    MapTransformation,
    TimestampsTransformation,
    Transformation,
)

if TYPE_CHECKING:
    from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment
    from headrace.datastream.streams.broadcast import BroadcastConnectedStream, BroadcastStream
    from headrace.datastream.streams.cached import CachedDataStream
    from headrace.datastream.streams.connected import ConnectedStreams
    from headrace.datastream.streams.iterative import IterativeStream
    from headrace.datastream.streams.joined import CoGroupedStreams, JoinedStreams
    from headrace.datastream.streams.keyed import KeyedStream
    from headrace.datastream.streams.windowed import AllWindowedStream
    from headrace.datastream.window import WindowAssigner


class DataStream(StreamEnds, DataFrames):
    """A stream of values. `edges` are the graph's nodes it reads: several after a union."""

    def __init__(self, environment: StreamExecutionEnvironment, edges: list[Edge]) -> None:
        self._environment = environment
        self._reads = edges

    # --- the node behind the stream

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        return self._environment

    def get_execution_config(self) -> ExecutionConfig:
        return self._environment.get_config()

    def get_type(self) -> TypeInformation | None:
        """The declared type, or None: any Python value."""
        first = self._reads[0]
        return first.tag.type_info if first.tag is not None else first.source.output_type

    @property
    def _edges(self) -> list[Edge]:
        return self._reads

    @property
    def _node(self) -> Transformation:
        if len(self._edges) > 1:
            refuse("a union has no node of its own; name its inputs")
        return self._edges[0].source

    # --- one function

    def map(self, func: Any, output_type: TypeInformation | None = None) -> DataStream:
        return self._stateless("map", "Map", func, output_type)

    def flat_map(self, func: Any, output_type: TypeInformation | None = None) -> DataStream:
        return self._stateless("flat_map", "FlatMap", func, output_type)

    def filter(self, func: Any) -> DataStream:
        return self._stateless("filter", "Filter", func, self.get_type())

    def process(
        self, func: ProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        if isinstance(func, KeyedProcessFunction):
            refuse("a KeyedProcessFunction needs a keyed stream; call key_by before process")
        return self._stateless("process", "Process", func, output_type)

    def project(self, *field_indexes: int) -> DataStream:
        """Tuples of only these fields, in this order."""
        declared = self.get_type()
        if declared is not None and not isinstance(declared, TupleTypeInfo):
            refuse(f"only streams of tuples can be projected, not of {declared}")
        kept = None
        if isinstance(declared, TupleTypeInfo):
            kept = TupleTypeInfo(tuple(declared.field_types[i] for i in field_indexes))
        return self.map(fields.projection(field_indexes), kept).name("Projection")

    def _stateless(
        self,
        kind: str,
        name: str,
        function: Any,
        declared: TypeInformation | None,
    ) -> DataStream:
        refuse_no_function(kind, function)
        refuse_keyed_state(function, "its stream is not keyed; call key_by before it")
        transformation = MapTransformation(
            name=name, inputs=self._edges, output_type=declared, kind=kind, function=function
        )
        return DataStream(self._environment, [Edge(transformation)])

    def assign_timestamps_and_watermarks(self, watermark_strategy: WatermarkStrategy) -> DataStream:
        transformation = TimestampsTransformation(
            name="Timestamps/Watermarks",
            inputs=self._edges,
            output_type=self.get_type(),
            strategy=watermark_strategy,
        )
        return DataStream(self._environment, [Edge(transformation)])

    def get_side_output(self, output_tag: OutputTag) -> DataStream:
        """What the operator behind this stream sent to a tag."""
        if not isinstance(output_tag, OutputTag):
            refuse(f"a side output is asked for by its OutputTag, not by {output_tag!r:.80}")
        return DataStream(self._environment, [Edge(self._node, tag=output_tag)])

    def iterate(self, max_wait_time_millis: int = 0) -> IterativeStream:
        """Java's: a stream whose values come round again, see `IterativeStream.close_with`.
        The loop runs within a micro-batch, so there is no time to wait for and none is waited."""
        from headrace.datastream.streams.iterative import IterativeStream

        return IterativeStream(self)

    # --- several streams

    def union(self, *streams: DataStream) -> DataStream:
        edges = [edge for stream in (self, *streams) for edge in stream._edges]
        return DataStream(self._environment, edges)

    @overload
    def connect(self, ds: DataStream) -> ConnectedStreams: ...

    @overload
    def connect(self, ds: BroadcastStream) -> BroadcastConnectedStream: ...

    def connect(
        self, ds: DataStream | BroadcastStream
    ) -> ConnectedStreams | BroadcastConnectedStream:
        """Two streams of different types into one function that has a method for each."""
        from headrace.datastream.streams.broadcast import BroadcastConnectedStream, BroadcastStream
        from headrace.datastream.streams.connected import ConnectedStreams

        if isinstance(ds, BroadcastStream):
            return BroadcastConnectedStream(self, ds)
        return ConnectedStreams(self, ds)

    def join(self, other: DataStream) -> JoinedStreams:
        """Java's: pairs of values that are in one window and have one key:
        `.where(key).equal_to(key).window(assigner).apply(function)`."""
        from headrace.datastream.streams.joined import JoinedStreams

        return JoinedStreams(self, other)

    def co_group(self, other: DataStream) -> CoGroupedStreams:
        """Java's: as `join`, with all values of a key and window at once, pairs or not."""
        from headrace.datastream.streams.joined import CoGroupedStreams

        return CoGroupedStreams(self, other)

    def window_all(self, window_assigner: WindowAssigner[Any, Any]) -> AllWindowedStream:
        """Windows over all values, whatever the key: one key group does all the work."""
        from headrace.datastream.streams.windowed import AllWindowedStream

        return AllWindowedStream.of(self, window_assigner)

    # --- partitioning

    def key_by(self, key_selector: Any, key_type: TypeInformation | None = None) -> KeyedStream:
        """By a selector function, a KeySelector, a tuple's position, a field's name, or a list of
        these for a key of several parts."""
        from headrace.datastream.streams.keyed import KeyedStream

        selector = fields.selector(key_selector)
        return KeyedStream(self._environment, self._reads, selector)

    def partition_custom(self, partitioner: Any, key_selector: Any) -> DataStream:
        """Each value to the subtask that `partitioner(key, number of partitions)` names."""
        partition = method(partitioner, "partition")
        if not callable(partition):
            refuse("a partitioner is a Partitioner or a function of key and number of partitions")
        custom = exchanges.Custom(partition, fields.selector(key_selector))
        return self._partitioned("Partition Custom", custom)

    def rebalance(self) -> DataStream:
        """To all subtasks in turn: each task that sends begins at a place of its own, so that a
        micro-batch that is run again spreads its records in the same way."""
        return self._partitioned("Rebalance", exchanges.Rebalance())

    def rescale(self) -> DataStream:
        """As `rebalance`: on Spark any task reaches any other, so there are no subsets of
        neighbours to keep to."""
        return self._partitioned("Rescale", exchanges.Rebalance("RESCALE"))

    def shuffle(self) -> DataStream:
        """Irregularly over all subtasks; not at random, which would not be the same when a
        micro-batch is run again, but by a hash of sender and position."""
        return self._partitioned("Shuffle", exchanges.Shuffle())

    def global_(self) -> DataStream:
        """All values to the first subtask."""
        return self._partitioned("Global", exchanges.ToFirst())

    def forward(self) -> DataStream:
        """Values stay in the task where they are: what happens without any partitioning, too."""
        return DataStream(self._environment, self._reads)

    @overload
    def broadcast(self) -> DataStream: ...

    @overload
    def broadcast(
        self,
        broadcast_state_descriptor: MapStateDescriptor,
        *other_broadcast_state_descriptors: MapStateDescriptor,
    ) -> BroadcastStream: ...

    def broadcast(
        self,
        broadcast_state_descriptor: MapStateDescriptor | None = None,
        *other_broadcast_state_descriptors: MapStateDescriptor,
    ) -> Any:
        """Each value to every subtask; with state descriptors a BroadcastStream to connect to,
        whose function keeps such state."""
        from headrace.datastream.streams.broadcast import BroadcastStream

        if broadcast_state_descriptor is not None:
            descriptors = [broadcast_state_descriptor, *other_broadcast_state_descriptors]
            return BroadcastStream(self, descriptors)
        return self._partitioned("Broadcast", exchanges.ToEverySubtask())

    def _partitioned(self, name: str, exchange: Exchange) -> DataStream:
        return _PartitionedStream(self._environment, self._reads, name, exchange, self.get_type())

    def cache(self) -> CachedDataStream:
        """PyFlink keeps a cached stream between the jobs of a program; here each job computes it
        again, with the same result."""
        from headrace.datastream.streams.cached import CachedDataStream

        return CachedDataStream(self._environment, self._edges)


class _PartitionedStream(DataStream):
    """Partitioned by a node of its own, unless the next call partitions it again."""

    def __init__(
        self,
        environment: StreamExecutionEnvironment,
        edges: list[Edge],
        name: str,
        exchange: Exchange,
        type_info: TypeInformation | None,
    ) -> None:
        super().__init__(environment, edges)
        self._exchange = KeyedTransformation(
            name=name,
            inputs=[Edge(edge.source, edge.tag, exchange=exchange) for edge in edges],
            operator=PassOn(),
            output_type=type_info,
        )

    @property
    def _edges(self) -> list[Edge]:
        return [Edge(self._exchange)]
