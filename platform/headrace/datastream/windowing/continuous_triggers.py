"""Triggers that fire again and again while time goes by."""

from __future__ import annotations

from typing import Any

from headrace.common.time import Duration, Time, to_millis
from headrace.common.typeinfo import Types
from headrace.datastream.state import ReducingStateDescriptor
from headrace.datastream.windowing.base import Trigger, TriggerResult
from headrace.datastream.windowing.triggers import CONTINUE, FIRE, Context, MergeContext
from headrace.datastream.windowing.windows import TimeWindow


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
