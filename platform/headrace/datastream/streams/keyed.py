"""Streams partitioned by key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from headrace.common.typeinfo import TypeInformation
from headrace.common.types import Row
from headrace.datastream.closeable_iterator import CloseableIterator
from headrace.datastream.functions import Function, KeyedProcessFunction
from headrace.datastream.streams import fields
from headrace.datastream.streams.refusals import refuse, refuse_no_function
from headrace.datastream.streams.stream import DataStream
from headrace.datastream.window import (
    CountSlidingWindowAssigner,
    CountTumblingWindowAssigner,
    WindowAssigner,
)
from headrace.runtime.operators import keyed, keyed_functions
from headrace.runtime.operators.accumulate import Accumulate, Kind
from headrace.runtime.operators.operator import KeyedOperator
from headrace.runtime.transformations import Edge, KeyedTransformation, Transformation

if TYPE_CHECKING:
    from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment
    from headrace.datastream.streams.interval import IntervalJoin
    from headrace.datastream.streams.windowed import WindowedStream


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

    # --- one function, with the key's state

    def map(self, func: Any, output_type: TypeInformation | None = None) -> DataStream:
        """As on other streams; a MapFunction that opens keyed state finds that of the key."""
        if not _opens(func):
            return super().map(func, output_type)
        return self._keyed("Map", keyed_functions.KeyedMap(func, output_type), output_type)

    def flat_map(self, func: Any, output_type: TypeInformation | None = None) -> DataStream:
        if not _opens(func):
            return super().flat_map(func, output_type)
        return self._keyed("FlatMap", keyed_functions.KeyedFlatMap(func, output_type), output_type)

    def filter(self, func: Any) -> DataStream:
        if not _opens(func):
            return super().filter(func)
        return self._keyed("Filter", keyed_functions.KeyedFilter(func), self.get_type())

    def process(  # type: ignore[override]  # PyFlink's own narrowing
        self, func: KeyedProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        if not isinstance(func, KeyedProcessFunction):
            found = type(func).__name__
            refuse(f"a keyed stream is processed by a KeyedProcessFunction, not by a {found}")
        return self._keyed("KeyedProcess", keyed.KeyedProcess(func), output_type)

    # --- aggregations

    def reduce(self, func: Any) -> DataStream:
        """Emits, for each value, all values of its key so far reduced to one."""
        refuse_no_function("reduce", func)
        return self._keyed("Reduce", keyed.Reduce(func), self.get_type())

    def sum(self, position_to_sum: int | str = 0) -> DataStream:
        """Rolling, of a field of tuples, lists or Rows, or of the values themselves; the other
        fields stay those of the key's first value."""
        return self._accumulate("Sum", Kind.SUM, position_to_sum)

    def min(self, position_to_min: int | str = 0) -> DataStream:
        """As `sum`: only the field is the smallest, the others are those of the first value."""
        return self._accumulate("Min", Kind.MIN, position_to_min)

    def max(self, position_to_max: int | str = 0) -> DataStream:
        return self._accumulate("Max", Kind.MAX, position_to_max)

    def min_by(self, position_to_min_by: int | str = 0) -> DataStream:
        """The whole value whose field is the smallest; of several, the one that came first."""
        return self._accumulate("Min By", Kind.MIN_BY, position_to_min_by)

    def max_by(self, position_to_max_by: int | str = 0) -> DataStream:
        return self._accumulate("Max By", Kind.MAX_BY, position_to_max_by)

    def _accumulate(self, name: str, kind: Kind, position: int | str) -> DataStream:
        if not isinstance(position, int | str):
            raise TypeError(f"a field is an int or a str, not {position!r}")
        fields.refuse_no_field(self.get_type(), position)
        return self.reduce(Accumulate(kind, position)).name(name)

    # --- windows and joins

    def window(self, window_assigner: WindowAssigner[Any, Any]) -> WindowedStream:
        from headrace.datastream.streams.windowed import WindowedStream

        return WindowedStream(self, window_assigner)

    def count_window(self, size: int, slide: int = 0) -> WindowedStream:
        """Windows of `size` values of a key, one beginning at each `slide`-th, or one behind the
        other. A window fires when it is full."""
        if slide:
            return self.window(CountSlidingWindowAssigner(size, slide))
        return self.window(CountTumblingWindowAssigner(size))

    def interval_join(self, other: KeyedStream) -> IntervalJoin:
        """Each value with those of `other` of the same key that are near it in event time:
        `.between(lower, upper).process(function)`."""
        from headrace.datastream.streams.interval import IntervalJoin

        return IntervalJoin(self, other)

    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: int | None = None
    ) -> CloseableIterator[Any] | list[Any]:
        """As in PyFlink: Rows of key (f0) and value (f1)."""
        select = self._selector
        rows = DataStream.map(self, lambda value: Row(f0=select(value), f1=value))
        return rows.execute_and_collect(job_execution_name, limit)

    # --- what a keyed stream does not take

    def key_by(self, key_selector: Any, key_type: TypeInformation | None = None) -> KeyedStream:
        """By another key instead."""
        return DataStream(self._environment, self._edges).key_by(key_selector, key_type)

    @property
    def _node(self) -> Transformation:
        refuse("a keyed stream has no operator of its own: set it before key_by, or behind")

    def _fixed(self) -> NoReturn:
        refuse("the partitioning of a keyed stream cannot be overridden")

    def shuffle(self) -> DataStream:
        self._fixed()

    def rescale(self) -> DataStream:
        self._fixed()

    def rebalance(self) -> DataStream:
        self._fixed()

    def forward(self) -> DataStream:
        self._fixed()

    def global_(self) -> DataStream:
        self._fixed()

    def broadcast(self, *args: Any) -> Any:
        self._fixed()

    def partition_custom(self, partitioner: Any, key_selector: Any) -> DataStream:
        self._fixed()

    def _keyed_edges(self) -> list[Edge]:
        return [Edge(edge.source, edge.tag, self._selector) for edge in self._edges]

    def _keyed(
        self, name: str, operator: KeyedOperator, output_type: TypeInformation | None
    ) -> DataStream:
        transformation = KeyedTransformation(
            name=name, inputs=self._keyed_edges(), operator=operator, output_type=output_type
        )
        return DataStream(self._environment, [Edge(transformation)])


def _opens(function: Any) -> bool:
    """Whether it is a Function with something to open, which may be state of the key."""
    return isinstance(function, Function) and type(function).open is not Function.open
