"""What a job's author writes; PyFlink's `pyflink.datastream.functions`.

Instances are pickled to the Python workers. `open` is called there before the first record an
instance sees. `close` is here for PyFlink's sake and not called: Spark ends its workers without
notice, so nothing that matters can depend on it. Raising from any method fails the
attempt: the micro-batch is run again from the last checkpoint.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from headrace.datastream.state import (
    ListState,
    ListStateDescriptor,
    MapState,
    MapStateDescriptor,
    ReducingState,
    ReducingStateDescriptor,
    ValueState,
    ValueStateDescriptor,
)
from headrace.datastream.time_domain import TimeDomain
from headrace.datastream.timerservice import TimerService as TimerService

IN = TypeVar("IN")
OUT = TypeVar("OUT")
KEY = TypeVar("KEY")
W = TypeVar("W")


class Counter(abc.ABC):
    """A number that a function counts up; shown on the job's page."""

    @abc.abstractmethod
    def inc(self, n: int = 1) -> None: ...


class MetricGroup(abc.ABC):
    """Metrics of one function."""

    @abc.abstractmethod
    def counter(self, name: str) -> Counter: ...


class RuntimeContext(abc.ABC):
    """What a function may know and keep where it runs."""

    @abc.abstractmethod
    def get_task_name(self) -> str: ...

    @abc.abstractmethod
    def get_number_of_parallel_subtasks(self) -> int: ...

    @abc.abstractmethod
    def get_index_of_this_subtask(self) -> int: ...

    @abc.abstractmethod
    def get_attempt_number(self) -> int: ...

    @abc.abstractmethod
    def get_metrics_group(self) -> MetricGroup: ...

    @abc.abstractmethod
    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState:
        """State of the current key; only in functions on a keyed stream, as are those below."""

    @abc.abstractmethod
    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState: ...

    @abc.abstractmethod
    def get_map_state(self, state_descriptor: MapStateDescriptor) -> MapState: ...

    @abc.abstractmethod
    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> ReducingState: ...


class Function(abc.ABC):  # noqa: B024 - PyFlink's base class has no abstract method either
    """Base of all functions."""

    def open(self, runtime_context: RuntimeContext) -> None:  # noqa: B027
        """Called once per worker before the first record."""

    def close(self) -> None:  # noqa: B027
        """Not called, see the module's docstring."""


class MapFunction(Function):
    @abc.abstractmethod
    def map(self, value: Any) -> Any: ...


class FlatMapFunction(Function):
    @abc.abstractmethod
    def flat_map(self, value: Any) -> Iterable[Any] | None: ...


class FilterFunction(Function):
    @abc.abstractmethod
    def filter(self, value: Any) -> bool: ...


class KeySelector(Function):
    @abc.abstractmethod
    def get_key(self, value: Any) -> Any:
        """Must give the same key for the same value, on any machine."""


class ReduceFunction(Function):
    @abc.abstractmethod
    def reduce(self, value1: Any, value2: Any) -> Any:
        """Must be associative. Neither argument may be changed in place."""


class AggregateFunction(Function):
    """Values into an accumulator, and the accumulator into a result."""

    @abc.abstractmethod
    def create_accumulator(self) -> Any: ...

    @abc.abstractmethod
    def add(self, value: Any, accumulator: Any) -> Any:
        """The accumulator with the value in it; may be the given one, changed."""

    @abc.abstractmethod
    def get_result(self, accumulator: Any) -> Any:
        """Called at each firing: with allowed lateness more than once per window."""

    @abc.abstractmethod
    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        """Both accumulators in one; only called for merging (session) windows."""


class ProcessFunction(Function):
    """Any number of outputs per record, side outputs included (`yield tag, value`)."""

    class Context(abc.ABC):
        @abc.abstractmethod
        def timestamp(self) -> int | None: ...

        @abc.abstractmethod
        def timer_service(self) -> TimerService: ...

    @abc.abstractmethod
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Iterable[Any] | None: ...


class KeyedProcessFunction(Function):
    """As ProcessFunction, with the key's state and timers."""

    class Context(ProcessFunction.Context):
        @abc.abstractmethod
        def get_current_key(self) -> Any: ...

    class OnTimerContext(Context):
        """The context of a timer that fires; `timestamp` is the timer's."""

        @abc.abstractmethod
        def time_domain(self) -> TimeDomain:
            """Which kind of timer it is."""

    @abc.abstractmethod
    def process_element(
        self, value: Any, ctx: KeyedProcessFunction.Context
    ) -> Iterable[Any] | None: ...

    def on_timer(
        self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext
    ) -> Iterable[Any] | None:
        """Called for each timer that fires, in order of time."""
        return None


class ProcessWindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """All elements of a window, or its one aggregate, to any number of outputs."""

    class Context(abc.ABC, Generic[W]):  # type: ignore[misc]  # the name W is PyFlink's
        @abc.abstractmethod
        def window(self) -> Any: ...

        @abc.abstractmethod
        def current_processing_time(self) -> int: ...

        @abc.abstractmethod
        def current_watermark(self) -> int: ...

    @abc.abstractmethod
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterable[Any]: ...

    def clear(self, context: Any) -> None:
        """Called when a window is dropped."""


class WindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """As ProcessWindowFunction, with the window itself instead of a context."""

    @abc.abstractmethod
    def apply(self, key: Any, window: Any, inputs: Iterable[Any]) -> Iterable[Any]: ...
