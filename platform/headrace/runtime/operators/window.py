"""Windows on a keyed stream: assigner, trigger, lateness, incremental aggregation.

The rules are Flink's `WindowOperator`: an element is late when all its windows are past their
cleanup time (end + allowed lateness) at the operator's watermark; a window's content stays until
cleanup unless its trigger purges it; firing again emits again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from headrace.datastream.functions import (
    AggregateFunction,
    Function,
    ProcessWindowFunction,
    RuntimeContext,
    WindowFunction,
)
from headrace.datastream.window import Trigger, TriggerResult, WindowAssigner
from headrace.runtime.operators.operator import KeyedContext, KeyedOperator, emit_results, method

LATE_DROPPED = "numLateRecordsDropped"
_CONTENT = "content"
_TRIGGER = "trigger."


class Window(KeyedOperator):
    """`aggregate`, `reduce`, or neither (all elements are kept); then perhaps `function`."""

    def __init__(
        self,
        assigner: WindowAssigner[Any, Any],
        trigger: Trigger[Any, Any] | None = None,
        *,
        aggregate: AggregateFunction | None = None,
        reduce: Any = None,
        function: ProcessWindowFunction[Any, Any, Any, Any]
        | WindowFunction[Any, Any, Any, Any]
        | None = None,
        allowed_lateness: int = 0,
        late_tag: str | None = None,
    ) -> None:
        self.assigner = assigner
        self.trigger = trigger or assigner.get_default_trigger()
        self.aggregate = aggregate
        self.reduce = reduce
        self.function = function
        self.allowed_lateness = allowed_lateness
        self.late_tag = late_tag

    def open(self, context: RuntimeContext, keyed: KeyedContext) -> None:
        self._reduce: Callable[[Any, Any], Any] | None = (
            method(self.reduce, "reduce") if self.reduce is not None else None
        )
        self._context = _WindowContext(keyed)
        for function in (self.aggregate, self.reduce, self.function):
            if isinstance(function, Function):
                function.open(context)

    def process(self, value: Any, input_: int, context: KeyedContext) -> None:
        timestamp = context.timestamp
        if timestamp is None:
            raise ValueError(
                "an event-time window got a record without a timestamp; give its source a "
                "WatermarkStrategy with a timestamp assigner"
            )
        skipped = True
        for window in self.assigner.assign_windows(value, timestamp):
            if self._cleanup_time(window) <= context.watermark:
                continue
            skipped = False
            self._add(value, window, context)
            self._context.window_ = window
            result = self.trigger.on_element(value, timestamp, window, self._context)
            self._act(result, window, context)
            context.register_timer(self._cleanup_time(window), window)
        if skipped and timestamp + self.allowed_lateness <= context.watermark:
            self._late(value, timestamp, context)

    def on_timer(self, timestamp: int, namespace: Any, context: KeyedContext) -> None:
        window = self._context.window_ = namespace
        if self.assigner.is_event_time():
            self._act(self.trigger.on_event_time(timestamp, window, self._context), window, context)
        if timestamp == self._cleanup_time(window):
            self._drop(window, context)

    def _cleanup_time(self, window: Any) -> int:
        return int(window.max_timestamp()) + self.allowed_lateness

    def _late(self, value: Any, timestamp: int, context: KeyedContext) -> None:
        if self.late_tag is None:
            context.count(LATE_DROPPED)
        else:
            context.emit_to(self.late_tag, value, timestamp)

    def _add(self, value: Any, window: Any, context: KeyedContext) -> None:
        content = context.state(_CONTENT, window)
        if self.aggregate is not None:
            if content is None:
                content = self.aggregate.create_accumulator()
            content = self.aggregate.add(value, content)
        elif self._reduce is not None:
            content = value if content is None else self._reduce(content, value)
        else:
            content = [value] if content is None else _appended(content, value)
        context.set_state(_CONTENT, content, window)

    def _act(self, result: TriggerResult, window: Any, context: KeyedContext) -> None:
        if result.is_fire():
            self._fire(window, context)
        if result.is_purge():
            context.set_state(_CONTENT, None, window)

    def _fire(self, window: Any, context: KeyedContext) -> None:
        content = context.state(_CONTENT, window)
        if content is None:
            return
        results: Iterable[Any]
        if self.aggregate is not None:
            results = [self.aggregate.get_result(content)]
        else:
            results = [content] if self._reduce is not None else content
        self._context.window_ = window
        if isinstance(self.function, WindowFunction):
            results = self.function.apply(context.key, window, results)
        elif self.function is not None:
            results = self.function.process(context.key, self._context, results)
        emit_results(results, context, window.max_timestamp())

    def _drop(self, window: Any, context: KeyedContext) -> None:
        context.set_state(_CONTENT, None, window)
        self._context.window_ = window
        self.trigger.clear(window, self._context)
        if isinstance(self.function, ProcessWindowFunction):
            self.function.clear(self._context)


def _appended(content: list[Any], value: Any) -> list[Any]:
    content.append(value)
    return content


class _WindowContext(ProcessWindowFunction.Context, Trigger.TriggerContext):
    """What triggers and window functions see; `window_` is set before each call."""

    window_: Any = None

    def __init__(self, keyed: KeyedContext) -> None:
        self._keyed = keyed

    def window(self) -> Any:
        return self.window_

    def current_processing_time(self) -> int:
        return self._keyed.processing_time

    def current_watermark(self) -> int:
        return self._keyed.watermark

    def get_current_watermark(self) -> int:
        return self._keyed.watermark

    def get_current_processing_time(self) -> int:
        return self._keyed.processing_time

    def register_event_time_timer(self, time: int) -> None:
        self._keyed.register_timer(time, self.window_)

    def delete_event_time_timer(self, time: int) -> None:
        self._keyed.delete_timer(time, self.window_)

    def get_partitioned_state(self, state_descriptor: Any) -> Any:
        from headrace.runtime.state import bind

        return bind(state_descriptor, self._keyed, _TRIGGER, lambda: self.window_)
