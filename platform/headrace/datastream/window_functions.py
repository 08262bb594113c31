"""Functions over the content of a window; PyFlink has them in `pyflink.datastream.functions`."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from headrace.datastream.function import Function, KeyedStateStore

IN = TypeVar("IN")
OUT = TypeVar("OUT")
KEY = TypeVar("KEY")
W = TypeVar("W")
V = TypeVar("V")


class WindowContext(abc.ABC, Generic[V]):
    """What a process function of windows sees beside the elements."""

    @abc.abstractmethod
    def window(self) -> Any: ...

    @abc.abstractmethod
    def current_processing_time(self) -> int:
        """The time of the micro-batch."""

    @abc.abstractmethod
    def current_watermark(self) -> int: ...

    @abc.abstractmethod
    def window_state(self) -> KeyedStateStore:
        """State of this key and window. It goes with the window, after the function's `clear`.
        RuntimeError with windows that merge."""

    @abc.abstractmethod
    def global_state(self) -> KeyedStateStore:
        """State of this key, whichever the window: the same as the RuntimeContext's."""


class WindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """All elements of a window, or its one aggregate, to any number of outputs."""

    @abc.abstractmethod
    def apply(self, key: Any, window: Any, inputs: Iterable[Any]) -> Iterable[Any]: ...


class AllWindowFunction(Function, Generic[IN, OUT, W]):
    """As WindowFunction, of a stream without keys."""

    @abc.abstractmethod
    def apply(self, window: Any, inputs: Iterable[Any]) -> Iterable[Any]: ...


class ProcessWindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """As WindowFunction, with a context that knows time and state."""

    class Context(WindowContext[V]):
        """Of the window that fires, or is dropped."""

    @abc.abstractmethod
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterable[Any]: ...

    def clear(self, context: Any) -> None:
        """Called when a window is dropped."""


class ProcessAllWindowFunction(Function, Generic[IN, OUT, W]):
    """As ProcessWindowFunction, of a stream without keys."""

    class Context(WindowContext[V]):
        """Of the window that fires, or is dropped."""

    @abc.abstractmethod
    def process(self, context: Any, elements: Iterable[Any]) -> Iterable[Any]: ...

    def clear(self, context: Any) -> None:
        """Called when a window is dropped."""


class PassThroughWindowFunction(WindowFunction[IN, IN, KEY, W]):
    """Emits what it gets."""

    def apply(self, key: Any, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        yield from inputs


class PassThroughAllWindowFunction(AllWindowFunction[IN, IN, W]):
    """Emits what it gets."""

    def apply(self, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        yield from inputs
