"""The RuntimeContext that functions get in `open`."""

from __future__ import annotations

from typing import Any, Protocol, cast

from headrace.datastream import functions
from headrace.datastream import state as api
from headrace.runtime.bound_state import bind
from headrace.runtime.operators.operator import KeyedContext
from headrace.runtime.program import Program


class Counting(Protocol):
    """Who keeps the counters of the current batch."""

    def count(self, counter: str, n: int = 1) -> None: ...


class TaskContext(functions.RuntimeContext):
    """`where` is the keyed context on a keyed stream, else whoever counts."""

    def __init__(self, task: str, program: Program, where: Counting | KeyedContext) -> None:
        self._task = task
        self._program = program
        self._where = where

    def get_task_name(self) -> str:
        return self._task

    def get_number_of_parallel_subtasks(self) -> int:
        return self._program.parallelism

    def get_index_of_this_subtask(self) -> int:
        from pyspark import TaskContext as SparkTask

        task = SparkTask.get()
        return 0 if task is None else task.partitionId()

    def get_attempt_number(self) -> int:
        return self._program.attempt

    def get_metrics_group(self) -> functions.MetricGroup:
        return _Metrics(self._where)

    def get_state(self, state_descriptor: api.ValueStateDescriptor) -> api.ValueState[Any]:
        return self._bind(state_descriptor)  # type: ignore[no-any-return]

    def get_list_state(self, state_descriptor: api.ListStateDescriptor) -> api.ListState[Any]:
        return self._bind(state_descriptor)  # type: ignore[no-any-return]

    def get_map_state(self, state_descriptor: api.MapStateDescriptor) -> api.MapState[Any, Any]:
        return self._bind(state_descriptor)  # type: ignore[no-any-return]

    def get_reducing_state(
        self, state_descriptor: api.ReducingStateDescriptor
    ) -> api.ReducingState[Any]:
        return self._bind(state_descriptor)  # type: ignore[no-any-return]

    def get_aggregating_state(
        self, state_descriptor: api.AggregatingStateDescriptor
    ) -> api.AggregatingState[Any, Any]:
        return self._bind(state_descriptor)  # type: ignore[no-any-return]

    def _bind(self, descriptor: api.StateDescriptor) -> Any:
        if not hasattr(self._where, "set_state"):
            raise RuntimeError(
                f"{self._task!r} asked for the keyed state {descriptor.name!r}, but its stream "
                "is not keyed; call key_by before it"
            )
        return bind(descriptor, cast(KeyedContext, self._where))


class _Metrics(functions.MetricGroup):
    def __init__(self, where: Counting) -> None:
        self._where = where

    def counter(self, name: str) -> functions.Counter:
        return _Counter(self._where, name)


class _Counter(functions.Counter):
    def __init__(self, where: Counting, name: str) -> None:
        self._where = where
        self._name = name

    def inc(self, n: int = 1) -> None:
        self._where.count(self._name, n)
