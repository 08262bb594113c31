"""Windows on a keyed stream: assigner, trigger, evictor, lateness, aggregation, merging.

The rules are Flink's `WindowOperator`: an element is late when all its windows are past their
cleanup time (end + allowed lateness) at the operator's watermark; a window's content stays until
cleanup unless its trigger purges it; firing again emits again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from headrace.datastream.functions import (
    AggregateFunction,
    Function,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    RuntimeContext,
)
from headrace.datastream.window import (
    Evictor,
    MergingWindowAssigner,
    Trigger,
    TriggerResult,
    WindowAssigner,
)
from headrace.runtime import frames
from headrace.runtime.frames import MIN_WATERMARK
from headrace.runtime.operators.operator import (
    KeyedContext,
    KeyedElement,
    KeyedOperator,
    emit_results,
)
from headrace.runtime.operators.tumbling import CONTENT, Tumbling, Ways, goes
from headrace.runtime.operators.window_cleanup import Cleanup
from headrace.runtime.operators.window_content import Evicted, kept_content
from headrace.runtime.operators.window_context import (
    AssignerContext,
    FunctionContext,
    TriggerContext,
    caller,
)
from headrace.runtime.operators.window_merging import MergingWindows, check_not_past

LATE_DROPPED = "numLateRecordsDropped"
MERGING = "merging"


class Window(KeyedOperator):
    """`aggregate`, `reduce`, or neither (all elements are kept); then perhaps `function`: any of
    the four kinds of window function. Raises ValueError for parts that do not fit together."""

    gives_timestamps = True
    #: What makes of an input and its value what windows keep; None: they keep the value.
    wrap: Callable[[int, Any], Any] | None = None

    def __init__(
        self,
        assigner: WindowAssigner[Any, Any],
        trigger: Trigger[Any, Any] | None = None,
        *,
        evictor: Evictor | None = None,
        aggregate: AggregateFunction | None = None,
        reduce: Any = None,
        function: Any = None,
        allowed_lateness: int = 0,
        late_tag: str | None = None,
    ) -> None:
        self.assigner = assigner
        self.trigger = trigger or assigner.get_default_trigger(None)
        self.evictor = evictor
        self.aggregate = aggregate
        self.reduce = reduce
        self.function = function
        self.allowed_lateness = allowed_lateness
        self.late_tag = late_tag
        self._merges = isinstance(assigner, MergingWindowAssigner)
        self._keeps_values = aggregate is None or evictor is not None
        self._event_time = self.needs_timestamps = assigner.is_event_time()
        self._cleanup = Cleanup(self._event_time, allowed_lateness)
        if self._merges and not self.trigger.can_merge():
            raise ValueError(
                f"the windows of {assigner!r} merge, but {type(self.trigger).__name__} does not "
                "support merging (can_merge, on_merge)"
            )

    def open(self, context: RuntimeContext, keyed: KeyedContext) -> None:
        self._content = kept_content(self.aggregate, self.reduce, self.evictor)
        self._assigner_context = AssignerContext(keyed, context)
        self._trigger_context = TriggerContext(keyed, context)
        self._function_context = FunctionContext(keyed, context, self._merges)
        self._call = caller(self.function, self._function_context)
        self._quick: Tumbling | None = None
        if goes(self.assigner, self.trigger, self.evictor):
            ways = Ways(self.process, self._fire, self.wrap)
            self._quick = Tumbling(self.assigner, self._content, self.allowed_lateness, ways)
        for function in self._functions():
            function.open(context)

    def close(self) -> None:
        for function in self._functions():
            function.close()

    def _functions(self) -> list[Function]:
        all_ = (self.aggregate, self.reduce, self.function)
        return [function for function in all_ if isinstance(function, Function)]

    # --- records

    def process_many(
        self, records: Iterable[KeyedElement], input_: int, context: KeyedContext
    ) -> None:
        many = super().process_many if self._quick is None else self._quick.process_many
        many(records, input_, context)

    def process(self, value: Any, input_: int, context: KeyedContext) -> None:
        timestamp = MIN_WATERMARK if context.timestamp is None else context.timestamp
        windows = self.assigner.assign_windows(value, timestamp, self._assigner_context)
        if self._merges:
            skipped = self._process_merging(value, timestamp, windows, context)
        else:
            skipped = self._process_each(value, timestamp, windows, context)
        if skipped and self._event_time:
            self._take_late(value, timestamp, context)

    def _process_each(
        self, value: Any, timestamp: int, windows: Collection[Any], context: KeyedContext
    ) -> bool:
        """Whether all windows were late."""
        skipped = True
        for window in windows:
            cleanup = self._cleanup.time(window)
            if self._event_time and cleanup <= context.watermark:
                continue
            if not skipped and self._keeps_values:
                value = frames.detached(value)  # windows must not share what can change
            skipped = False
            self._take(value, timestamp, window, window, context)
            self._cleanup.register(cleanup, window, context)
        return skipped

    def _process_merging(
        self, value: Any, timestamp: int, windows: Collection[Any], context: KeyedContext
    ) -> bool:
        merging = self._merging(context)
        skipped = True
        for new in windows:

            def merged(result: Any, before: list[Any], target: Any, others: list[Any]) -> None:
                self._merge(result, before, target, others, context)

            window = merging.add(new, merged)
            cleanup = self._cleanup.time(window)
            if self._event_time and cleanup <= context.watermark:
                merging.retire(window)
                continue
            skipped = False
            self._take(value, timestamp, window, merging.mapping[window], context)
            self._cleanup.register(cleanup, window, context)
        context.set_state(MERGING, merging.mapping or None)
        return skipped

    def _take(
        self, value: Any, timestamp: int, window: Any, kept_under: Any, context: KeyedContext
    ) -> None:
        content = self._content.add(context.state(CONTENT, kept_under), value, context.timestamp)
        context.set_state(CONTENT, content, kept_under)
        self._trigger_context.window = window
        result = self.trigger.on_element(value, timestamp, window, self._trigger_context)
        if result is not TriggerResult.CONTINUE:
            self._act(result, window, kept_under, context)

    def _take_late(self, value: Any, timestamp: int, context: KeyedContext) -> None:
        if timestamp + self.allowed_lateness > context.watermark:
            return  # the assigner has put it into no window
        if self.late_tag is None:
            context.count(LATE_DROPPED)
        else:
            context.emit_to(self.late_tag, value, timestamp)

    # --- timers

    def on_timer(self, timestamp: int, namespace: Any, context: KeyedContext) -> None:
        if self._quick is not None and self._quick.ends(timestamp, namespace, context):
            self._clear(namespace, context)
            return
        cleanup = self._event_time and timestamp == self._cleanup.time(namespace)
        self._on_time(self.trigger.on_event_time, timestamp, namespace, cleanup, context)

    def on_processing_timer(self, timestamp: int, namespace: Any, context: KeyedContext) -> None:
        cleanup = not self._event_time and timestamp == self._cleanup.time(namespace)
        self._on_time(self.trigger.on_processing_time, timestamp, namespace, cleanup, context)

    def _on_time(
        self,
        ask: Callable[[int, Any, Any], TriggerResult],
        timestamp: int,
        window: Any,
        cleanup: bool,
        context: KeyedContext,
    ) -> None:
        kept_under = window
        if self._merges:
            kept_under = self._merging(context).mapping.get(window)
            if kept_under is None:  # a timer that the trigger has left of a window that is gone
                return
        self._trigger_context.window = window
        self._act(ask(timestamp, window, self._trigger_context), window, kept_under, context)
        if cleanup:
            self._drop(window, kept_under, context)

    # --- firing, purging, dropping

    def _act(
        self, result: TriggerResult, window: Any, kept_under: Any, context: KeyedContext
    ) -> None:
        if result.is_fire():
            content = context.state(CONTENT, kept_under)
            if content is not None:
                self._fire(window, kept_under, content, context)
        if result.is_purge():
            context.set_state(CONTENT, None, kept_under)

    def _fire(self, window: Any, kept_under: Any, content: Any, context: KeyedContext) -> None:
        self._function_context.window_ = window
        if not isinstance(self._content, Evicted):
            self._emit(self._content.results(content), window, context)
            return
        elements = self._content.before(content, window, self._trigger_context)
        results = self._content.results_of(elements)
        if elements or (self.aggregate is None and self.reduce is None):
            self._emit(results, window, context)
        kept = self._content.after(elements, window, self._trigger_context)
        context.set_state(CONTENT, kept, kept_under)

    def _emit(self, elements: Iterable[Any], window: Any, context: KeyedContext) -> None:
        emit_results(self._call(context.key, window, elements), context, window.max_timestamp())

    def _drop(self, window: Any, kept_under: Any, context: KeyedContext) -> None:
        context.set_state(CONTENT, None, kept_under)
        self.trigger.clear(window, self._trigger_context)
        self._clear(window, context)

    def _clear(self, window: Any, context: KeyedContext) -> None:
        """What is kept of a window beside its content and its trigger's state."""
        if isinstance(self.function, ProcessWindowFunction | ProcessAllWindowFunction):
            self._function_context.window_ = window
            self.function.clear(self._function_context)
        if self._merges:
            merging = self._merging(context)
            merging.retire(window)
            context.set_state(MERGING, merging.mapping or None)
        else:
            context.clear_state(window)

    # --- merging

    def _merging(self, context: KeyedContext) -> MergingWindows:
        assert isinstance(self.assigner, MergingWindowAssigner)
        return MergingWindows(self.assigner, context.state(MERGING) or {})

    def _merge(
        self,
        result: Any,
        before: list[Any],
        target: Any,
        others: list[Any],
        context: KeyedContext,
    ) -> None:
        """1. the trigger's state and timers, 2. what the merged windows leave, 3. the content."""
        now = context.watermark if self._event_time else context.processing_time
        check_not_past(result, self._cleanup.time(result), now)
        self._trigger_context.window = result
        self._trigger_context.merged = before
        self.trigger.on_merge(result, self._trigger_context)
        for window in before:
            self._trigger_context.window = window
            self.trigger.clear(window, self._trigger_context)
            self._cleanup.delete(window, context)
        for other in others:
            self._merge_content(target, other, context)

    def _merge_content(self, target: Any, other: Any, context: KeyedContext) -> None:
        more = context.state(CONTENT, other)
        if more is None:
            return
        content = context.state(CONTENT, target)
        content = more if content is None else self._content.merge(content, more)
        context.set_state(CONTENT, content, target)
        context.set_state(CONTENT, None, other)
