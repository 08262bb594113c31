"""Sessions: windows that last until nothing has come for a gap of time, and merge."""

from __future__ import annotations

import abc
from collections.abc import Collection, Iterable
from typing import Any

from headrace.common.time import Duration, Time, to_millis
from headrace.datastream.windowing.assigners import (
    AssignerContext,
    EventTimeAssigner,
    ProcessingTimeAssigner,
    event_timestamp,
)
from headrace.datastream.windowing.base import MergingWindowAssigner
from headrace.datastream.windowing.windows import TimeWindow

Callback = MergingWindowAssigner.MergeCallback[TimeWindow]


class SessionWindowTimeGapExtractor(abc.ABC):
    """Reads from a record how long its session lasts without another one."""

    @abc.abstractmethod
    def extract(self, element: Any) -> int:
        """Milliseconds, more than none."""


class _FixedGap(MergingWindowAssigner[Any, TimeWindow]):
    def __init__(self, session_gap: int) -> None:
        if session_gap <= 0:
            raise ValueError(f"the gap of sessions must be longer than nothing: {session_gap}")
        self._session_gap = session_gap

    def merge_windows(self, windows: Iterable[TimeWindow], callback: Callback) -> None:
        TimeWindow.merge_windows(windows, callback)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._session_gap})"


class _DynamicGap(MergingWindowAssigner[Any, TimeWindow]):
    def __init__(self, session_window_time_gap_extractor: SessionWindowTimeGapExtractor) -> None:
        self._extractor = session_window_time_gap_extractor

    def _gap(self, element: Any) -> int:
        gap = int(self._extractor.extract(element))
        if gap <= 0:
            raise ValueError(f"the gap of a session must be longer than nothing: {gap}")
        return gap

    def merge_windows(self, windows: Iterable[TimeWindow], callback: Callback) -> None:
        TimeWindow.merge_windows(windows, callback)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self._extractor).__name__})"


class EventTimeSessionWindows(_FixedGap, EventTimeAssigner):
    """Sessions of event time."""

    @staticmethod
    def with_gap(size: Time | Duration) -> EventTimeSessionWindows:
        return EventTimeSessionWindows(to_millis(size))

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor,
    ) -> DynamicEventTimeSessionWindows:
        return DynamicEventTimeSessionWindows(extractor)

    def assign_windows(
        self, element: Any, timestamp: int, context: AssignerContext
    ) -> Collection[TimeWindow]:
        time = event_timestamp(timestamp)
        return (TimeWindow(time, time + self._session_gap),)


class ProcessingTimeSessionWindows(_FixedGap, ProcessingTimeAssigner):
    """Sessions by the time of the micro-batch."""

    @staticmethod
    def with_gap(size: Time | Duration) -> ProcessingTimeSessionWindows:
        return ProcessingTimeSessionWindows(to_millis(size))

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor,
    ) -> DynamicProcessingTimeSessionWindows:
        return DynamicProcessingTimeSessionWindows(extractor)

    def assign_windows(
        self, element: Any, timestamp: int, context: AssignerContext
    ) -> Collection[TimeWindow]:
        time = context.get_current_processing_time()
        return (TimeWindow(time, time + self._session_gap),)


class DynamicEventTimeSessionWindows(_DynamicGap, EventTimeAssigner):
    """Sessions of event time whose gap each record says itself."""

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor,
    ) -> DynamicEventTimeSessionWindows:
        return DynamicEventTimeSessionWindows(extractor)

    def assign_windows(
        self, element: Any, timestamp: int, context: AssignerContext
    ) -> Collection[TimeWindow]:
        time = event_timestamp(timestamp)
        return (TimeWindow(time, time + self._gap(element)),)


class DynamicProcessingTimeSessionWindows(_DynamicGap, ProcessingTimeAssigner):
    """As DynamicEventTimeSessionWindows, by the time of the micro-batch."""

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor,
    ) -> DynamicProcessingTimeSessionWindows:
        return DynamicProcessingTimeSessionWindows(extractor)

    def assign_windows(
        self, element: Any, timestamp: int, context: AssignerContext
    ) -> Collection[TimeWindow]:
        time = context.get_current_processing_time()
        return (TimeWindow(time, time + self._gap(element)),)
