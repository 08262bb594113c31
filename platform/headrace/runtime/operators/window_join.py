"""Joins in windows: the window operator over the values of both streams, told apart when it fires;
as Flink's `JoinedStreams` and `CoGroupedStreams`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from headrace.datastream.function import RuntimeContext
from headrace.datastream.functions import Function, WindowFunction
from headrace.datastream.join_functions import CoGroupFunction, FlatJoinFunction
from headrace.runtime.operators.operator import KeyedContext, method
from headrace.runtime.operators.window import Window


class TaggedUnion(NamedTuple):
    """A value of the first (0) or the second (1) of two streams."""

    stream: int
    value: Any

    def is_one(self) -> bool:
        return self.stream == 0

    def is_two(self) -> bool:
        return self.stream == 1

    def get_one(self) -> Any:
        return self.value if self.stream == 0 else None

    def get_two(self) -> Any:
        return self.value if self.stream == 1 else None


class Grouped(WindowFunction[Any, Any, Any, Any]):
    """Takes a window's values apart."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def open(self, runtime_context: RuntimeContext) -> None:
        if isinstance(self.function, Function):
            self.function.open(runtime_context)

    def close(self) -> None:
        if isinstance(self.function, Function):
            self.function.close()

    def apply(self, key: Any, window: Any, inputs: Iterable[TaggedUnion]) -> Iterable[Any]:
        both: tuple[list[Any], list[Any]] = ([], [])
        for tagged in inputs:
            both[tagged.stream].append(tagged.value)
        return self.results(*both)

    def results(self, first: list[Any], second: list[Any]) -> Iterable[Any]:
        raise NotImplementedError


class Groups(Grouped):
    """For a CoGroupFunction."""

    def results(self, first: list[Any], second: list[Any]) -> Iterable[Any]:
        function: CoGroupFunction = self.function
        return function.co_group(first, second) or ()


class Pairs(Grouped):
    """For each pair, in the order of the first stream and then of the second."""

    def results(self, first: list[Any], second: list[Any]) -> Iterable[Any]:
        join = method(self.function, "join")
        flat = isinstance(self.function, FlatJoinFunction)
        for one in first:
            for two in second:
                result = join(one, two)
                if flat:
                    yield from result or ()
                else:
                    yield result


class WindowJoin(Window):
    """Two inputs; assigner, trigger and evictor see TaggedUnions."""

    wrap = staticmethod(TaggedUnion)

    def process(self, value: Any, input_: int, context: KeyedContext) -> None:
        super().process(TaggedUnion(input_, value), input_, context)
