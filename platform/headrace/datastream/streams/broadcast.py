"""Streams whose elements every key group sees and keeps as state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.common.typeinfo import TypeInformation
from headrace.datastream.broadcast_functions import (
    BaseBroadcastProcessFunction,
    BroadcastProcessFunction,
    KeyedBroadcastProcessFunction,
)
from headrace.datastream.state import MapStateDescriptor
from headrace.datastream.streams.refusals import refuse, refuse_keyed_state
from headrace.runtime.exchanges import Home, ToEveryGroup
from headrace.runtime.operators.broadcast import BroadcastProcess, KeyedBroadcastProcess
from headrace.runtime.transformations import Edge, KeyedTransformation

if TYPE_CHECKING:
    from headrace.datastream.streams.stream import DataStream


class BroadcastStream:
    """To be connected to: `stream.connect(broadcast_stream).process(function)`."""

    def __init__(
        self, input_stream: DataStream, broadcast_state_descriptors: list[MapStateDescriptor]
    ) -> None:
        self.input_stream = input_stream
        self.broadcast_state_descriptors = broadcast_state_descriptors


class BroadcastConnectedStream:
    """`process` ends it."""

    def __init__(self, non_broadcast_stream: DataStream, broadcast_stream: BroadcastStream) -> None:
        self.non_broadcast_stream = non_broadcast_stream
        self.broadcast_stream = broadcast_stream

    def process(
        self, func: BaseBroadcastProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """A KeyedBroadcastProcessFunction where the other stream is keyed, else a
        BroadcastProcessFunction."""
        from headrace.datastream.streams.keyed import KeyedStream
        from headrace.datastream.streams.stream import DataStream

        stream = self.non_broadcast_stream
        names = [each.name for each in self.broadcast_stream.broadcast_state_descriptors]
        operator: Any
        if isinstance(stream, KeyedStream):
            if not isinstance(func, KeyedBroadcastProcessFunction):
                refuse("on a keyed stream broadcast state takes a KeyedBroadcastProcessFunction")
            operator = KeyedBroadcastProcess(func, names, output_type)
            edges = stream._keyed_edges()
        else:
            if not isinstance(func, BroadcastProcessFunction):
                refuse(
                    "on a stream that is not keyed broadcast state takes a "
                    "BroadcastProcessFunction; call key_by for a KeyedBroadcastProcessFunction"
                )
            refuse_keyed_state(func, "its stream is not keyed; call key_by before connect")
            operator = BroadcastProcess(func, names, output_type)
            edges = [Edge(edge.source, edge.tag, exchange=Home()) for edge in stream._edges]
        edges += [
            Edge(edge.source, edge.tag, exchange=ToEveryGroup(), input=1)
            for edge in self.broadcast_stream.input_stream._edges
        ]
        node = KeyedTransformation(
            name="Co-Process-Broadcast", inputs=edges, operator=operator, output_type=output_type
        )
        return DataStream(stream._environment, [Edge(node)])
