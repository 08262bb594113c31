"""The triggers that come with the platform."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.common.typeinfo import TypeInformation, Types
from headrace.datastream.state import ReducingStateDescriptor, ValueStateDescriptor
from headrace.datastream.windowing.base import Trigger, TriggerResult
from headrace.datastream.windowing.windows import MAX_TIMESTAMP, TimeWindow, Window

Context = Trigger.TriggerContext
MergeContext = Trigger.OnMergeContext

CONTINUE, FIRE = TriggerResult.CONTINUE, TriggerResult.FIRE


class EventTimeTrigger(Trigger[Any, TimeWindow]):
    """Fires when the watermark passes the window's end, and at each late element after that."""

    def on_element(
        self, element: Any, timestamp: int, window: TimeWindow, ctx: Context
    ) -> TriggerResult:
        if window.max_timestamp() <= ctx.get_current_watermark():
            return FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        return CONTINUE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Context) -> TriggerResult:
        return FIRE if time == window.max_timestamp() else CONTINUE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: TimeWindow, ctx: MergeContext) -> None:
        if window.max_timestamp() > ctx.get_current_watermark():
            ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window: TimeWindow, ctx: Context) -> None:
        ctx.delete_event_time_timer(window.max_timestamp())

    @staticmethod
    def create() -> EventTimeTrigger:
        return EventTimeTrigger()


class ProcessingTimeTrigger(Trigger[Any, TimeWindow]):
    """Fires once processing time passes the window's end."""

    def on_element(
        self, element: Any, timestamp: int, window: TimeWindow, ctx: Context
    ) -> TriggerResult:
        ctx.register_processing_time_timer(window.max_timestamp())
        return CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Context) -> TriggerResult:
        return FIRE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: TimeWindow, ctx: MergeContext) -> None:
        if window.max_timestamp() > ctx.get_current_processing_time():
            ctx.register_processing_time_timer(window.max_timestamp())

    def clear(self, window: TimeWindow, ctx: Context) -> None:
        ctx.delete_processing_time_timer(window.max_timestamp())

    @staticmethod
    def create() -> ProcessingTimeTrigger:
        return ProcessingTimeTrigger()


class CountTrigger(Trigger[Any, Window]):
    """Fires at every n-th record of a window. The window keeps its content: see PurgingTrigger."""

    def __init__(self, window_size: int) -> None:
        self._window_size = window_size
        self._count = ReducingStateDescriptor("count", lambda a, b: a + b, Types.LONG())

    @staticmethod
    def of(window_size: int) -> CountTrigger:
        return CountTrigger(window_size)

    def on_element(
        self, element: Any, timestamp: int, window: Window, ctx: Context
    ) -> TriggerResult:
        count = ctx.get_partitioned_state(self._count)
        count.add(1)
        if count.get() < self._window_size:
            return CONTINUE
        count.clear()
        return FIRE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: Window, ctx: MergeContext) -> None:
        ctx.merge_partitioned_state(self._count)

    def clear(self, window: Window, ctx: Context) -> None:
        ctx.get_partitioned_state(self._count).clear()


class DeltaTrigger(Trigger[Any, Window]):
    """Fires when a record differs from the one of the last firing (at first, the window's first)
    by more than `threshold`, by the measure of `delta_function(old, new)`."""

    def __init__(
        self,
        threshold: float,
        delta_function: Callable[[Any, Any], float],
        type_info: TypeInformation | None = None,
    ) -> None:
        self._threshold = threshold
        self._delta = getattr(delta_function, "get_delta", delta_function)
        self._last = ValueStateDescriptor("last-element", type_info)

    @staticmethod
    def of(
        threshold: float,
        delta_function: Callable[[Any, Any], float],
        type_info: TypeInformation | None = None,
    ) -> DeltaTrigger:
        return DeltaTrigger(threshold, delta_function, type_info)

    def on_element(
        self, element: Any, timestamp: int, window: Window, ctx: Context
    ) -> TriggerResult:
        last = ctx.get_partitioned_state(self._last)
        if last.value() is None:
            last.update(element)
            return CONTINUE
        if self._delta(last.value(), element) <= self._threshold:
            return CONTINUE
        last.update(element)
        return FIRE

    def clear(self, window: Window, ctx: Context) -> None:
        ctx.get_partitioned_state(self._last).clear()


class PurgingTrigger(Trigger[Any, Window]):
    """Another trigger whose firings also purge the window."""

    def __init__(self, nested_trigger: Trigger[Any, Any]) -> None:
        self.nested_trigger = nested_trigger

    @staticmethod
    def of(nested_trigger: Trigger[Any, Any]) -> PurgingTrigger:
        return PurgingTrigger(nested_trigger)

    def on_element(
        self, element: Any, timestamp: int, window: Window, ctx: Context
    ) -> TriggerResult:
        return _purging(self.nested_trigger.on_element(element, timestamp, window, ctx))

    def on_processing_time(self, time: int, window: Window, ctx: Context) -> TriggerResult:
        return _purging(self.nested_trigger.on_processing_time(time, window, ctx))

    def on_event_time(self, time: int, window: Window, ctx: Context) -> TriggerResult:
        return _purging(self.nested_trigger.on_event_time(time, window, ctx))

    def can_merge(self) -> bool:
        return self.nested_trigger.can_merge()

    def on_merge(self, window: Window, ctx: MergeContext) -> None:
        self.nested_trigger.on_merge(window, ctx)

    def clear(self, window: Window, ctx: Context) -> None:
        self.nested_trigger.clear(window, ctx)


def _purging(result: TriggerResult) -> TriggerResult:
    return TriggerResult.FIRE_AND_PURGE if result.is_fire() else result


class NeverTrigger(Trigger[Any, Window]):
    """Never fires; what a global window has until it is given another."""

    def on_element(
        self, element: Any, timestamp: int, window: Window, ctx: Context
    ) -> TriggerResult:
        return CONTINUE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: Window, ctx: MergeContext) -> None: ...

    def clear(self, window: Window, ctx: Context) -> None: ...


class EndOfStreamTrigger(Trigger[Any, Window]):
    """Fires once, when all input has ended."""

    def on_element(
        self, element: Any, timestamp: int, window: Window, ctx: Context
    ) -> TriggerResult:
        ctx.register_event_time_timer(MAX_TIMESTAMP)
        return CONTINUE

    def on_event_time(self, time: int, window: Window, ctx: Context) -> TriggerResult:
        return FIRE if time == MAX_TIMESTAMP else CONTINUE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: Window, ctx: MergeContext) -> None:
        ctx.register_event_time_timer(MAX_TIMESTAMP)

    def clear(self, window: Window, ctx: Context) -> None:
        ctx.delete_event_time_timer(MAX_TIMESTAMP)
