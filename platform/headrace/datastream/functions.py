"""What a job's author writes; PyFlink's `pyflink.datastream.functions`.

Instances are pickled to the Python workers. `open` is called there before the first record an
instance sees, `close` when the worker ends in order. Raising from any method fails the attempt:
the micro-batch is run again from the last checkpoint.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import Any, TypeVar

from headrace.datastream.async_functions import AsyncFunction as AsyncFunction
from headrace.datastream.async_functions import AsyncRetryPredicate as AsyncRetryPredicate
from headrace.datastream.async_functions import AsyncRetryStrategy as AsyncRetryStrategy
from headrace.datastream.borrowed import borrowed
from headrace.datastream.broadcast_functions import (
    BaseBroadcastProcessFunction as BaseBroadcastProcessFunction,
)
from headrace.datastream.broadcast_functions import (
    BroadcastProcessFunction as BroadcastProcessFunction,
)
from headrace.datastream.broadcast_functions import (
    KeyedBroadcastProcessFunction as KeyedBroadcastProcessFunction,
)
from headrace.datastream.co_functions import CoFlatMapFunction as CoFlatMapFunction
from headrace.datastream.co_functions import CoMapFunction as CoMapFunction
from headrace.datastream.co_functions import CoProcessFunction as CoProcessFunction
from headrace.datastream.co_functions import KeyedCoProcessFunction as KeyedCoProcessFunction
from headrace.datastream.function import DistributedCache as DistributedCache
from headrace.datastream.function import Function as Function
from headrace.datastream.function import KeyedStateStore as KeyedStateStore
from headrace.datastream.function import RuntimeContext as RuntimeContext
from headrace.datastream.join_functions import CoGroupFunction as CoGroupFunction
from headrace.datastream.join_functions import FlatJoinFunction as FlatJoinFunction
from headrace.datastream.join_functions import JoinFunction as JoinFunction
from headrace.datastream.join_functions import ProcessJoinFunction as ProcessJoinFunction
from headrace.datastream.sink_function import SinkFunction as SinkFunction
from headrace.datastream.sink_function import SourceFunction as SourceFunction
from headrace.datastream.time_domain import TimeDomain
from headrace.datastream.timerservice import TimerService as TimerService
from headrace.datastream.window_functions import AllWindowFunction as AllWindowFunction
from headrace.datastream.window_functions import (
    PassThroughAllWindowFunction as PassThroughAllWindowFunction,
)
from headrace.datastream.window_functions import (
    PassThroughWindowFunction as PassThroughWindowFunction,
)
from headrace.datastream.window_functions import (
    ProcessAllWindowFunction as ProcessAllWindowFunction,
)
from headrace.datastream.window_functions import ProcessWindowFunction as ProcessWindowFunction
from headrace.datastream.window_functions import WindowFunction as WindowFunction

__getattr__ = borrowed(__name__, "headrace.datastream.state", "headrace.metrics")

IN = TypeVar("IN")
OUT = TypeVar("OUT")
KEY = TypeVar("KEY")
W = TypeVar("W")


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


class NullByteKeySelector(KeySelector):
    """The same key for all values."""

    def get_key(self, value: Any) -> Any:
        return 0


class Partitioner(Function):
    """Says where the values of a key go, for `partition_custom`."""

    @abc.abstractmethod
    def partition(self, key: Any, num_partitions: int) -> int:
        """0 up to `num_partitions`; the same for the same key, whenever it is asked."""


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
        def timestamp(self) -> int:
            """The element's; of one without a time the smallest there is, as in PyFlink."""

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
