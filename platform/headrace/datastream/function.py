"""The base of all functions, and what a function may know and keep where it runs."""

from __future__ import annotations

import abc
from pathlib import Path
from typing import Any

from headrace.common.accumulators import (
    Accumulator,
    DoubleCounter,
    Histogram,
    IntCounter,
    LongCounter,
)
from headrace.datastream.state import (
    AggregatingState,
    AggregatingStateDescriptor,
    ListState,
    ListStateDescriptor,
    MapState,
    MapStateDescriptor,
    ReducingState,
    ReducingStateDescriptor,
    ValueState,
    ValueStateDescriptor,
)
from headrace.metrics import MetricGroup


class KeyedStateStore(abc.ABC):
    """State of the current key: only in functions on a keyed stream."""

    @abc.abstractmethod
    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState[Any]: ...

    @abc.abstractmethod
    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]: ...

    @abc.abstractmethod
    def get_map_state(self, state_descriptor: MapStateDescriptor) -> MapState[Any, Any]: ...

    @abc.abstractmethod
    def get_reducing_state(
        self, state_descriptor: ReducingStateDescriptor
    ) -> ReducingState[Any]: ...

    @abc.abstractmethod
    def get_aggregating_state(
        self, state_descriptor: AggregatingStateDescriptor
    ) -> AggregatingState[Any, Any]: ...


class DistributedCache(abc.ABC):
    """Files that the program registered with `register_cached_file`."""

    @abc.abstractmethod
    def get_file(self, name: str) -> Path:
        """A copy, or the file itself, on the machine where the function runs; not to be written
        to. KeyError for a name that was not registered."""


class RuntimeContext(KeyedStateStore):
    """What a function may know and keep where it runs. Valid from `open` to `close`."""

    @abc.abstractmethod
    def get_job_id(self) -> str: ...

    @abc.abstractmethod
    def get_task_name(self) -> str: ...

    @abc.abstractmethod
    def get_task_name_with_subtasks(self) -> str:
        """As "Map (3/6)#0": of subtask 2 of 6, in the first attempt."""

    @abc.abstractmethod
    def get_number_of_parallel_subtasks(self) -> int: ...

    @abc.abstractmethod
    def get_max_number_of_parallel_subtasks(self) -> int: ...

    @abc.abstractmethod
    def get_index_of_this_subtask(self) -> int:
        """0 up to the parallelism: behind an exchange that of the key group as in Flink, in front
        of the first that of the source's task. Each index has a function object of its own, which
        another process may continue in a later batch."""

    @abc.abstractmethod
    def get_attempt_number(self) -> int:
        """0 for the job's first attempt. A task that Spark runs again within it is not told."""

    @abc.abstractmethod
    def get_job_parameter(self, key: str, default_value: str | None = None) -> str | None:
        """A global job parameter, or `default_value`."""

    @abc.abstractmethod
    def get_metrics_group(self) -> MetricGroup: ...

    @abc.abstractmethod
    def get_distributed_cache(self) -> DistributedCache: ...

    @abc.abstractmethod
    def add_accumulator(self, name: str, accumulator: Accumulator[Any, Any]) -> None:
        """Adds up over all subtasks and batches into the job's result, each committed batch once.
        ValueError where another function of the task has given the name to another kind."""

    @abc.abstractmethod
    def get_accumulator(self, name: str) -> Accumulator[Any, Any] | None: ...

    @abc.abstractmethod
    def get_int_counter(self, name: str) -> IntCounter: ...

    @abc.abstractmethod
    def get_long_counter(self, name: str) -> LongCounter: ...

    @abc.abstractmethod
    def get_double_counter(self, name: str) -> DoubleCounter: ...

    @abc.abstractmethod
    def get_histogram(self, name: str) -> Histogram: ...


class Function(abc.ABC):  # noqa: B024 - PyFlink's base class has no abstract method either
    """Base of all functions."""

    def open(self, runtime_context: RuntimeContext) -> None:  # noqa: B027
        """Called once per worker process and subtask, before the first record."""

    def close(self) -> None:  # noqa: B027
        """Called once for each `open`: when the job ends, in whatever way, or before, when Spark
        lets an idle worker go or a task has failed. Not in a process that is killed, so nothing
        that matters can depend on it; results cannot be emitted, nor anything counted, from here.
        What it raises is in the worker's log (the job in one process raises it)."""
