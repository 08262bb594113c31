"""Functions of joins, which PyFlink has none of: Java's, with Python's names."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import Any

from headrace.datastream.function import Function


class JoinFunction(Function):
    """One output for each pair of a window join. Any function of two values will do, too."""

    @abc.abstractmethod
    def join(self, first: Any, second: Any) -> Any: ...


class FlatJoinFunction(Function):
    """Any number of outputs for each pair of a window join."""

    @abc.abstractmethod
    def join(self, first: Any, second: Any) -> Iterable[Any] | None: ...


class CoGroupFunction(Function):
    """All values of a key and window, of either stream; one of the two may be empty."""

    @abc.abstractmethod
    def co_group(self, first: list[Any], second: list[Any]) -> Iterable[Any] | None: ...


class ProcessJoinFunction(Function):
    """Each pair of an interval join, with times and side outputs (`yield tag, value`)."""

    class Context(abc.ABC):
        @abc.abstractmethod
        def get_left_timestamp(self) -> int: ...

        @abc.abstractmethod
        def get_right_timestamp(self) -> int: ...

        @abc.abstractmethod
        def get_timestamp(self) -> int:
            """The pair's: the later of the two."""

    @abc.abstractmethod
    def process_element(
        self, left: Any, right: Any, ctx: ProcessJoinFunction.Context
    ) -> Iterable[Any] | None: ...
