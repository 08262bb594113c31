"""The RuntimeContext that functions get in `open`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from headrace.common import accumulators
from headrace.common.accumulators import Accumulator
from headrace.datastream import function as api
from headrace.datastream import state
from headrace.metrics import MetricGroup
from headrace.runtime.bound_state import bind
from headrace.runtime.measures import Group, Measures
from headrace.runtime.operators.operator import KeyedContext
from headrace.runtime.program import Node, Program

A = TypeVar("A", bound=Accumulator[Any, Any])


class TaskContext(api.RuntimeContext):
    """Of one operator in one subtask. `keyed` is there on a keyed stream."""

    def __init__(
        self,
        node: Node,
        program: Program,
        measures: Measures,
        subtask: int = 0,
        keyed: KeyedContext | None = None,
    ) -> None:
        self._task = node.name
        self._node = node.id
        self._program = program
        self._measures = measures
        self._subtask = subtask
        self._keyed = keyed
        self._accumulators: dict[str, Accumulator[Any, Any]] = {}

    def get_job_id(self) -> str:
        return self._program.job_id

    def get_task_name(self) -> str:
        return self._task

    def get_task_name_with_subtasks(self) -> str:
        of = f"{self._subtask + 1}/{self.get_number_of_parallel_subtasks()}"
        return f"{self._task} ({of})#{self.get_attempt_number()}"

    def get_number_of_parallel_subtasks(self) -> int:
        return self._program.subtasks

    def get_max_number_of_parallel_subtasks(self) -> int:
        return self._program.max_parallelism

    def get_index_of_this_subtask(self) -> int:
        return self._subtask

    def get_attempt_number(self) -> int:
        return max(0, self._program.attempt - 1)

    def get_job_parameter(self, key: str, default_value: str | None = None) -> str | None:
        return self._program.job_parameters.get(key, default_value)

    def get_metrics_group(self) -> MetricGroup:
        return Group(self._measures, self._node)

    def get_distributed_cache(self) -> api.DistributedCache:
        return _CachedFiles(self._program.cached_files)

    # --- accumulators

    def add_accumulator(self, name: str, accumulator: Accumulator[Any, Any]) -> None:
        if name in self._accumulators:
            raise ValueError(f"{self._task!r} has an accumulator {name!r} already")
        self._accumulators[name] = accumulator
        self._measures.accumulate(name, accumulator, self._node)

    def get_accumulator(self, name: str) -> Accumulator[Any, Any] | None:
        return self._accumulators.get(name)

    def get_int_counter(self, name: str) -> accumulators.IntCounter:
        return self._accumulator(name, accumulators.IntCounter)

    def get_long_counter(self, name: str) -> accumulators.LongCounter:
        return self._accumulator(name, accumulators.LongCounter)

    def get_double_counter(self, name: str) -> accumulators.DoubleCounter:
        return self._accumulator(name, accumulators.DoubleCounter)

    def get_histogram(self, name: str) -> accumulators.Histogram:
        return self._accumulator(name, accumulators.Histogram)

    def _accumulator(self, name: str, kind: type[A]) -> A:
        if name not in self._accumulators:
            self.add_accumulator(name, kind())
        found = self._accumulators[name]
        if not isinstance(found, kind):
            raise ValueError(f"accumulator {name!r} is a {type(found).__name__}")
        return found

    # --- keyed state

    def get_state(self, state_descriptor: state.ValueStateDescriptor) -> Any:
        return self._bind(state_descriptor)

    def get_list_state(self, state_descriptor: state.ListStateDescriptor) -> Any:
        return self._bind(state_descriptor)

    def get_map_state(self, state_descriptor: state.MapStateDescriptor) -> Any:
        return self._bind(state_descriptor)

    def get_reducing_state(self, state_descriptor: state.ReducingStateDescriptor) -> Any:
        return self._bind(state_descriptor)

    def get_aggregating_state(self, state_descriptor: state.AggregatingStateDescriptor) -> Any:
        return self._bind(state_descriptor)

    def _bind(self, descriptor: state.StateDescriptor) -> Any:
        if self._keyed is None:
            raise RuntimeError(
                f"{self._task!r} asked for the keyed state {descriptor.name!r}, but its stream "
                "is not keyed; call key_by before it"
            )
        return bind(descriptor, self._keyed)


class _CachedFiles(api.DistributedCache):
    def __init__(self, files: dict[str, str]) -> None:
        self._files = files

    def get_file(self, name: str) -> Path:
        if name not in self._files:
            raise KeyError(f"no file was registered as {name!r}, only {sorted(self._files)}")
        path = Path(self._files[name])
        if path.exists():  # driver and worker share the machine
            return path
        from pyspark import SparkFiles

        return Path(SparkFiles.get(path.name))
