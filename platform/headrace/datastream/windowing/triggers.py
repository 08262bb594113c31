"""The triggers that come with the platform."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.common.time import Duration, Time, to_millis
from headrace.common.typeinfo import TypeInformation, Types
from headrace.datastream.state import ReducingStateDescriptor, ValueStateDescriptor
from headrace.datastream.windowing.base import Trigger, TriggerResult
from headrace.datastream.windowing.windows import TimeWindow, Window

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


class _ContinuousTrigger(Trigger[Any, TimeWindow]):
    """Fires each time another `interval` of time has gone by since 1970, while there is content.
    The time of the next firing is state of the window."""

    def __init__(self, interval: int) -> None:
        if interval <= 0:
            raise ValueError(f"the interval must be longer than nothing: {interval}")
        self.interval = interval
        self.state_desc = ReducingStateDescriptor("fire-time", min, Types.LONG())

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: TimeWindow, ctx: MergeContext) -> None:
        ctx.merge_partitioned_state(self.state_desc)
        next_fire = ctx.get_partitioned_state(self.state_desc).get()
        if next_fire is not None:
            self._register(next_fire, ctx)

    def clear(self, window: TimeWindow, ctx: Context) -> None:
        state = ctx.get_partitioned_state(self.state_desc)
        next_fire = state.get()
        if next_fire is not None:
            self._delete(next_fire, ctx)
            state.clear()

    def _schedule_first(self, time: int, window: TimeWindow, ctx: Context) -> None:
        if ctx.get_partitioned_state(self.state_desc).get() is None:
            self._schedule(time - time % self.interval, window, ctx)

    def _fire_if_due(self, time: int, window: TimeWindow, ctx: Context) -> TriggerResult:
        state = ctx.get_partitioned_state(self.state_desc)
        if state.get() != time:
            return CONTINUE
        state.clear()
        self._schedule(time, window, ctx)
        return FIRE

    def _schedule(self, time: int, window: TimeWindow, ctx: Context) -> None:
        next_fire, end = time + self.interval, window.max_timestamp()
        if time < end < next_fire:
            next_fire = end
        ctx.get_partitioned_state(self.state_desc).add(next_fire)
        self._register(next_fire, ctx)

    def _register(self, time: int, ctx: Context) -> None:
        raise NotImplementedError

    def _delete(self, time: int, ctx: Context) -> None:
        raise NotImplementedError


class ContinuousEventTimeTrigger(_ContinuousTrigger):
    """Fires each time the watermark passes another `interval`, and at the window's end."""

    @staticmethod
    def of(interval: Time | Duration) -> ContinuousEventTimeTrigger:
        return ContinuousEventTimeTrigger(to_millis(interval))

    def on_element(
        self, element: Any, timestamp: int, window: TimeWindow, ctx: Context
    ) -> TriggerResult:
        if window.max_timestamp() <= ctx.get_current_watermark():
            return FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        self._schedule_first(timestamp, window, ctx)
        return CONTINUE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Context) -> TriggerResult:
        if time == window.max_timestamp():
            return FIRE
        return self._fire_if_due(time, window, ctx)

    def on_merge(self, window: TimeWindow, ctx: MergeContext) -> None:
        super().on_merge(window, ctx)
        if window.max_timestamp() > ctx.get_current_watermark():
            ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window: TimeWindow, ctx: Context) -> None:
        super().clear(window, ctx)
        ctx.delete_event_time_timer(window.max_timestamp())

    def _register(self, time: int, ctx: Context) -> None:
        ctx.register_event_time_timer(time)

    def _delete(self, time: int, ctx: Context) -> None:
        ctx.delete_event_time_timer(time)


class ContinuousProcessingTimeTrigger(_ContinuousTrigger):
    """Fires each time processing time passes another `interval`."""

    @staticmethod
    def of(interval: Time | Duration) -> ContinuousProcessingTimeTrigger:
        return ContinuousProcessingTimeTrigger(to_millis(interval))

    def on_element(
        self, element: Any, timestamp: int, window: TimeWindow, ctx: Context
    ) -> TriggerResult:
        self._schedule_first(ctx.get_current_processing_time(), window, ctx)
        return CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Context) -> TriggerResult:
        return self._fire_if_due(time, window, ctx)

    def _register(self, time: int, ctx: Context) -> None:
        ctx.register_processing_time_timer(time)

    def _delete(self, time: int, ctx: Context) -> None:
        ctx.delete_processing_time_timer(time)


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
