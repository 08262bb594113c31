"""The base of all functions, and what a function may know and keep where it runs."""

from __future__ import annotations

import abc
from typing import Any

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


class Counter(abc.ABC):
    """A number that a function counts up; shown on the job's page."""

    @abc.abstractmethod
    def inc(self, n: int = 1) -> None: ...


class MetricGroup(abc.ABC):
    """Metrics of one function."""

    @abc.abstractmethod
    def counter(self, name: str) -> Counter: ...


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


class RuntimeContext(KeyedStateStore):
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


class Function(abc.ABC):  # noqa: B024 - PyFlink's base class has no abstract method either
    """Base of all functions."""

    def open(self, runtime_context: RuntimeContext) -> None:  # noqa: B027
        """Called once per worker before the first record."""

    def close(self) -> None:  # noqa: B027
        """Not called, see the module's docstring."""
