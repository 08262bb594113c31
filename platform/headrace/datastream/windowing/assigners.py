"""Windows by time, by count, and the one that never ends."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from headrace.common.serializer import TypeSerializer
from headrace.common.time import Duration, Time, to_millis
from headrace.common.typeinfo import Types
from headrace.datastream.state import ValueStateDescriptor
from headrace.datastream.windowing.base import Trigger, TriggerResult, WindowAssigner
from headrace.datastream.windowing.triggers import (
    CountTrigger,
    EndOfStreamTrigger,
    EventTimeTrigger,
    NeverTrigger,
    ProcessingTimeTrigger,
)
from headrace.datastream.windowing.windows import (
    CountWindow,
    CountWindowSerializer,
    GlobalWindow,
    GlobalWindowSerializer,
    TimeWindow,
    TimeWindowSerializer,
)

_MIN_LONG = -(1 << 63)
_NOTHING = Time(0)
Span = Time | Duration

AssignerContext = WindowAssigner.WindowAssignerContext


def event_timestamp(timestamp: int) -> int:
    """Raises ValueError for a record without one."""
    if timestamp == _MIN_LONG:
        raise ValueError(
            "an event-time window got a record without a timestamp; give its source a "
            "WatermarkStrategy with a timestamp assigner"
        )
    return timestamp


class EventTimeAssigner(WindowAssigner[Any, TimeWindow]):
    """Windows of event time."""

    def get_default_trigger(self, env: Any = None) -> Trigger[Any, TimeWindow]:
        return EventTimeTrigger()

    def get_window_serializer(self) -> TypeSerializer[TimeWindow]:
        return TimeWindowSerializer()

    def is_event_time(self) -> bool:
        return True


class ProcessingTimeAssigner(WindowAssigner[Any, TimeWindow]):
    """Windows of the time of the micro-batch."""

    def get_default_trigger(self, env: Any = None) -> Trigger[Any, TimeWindow]:
        return ProcessingTimeTrigger()

    def get_window_serializer(self) -> TypeSerializer[TimeWindow]:
        return TimeWindowSerializer()

    def is_event_time(self) -> bool:
        return False


class _Tumbling:
    """Windows of one size, one behind the other."""

    def __init__(self, size: int, offset: int = 0) -> None:
        if size <= 0 or abs(offset) >= size:
            raise ValueError(f"size {size} must be positive and larger than the offset {offset}")
        self._size = size
        self._offset = offset

    def _around(self, time: int) -> Collection[TimeWindow]:
        start = TimeWindow.get_window_start_with_offset(time, self._offset, self._size)
        return (TimeWindow(start, start + self._size),)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size}, {self._offset})"


class TumblingEventTimeWindows(_Tumbling, EventTimeAssigner):
    """Windows of one size, one behind the other."""

    @staticmethod
    def of(size: Span, offset: Span | None = None) -> TumblingEventTimeWindows:
        return TumblingEventTimeWindows(to_millis(size), to_millis(offset or _NOTHING))

    def assign_windows(
        self, element: Any, timestamp: int, context: AssignerContext
    ) -> Collection[TimeWindow]:
        return self._around(event_timestamp(timestamp))


class TumblingProcessingTimeWindows(_Tumbling, ProcessingTimeAssigner):
    """As TumblingEventTimeWindows, by the time of the micro-batch."""

    @staticmethod
    def of(size: Span, offset: Span | None = None) -> TumblingProcessingTimeWindows:
        return TumblingProcessingTimeWindows(to_millis(size), to_millis(offset or _NOTHING))

    def assign_windows(
        self, element: Any, timestamp: int, context: AssignerContext
    ) -> Collection[TimeWindow]:
        return self._around(context.get_current_processing_time())


class _Sliding:
    """Windows of one size, one starting each `slide`: a record is in size/slide of them."""

    def __init__(self, size: int, slide: int, offset: int = 0) -> None:
        if size <= 0 or slide <= 0 or abs(offset) >= slide:
            raise ValueError(f"size {size}, slide {slide} and offset {offset} do not fit")
        self._size = size
        self._slide = slide
        self._offset = offset

    def _around(self, time: int) -> Collection[TimeWindow]:
        last = TimeWindow.get_window_start_with_offset(time, self._offset, self._slide)
        starts = range(last, time - self._size, -self._slide)
        return [TimeWindow(start, start + self._size) for start in starts]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size}, {self._slide}, {self._offset})"


class SlidingEventTimeWindows(_Sliding, EventTimeAssigner):
    """Windows of one size, one starting each `slide`: a record is in size/slide of them."""

    @staticmethod
    def of(size: Span, slide: Span, offset: Span | None = None) -> SlidingEventTimeWindows:
        return SlidingEventTimeWindows(
            to_millis(size), to_millis(slide), to_millis(offset or _NOTHING)
        )

    def assign_windows(
        self, element: Any, timestamp: int, context: AssignerContext
    ) -> Collection[TimeWindow]:
        return self._around(event_timestamp(timestamp))


class SlidingProcessingTimeWindows(_Sliding, ProcessingTimeAssigner):
    """As SlidingEventTimeWindows, by the time of the micro-batch."""

    @staticmethod
    def of(size: Span, slide: Span, offset: Span | None = None) -> SlidingProcessingTimeWindows:
        return SlidingProcessingTimeWindows(
            to_millis(size), to_millis(slide), to_millis(offset or _NOTHING)
        )

    def assign_windows(
        self, element: Any, timestamp: int, context: AssignerContext
    ) -> Collection[TimeWindow]:
        return self._around(context.get_current_processing_time())


class CumulativeEventTimeWindows(EventTimeAssigner):
    """Windows that begin together each `max_size` and end one `step` after the other, up to
    `max_size`: what Flink's SQL calls CUMULATE; PyFlink's DataStream API has none."""

    def __init__(self, max_size: int, step: int, offset: int = 0) -> None:
        if step <= 0 or max_size <= 0 or max_size % step or abs(offset) >= max_size:
            raise ValueError(
                f"size {max_size} must be a multiple of the step {step} and larger than the "
                f"offset {offset}"
            )
        self._max_size = max_size
        self._step = step
        self._offset = offset

    @staticmethod
    def of(max_size: Span, step: Span, offset: Span | None = None) -> CumulativeEventTimeWindows:
        return CumulativeEventTimeWindows(
            to_millis(max_size), to_millis(step), to_millis(offset or _NOTHING)
        )

    def assign_windows(
        self, element: Any, timestamp: int, context: AssignerContext
    ) -> Collection[TimeWindow]:
        time = event_timestamp(timestamp)
        start = TimeWindow.get_window_start_with_offset(time, self._offset, self._max_size)
        first_end = start + (time - start) // self._step * self._step + self._step
        ends = range(first_end, start + self._max_size + 1, self._step)
        return [TimeWindow(start, end) for end in ends]

    def __repr__(self) -> str:
        return f"CumulativeEventTimeWindows({self._max_size}, {self._step}, {self._offset})"


class GlobalWindows(WindowAssigner[Any, GlobalWindow]):
    """All records of a key in one window that never ends; it needs a trigger."""

    def __init__(self, default_trigger: Trigger[Any, Any] | None = None) -> None:
        self._default_trigger = default_trigger or NeverTrigger()

    @staticmethod
    def create() -> GlobalWindows:
        return GlobalWindows()

    @staticmethod
    def create_with_end_of_stream_trigger() -> GlobalWindows:
        """Java's: the window fires when all input has ended."""
        return GlobalWindows(EndOfStreamTrigger())

    def assign_windows(
        self, element: Any, timestamp: int, context: AssignerContext
    ) -> Collection[GlobalWindow]:
        return (GlobalWindow(),)

    def get_default_trigger(self, env: Any = None) -> Trigger[Any, Any]:
        return self._default_trigger

    def get_window_serializer(self) -> TypeSerializer[GlobalWindow]:
        return GlobalWindowSerializer()

    def is_event_time(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "GlobalWindows()"


class _CountAssigner(WindowAssigner[Any, CountWindow]):
    """Windows of `size` records of a key, one beginning at each `slide`-th."""

    def __init__(self, window_size: int, window_slide: int, state: str) -> None:
        if window_size <= 0 or window_slide <= 0:
            raise ValueError(f"size {window_size} and slide {window_slide} must be positive")
        self._window_size = window_size
        self._window_slide = window_slide
        self._count = ValueStateDescriptor(state, Types.LONG())

    def assign_windows(
        self, element: Any, timestamp: int, context: AssignerContext
    ) -> Collection[CountWindow]:
        state = context.get_runtime_context().get_state(self._count)
        number = state.value() or 0
        state.update(number + 1)
        last = number // self._window_slide
        first = max(0, -(-(number - self._window_size + 1) // self._window_slide))
        return [CountWindow(id_) for id_ in range(last, first - 1, -1)]

    def get_default_trigger(self, env: Any = None) -> Trigger[Any, Any]:
        return _CompleteTrigger(self._window_size)

    def get_window_serializer(self) -> TypeSerializer[CountWindow]:
        return CountWindowSerializer()

    def is_event_time(self) -> bool:
        return False


class _CompleteTrigger(CountTrigger):
    """Fires when a count window is complete; nothing comes to it after that, so it goes."""

    def on_element(
        self, element: Any, timestamp: int, window: Any, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        fired = super().on_element(element, timestamp, window, ctx).is_fire()
        return TriggerResult.FIRE_AND_PURGE if fired else TriggerResult.CONTINUE


class CountTumblingWindowAssigner(_CountAssigner):
    """Windows of n records of a key, one behind the other."""

    def __init__(self, window_size: int) -> None:
        super().__init__(window_size, window_size, "tumble-count-assigner")

    @staticmethod
    def of(window_size: int) -> CountTumblingWindowAssigner:
        return CountTumblingWindowAssigner(window_size)

    def __repr__(self) -> str:
        return f"CountTumblingWindowAssigner({self._window_size})"


class CountSlidingWindowAssigner(_CountAssigner):
    """Windows of n records of a key, one beginning at each `window_slide`-th. As in PyFlink, a
    window fires when it is full (Java's count windows also fire while they fill)."""

    def __init__(self, window_size: int, window_slide: int) -> None:
        super().__init__(window_size, window_slide, "slide-count-assigner")

    @staticmethod
    def of(window_size: int, window_slide: int) -> CountSlidingWindowAssigner:
        return CountSlidingWindowAssigner(window_size, window_slide)

    def __repr__(self) -> str:
        return f"CountSlidingWindowAssigner({self._window_size}, {self._window_slide})"
