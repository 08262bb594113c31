"""Functions of two connected streams; `headrace.datastream.functions` has them, too."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import Any

from headrace.datastream.function import Function
from headrace.datastream.time_domain import TimeDomain
from headrace.datastream.timerservice import TimerService


class CoMapFunction(Function):
    """One output for each value of either stream; None emits nothing, as in PyFlink."""

    @abc.abstractmethod
    def map1(self, value: Any) -> Any: ...

    @abc.abstractmethod
    def map2(self, value: Any) -> Any: ...


class CoFlatMapFunction(Function):
    """Any number of outputs for each value of either stream."""

    @abc.abstractmethod
    def flat_map1(self, value: Any) -> Iterable[Any] | None: ...

    @abc.abstractmethod
    def flat_map2(self, value: Any) -> Iterable[Any] | None: ...


class CoProcessFunction(Function):
    """As CoFlatMapFunction, with times and side outputs (`yield tag, value`).

    On streams that are not keyed each subtask has one object for both streams. What it keeps in
    attributes that can be pickled is state of the job, one entry that is written with each batch:
    what grows belongs into keyed state."""

    class Context(abc.ABC):
        @abc.abstractmethod
        def timestamp(self) -> int: ...

        @abc.abstractmethod
        def timer_service(self) -> TimerService:
            """Time; timers only on keyed streams."""

    @abc.abstractmethod
    def process_element1(
        self, value: Any, ctx: CoProcessFunction.Context
    ) -> Iterable[Any] | None: ...

    @abc.abstractmethod
    def process_element2(
        self, value: Any, ctx: CoProcessFunction.Context
    ) -> Iterable[Any] | None: ...


class KeyedCoProcessFunction(Function):
    """Two keyed streams with the state and timers of their common key.

    Within a micro-batch the values of one sender keep their order; which of the two streams is
    first is not said, and the same when the batch is run again."""

    class Context(CoProcessFunction.Context):
        @abc.abstractmethod
        def get_current_key(self) -> Any: ...

    class OnTimerContext(Context):
        """The context of a timer that fires; `timestamp` is the timer's."""

        @abc.abstractmethod
        def time_domain(self) -> TimeDomain: ...

    @abc.abstractmethod
    def process_element1(
        self, value: Any, ctx: KeyedCoProcessFunction.Context
    ) -> Iterable[Any] | None: ...

    @abc.abstractmethod
    def process_element2(
        self, value: Any, ctx: KeyedCoProcessFunction.Context
    ) -> Iterable[Any] | None: ...

    def on_timer(
        self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext
    ) -> Iterable[Any] | None:
        """Called for each timer that fires, in order of time."""
        return None
