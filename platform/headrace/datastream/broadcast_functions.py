"""Functions with broadcast state; `headrace.datastream.functions` has them, too."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from headrace.datastream.function import Function
from headrace.datastream.state import (
    BroadcastState,
    MapStateDescriptor,
    ReadOnlyBroadcastState,
    StateDescriptor,
)
from headrace.datastream.time_domain import TimeDomain
from headrace.datastream.timerservice import TimerService

IN1 = TypeVar("IN1")
IN2 = TypeVar("IN2")
OUT = TypeVar("OUT")
KEY = TypeVar("KEY")


class BaseBroadcastProcessFunction(Function):
    """Broadcast elements of a micro-batch come before its other elements, in an order that is the
    same in every key group, and when the batch is run again."""

    class BaseContext(abc.ABC):
        @abc.abstractmethod
        def timestamp(self) -> int: ...

        @abc.abstractmethod
        def current_processing_time(self) -> int: ...

        @abc.abstractmethod
        def current_watermark(self) -> int: ...

    class Context(BaseContext):
        """For broadcast elements: the state may be written."""

        @abc.abstractmethod
        def get_broadcast_state(
            self, state_descriptor: MapStateDescriptor
        ) -> BroadcastState[Any, Any]: ...

    class ReadOnlyContext(BaseContext):
        """For the other stream's elements."""

        @abc.abstractmethod
        def get_broadcast_state(
            self, state_descriptor: MapStateDescriptor
        ) -> ReadOnlyBroadcastState[Any, Any]: ...


class BroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[IN1, IN2, OUT]):
    """A stream that is not keyed, with broadcast state."""

    class Context(BaseBroadcastProcessFunction.Context):
        """For broadcast elements."""

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext):
        """For the other stream's elements."""

    @abc.abstractmethod
    def process_element(
        self, value: Any, ctx: BroadcastProcessFunction.ReadOnlyContext
    ) -> Iterable[Any] | None: ...

    @abc.abstractmethod
    def process_broadcast_element(
        self, value: Any, ctx: BroadcastProcessFunction.Context
    ) -> Iterable[Any] | None:
        """Called for every key group, so that each has the state, on one function object per
        subtask; what is emitted is emitted once per subtask, as in Flink. What has to be known of
        broadcast elements belongs into the broadcast state, not into attributes."""


class KeyedBroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[KEY, IN1, IN2, OUT]):
    """A keyed stream with broadcast state, the key's own state and timers."""

    class Context(BaseBroadcastProcessFunction.Context):
        """For broadcast elements, which have no key."""

        @abc.abstractmethod
        def apply_to_keyed_state(
            self, state_descriptor: StateDescriptor, function: Callable[[Any, Any], object]
        ) -> None:
            """Java's: calls `function(key, state)` for every key of the key group that has such
            state. What the same call emits is emitted by every key group. A function class that
            uses it has its keys indexed, which costs an entry for each of them."""

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext):
        """For the keyed stream's elements."""

        @abc.abstractmethod
        def timer_service(self) -> TimerService: ...

        @abc.abstractmethod
        def get_current_key(self) -> Any: ...

    class OnTimerContext(ReadOnlyContext):
        """The context of a timer that fires."""

        @abc.abstractmethod
        def time_domain(self) -> TimeDomain: ...

    @abc.abstractmethod
    def process_element(
        self, value: Any, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext
    ) -> Iterable[Any] | None: ...

    @abc.abstractmethod
    def process_broadcast_element(
        self, value: Any, ctx: KeyedBroadcastProcessFunction.Context
    ) -> Iterable[Any] | None:
        """Called for every key group, see BroadcastProcessFunction."""

    def on_timer(
        self, timestamp: int, ctx: KeyedBroadcastProcessFunction.OnTimerContext
    ) -> Iterable[Any] | None:
        """Called for each timer that fires, in order of time."""
        return None
