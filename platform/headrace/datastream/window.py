"""Windows, how records get into them, and when they fire; PyFlink's `pyflink.datastream.window`."""

from __future__ import annotations

import abc
from collections.abc import Collection
from enum import Enum
from typing import Any, Generic, TypeVar

from headrace.common.time import Time, to_millis
from headrace.datastream.windowing.windows import TimeWindow as TimeWindow

T = TypeVar("T")
W = TypeVar("W")


class TriggerResult(Enum):
    """What a trigger decides: (fire, purge)."""

    CONTINUE = (False, False)
    FIRE_AND_PURGE = (True, True)
    FIRE = (True, False)
    PURGE = (False, True)

    def is_fire(self) -> bool:
        return self.value[0]

    def is_purge(self) -> bool:
        return self.value[1]


class Trigger(abc.ABC, Generic[T, W]):
    """Decides when a window fires. Must be stateless: one instance serves all windows."""

    class TriggerContext(abc.ABC):
        @abc.abstractmethod
        def get_current_watermark(self) -> int: ...

        @abc.abstractmethod
        def get_current_processing_time(self) -> int: ...

        @abc.abstractmethod
        def register_event_time_timer(self, time: int) -> None: ...

        @abc.abstractmethod
        def delete_event_time_timer(self, time: int) -> None: ...

        @abc.abstractmethod
        def get_partitioned_state(self, state_descriptor: Any) -> Any:
            """State of this key and window."""

    @abc.abstractmethod
    def on_element(
        self, element: T, timestamp: int, window: W, ctx: TriggerContext
    ) -> TriggerResult: ...

    @abc.abstractmethod
    def on_event_time(self, time: int, window: W, ctx: TriggerContext) -> TriggerResult: ...

    def on_processing_time(self, time: int, window: W, ctx: TriggerContext) -> TriggerResult:
        return TriggerResult.CONTINUE

    @abc.abstractmethod
    def clear(self, window: W, ctx: TriggerContext) -> None:
        """Drop timers and state of the window; called when it is dropped."""


class EventTimeTrigger(Trigger[Any, TimeWindow]):
    """Fires when the watermark passes the window's end, and at each late element after that."""

    def on_element(
        self, element: Any, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_event_time(
        self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        ctx.delete_event_time_timer(window.max_timestamp())

    @staticmethod
    def create() -> EventTimeTrigger:
        return EventTimeTrigger()


class WindowAssigner(abc.ABC, Generic[T, W]):
    """Puts a record into windows. Must depend on the record and its timestamp only."""

    @abc.abstractmethod
    def assign_windows(self, element: T, timestamp: int) -> Collection[W]: ...

    @abc.abstractmethod
    def get_default_trigger(self) -> Trigger[T, W]: ...

    @abc.abstractmethod
    def is_event_time(self) -> bool: ...


class TumblingEventTimeWindows(WindowAssigner[Any, TimeWindow]):
    """Windows of one size, one behind the other."""

    def __init__(self, size: int, offset: int = 0) -> None:
        if size <= 0 or abs(offset) >= size:
            raise ValueError(f"size {size} must be positive and larger than the offset {offset}")
        self._size = size
        self._offset = offset

    @staticmethod
    def of(size: Time, offset: Time | None = None) -> TumblingEventTimeWindows:
        return TumblingEventTimeWindows(to_millis(size), to_millis(offset or Time(0)))

    def assign_windows(self, element: Any, timestamp: int) -> Collection[TimeWindow]:
        start = TimeWindow.get_window_start_with_offset(timestamp, self._offset, self._size)
        return (TimeWindow(start, start + self._size),)

    def get_default_trigger(self) -> Trigger[Any, TimeWindow]:
        return EventTimeTrigger()

    def is_event_time(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"TumblingEventTimeWindows({self._size})"


class SlidingEventTimeWindows(WindowAssigner[Any, TimeWindow]):
    """Windows of one size, one starting each `slide`: a record is in size/slide of them."""

    def __init__(self, size: int, slide: int, offset: int = 0) -> None:
        if size <= 0 or slide <= 0 or abs(offset) >= slide:
            raise ValueError(f"size {size}, slide {slide} and offset {offset} do not fit")
        self._size = size
        self._slide = slide
        self._offset = offset

    @staticmethod
    def of(size: Time, slide: Time, offset: Time | None = None) -> SlidingEventTimeWindows:
        return SlidingEventTimeWindows(
            to_millis(size), to_millis(slide), to_millis(offset or Time(0))
        )

    def assign_windows(self, element: Any, timestamp: int) -> Collection[TimeWindow]:
        last = TimeWindow.get_window_start_with_offset(timestamp, self._offset, self._slide)
        starts = range(last, timestamp - self._size, -self._slide)
        return [TimeWindow(start, start + self._size) for start in starts]

    def get_default_trigger(self) -> Trigger[Any, TimeWindow]:
        return EventTimeTrigger()

    def is_event_time(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"SlidingEventTimeWindows({self._size}, {self._slide})"
