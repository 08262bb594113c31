"""What triggers, evictors, assigners and window functions see of their surroundings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from headrace.datastream import state as api
from headrace.datastream.functions import (
    AllWindowFunction,
    ProcessAllWindowFunction,
    RuntimeContext,
    WindowFunction,
)
from headrace.datastream.window import Evictor, Trigger, WindowAssigner
from headrace.datastream.window_functions import WindowContext
from headrace.runtime import bound_state
from headrace.runtime.operators.operator import KeyedContext

_TRIGGER = "trigger."
_WINDOW = "window."


class TriggerContext(Trigger.OnMergeContext, Evictor.EvictorContext):
    """`window` is set before each call; `merged` for `on_merge`."""

    window: Any = None
    merged: list[Any]

    def __init__(self, keyed: KeyedContext, runtime: RuntimeContext) -> None:
        self._keyed = keyed
        self._runtime = runtime

    def get_current_processing_time(self) -> int:
        return self._keyed.processing_time

    def get_current_watermark(self) -> int:
        return self._keyed.watermark

    def get_metric_group(self) -> Any:
        return self._runtime.get_metrics_group()

    def register_processing_time_timer(self, time: int) -> None:
        self._keyed.register_processing_timer(time, self.window)

    def register_event_time_timer(self, time: int) -> None:
        self._keyed.register_timer(time, self.window)

    def delete_processing_time_timer(self, time: int) -> None:
        self._keyed.delete_processing_timer(time, self.window)

    def delete_event_time_timer(self, time: int) -> None:
        self._keyed.delete_timer(time, self.window)

    def get_partitioned_state(self, state_descriptor: api.StateDescriptor) -> Any:
        window = self.window
        return bound_state.bind(state_descriptor, self._keyed, _TRIGGER, lambda: window)

    def merge_partitioned_state(self, state_descriptor: api.StateDescriptor) -> None:
        others = [window for window in self.merged if window != self.window]
        bound_state.merge(state_descriptor, self._keyed, _TRIGGER, self.window, others)


class AssignerContext(WindowAssigner.WindowAssignerContext):
    def __init__(self, keyed: KeyedContext, runtime: RuntimeContext) -> None:
        self._keyed = keyed
        self._runtime = runtime

    def get_current_processing_time(self) -> int:
        return self._keyed.processing_time

    def get_runtime_context(self) -> RuntimeContext:
        return self._runtime


class FunctionContext(WindowContext[Any]):
    """`window_` is set before each call."""

    window_: Any = None

    def __init__(self, keyed: KeyedContext, runtime: RuntimeContext, merging: bool) -> None:
        self._keyed = keyed
        self._runtime = runtime
        self._merging = merging

    def window(self) -> Any:
        return self.window_

    def current_processing_time(self) -> int:
        return self._keyed.processing_time

    def current_watermark(self) -> int:
        return self._keyed.watermark

    def window_state(self) -> Any:
        if self._merging:
            raise RuntimeError("per-window state is not allowed when using merging windows")
        return _WindowState(self._keyed, self.window_)

    def global_state(self) -> Any:
        return self._runtime


class _WindowState:
    """A KeyedStateStore of one window."""

    def __init__(self, keyed: KeyedContext, window: Any) -> None:
        self._keyed = keyed
        self._window = window

    def _bind(self, state_descriptor: api.StateDescriptor) -> Any:
        window = self._window
        return bound_state.bind(state_descriptor, self._keyed, _WINDOW, lambda: window)

    get_state = get_list_state = get_map_state = _bind
    get_reducing_state = get_aggregating_state = _bind


def caller(
    function: Any, process_context: FunctionContext
) -> Callable[[Any, Any, Iterable[Any]], Iterable[Any] | None]:
    """(key, window, elements) -> results, of whichever kind the window's function is."""
    if function is None:
        return lambda key, window, elements: elements
    if isinstance(function, AllWindowFunction):
        return lambda key, window, elements: function.apply(window, elements)
    if isinstance(function, ProcessAllWindowFunction):
        return lambda key, window, elements: function.process(process_context, elements)
    if isinstance(function, WindowFunction):
        return function.apply
    return lambda key, window, elements: function.process(key, process_context, elements)
