"""Two streams that one function reads."""

from __future__ import annotations

from typing import Any

from headrace.common.typeinfo import TypeInformation
from headrace.datastream.co_functions import (
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedCoProcessFunction,
)
from headrace.datastream.streams.keyed import KeyedStream
from headrace.datastream.streams.refusals import refuse, refuse_keyed_state
from headrace.datastream.streams.stream import DataStream
from headrace.runtime.exchanges import OwnSubtask
from headrace.runtime.operators.co_process import CoFunction, KeyedCoProcess
from headrace.runtime.operators.shared_function import SharedCoProcess, keeps_attributes
from headrace.runtime.transformations import (
    CoTransformation,
    Edge,
    KeyedTransformation,
    Transformation,
)


class ConnectedStreams:
    """`map`, `flat_map` or `process` ends it. With state and timers where both are keyed."""

    def __init__(self, stream1: DataStream, stream2: DataStream) -> None:
        self.stream1 = stream1
        self.stream2 = stream2

    def key_by(
        self, key_selector1: Any, key_selector2: Any, key_type: TypeInformation | None = None
    ) -> ConnectedStreams:
        """Both by what has to be one kind of key: 1, 1.0 and "1" are three keys."""
        return ConnectedStreams(
            self.stream1.key_by(key_selector1, key_type),
            self.stream2.key_by(key_selector2, key_type),
        )

    def map(self, func: CoMapFunction, output_type: TypeInformation | None = None) -> DataStream:
        if not isinstance(func, CoMapFunction):
            raise TypeError(f"map of connected streams takes a CoMapFunction, not {func!r:.80}")
        return self._connected("Co-Map", func, output_type)

    def flat_map(
        self, func: CoFlatMapFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        if not isinstance(func, CoFlatMapFunction):
            raise TypeError(
                f"flat_map of connected streams takes a CoFlatMapFunction, not {func!r:.80}"
            )
        return self._connected("Co-Flat Map", func, output_type)

    def process(
        self,
        func: CoProcessFunction | KeyedCoProcessFunction,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        if not isinstance(func, CoProcessFunction | KeyedCoProcessFunction):
            raise TypeError(
                "process of connected streams takes a CoProcessFunction or a "
                f"KeyedCoProcessFunction, not {func!r:.80}"
            )
        if isinstance(func, KeyedCoProcessFunction) and not self._is_keyed():
            refuse(
                "a KeyedCoProcessFunction needs two keyed streams; call key_by on both, or on "
                "what connect gives"
            )
        name = "Keyed Co-Process" if self._is_keyed() else "Co-Process"
        return self._connected(name, func, output_type)

    def _is_keyed(self) -> bool:
        return isinstance(self.stream1, KeyedStream) and isinstance(self.stream2, KeyedStream)

    def _connected(
        self, name: str, function: CoFunction, output_type: TypeInformation | None
    ) -> DataStream:
        one, two = self.stream1, self.stream2
        node: Transformation
        if isinstance(one, KeyedStream) and isinstance(two, KeyedStream):
            edges = [*numbered(one._keyed_edges(), 0), *numbered(two._keyed_edges(), 1)]
            operator = KeyedCoProcess(function, output_type)
            node = KeyedTransformation(
                name=name, inputs=edges, operator=operator, output_type=output_type
            )
        else:
            refuse_keyed_state(function, "its streams are not both keyed; call key_by on both")
            edges = [*numbered(one._edges, 0), *numbered(two._edges, 1)]
            node = _unkeyed(name, edges, function, output_type)
        return DataStream(one._environment, [Edge(node)])


def _unkeyed(
    name: str, edges: list[Edge], function: CoFunction, output_type: TypeInformation | None
) -> Transformation:
    """Both streams in one function object where it keeps something; else wherever they are."""
    if not keeps_attributes(function):
        return CoTransformation(name=name, inputs=edges, function=function, output_type=output_type)
    met = [Edge(e.source, e.tag, exchange=OwnSubtask(), input=e.input) for e in edges]
    operator = SharedCoProcess(function, output_type)
    return KeyedTransformation(name=name, inputs=met, operator=operator, output_type=output_type)


def numbered(edges: list[Edge], input_: int) -> list[Edge]:
    """The same edges, into an input of an operator that tells its inputs apart."""
    return [Edge(edge.source, edge.tag, edge.key, edge.exchange, input_) for edge in edges]
