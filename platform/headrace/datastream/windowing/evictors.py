"""Evictors: what leaves a window before or behind its function. Java's API; PyFlink has none."""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headrace.common.time import Duration, Time, to_millis


@dataclass(frozen=True, slots=True)
class TimestampedValue:
    """A record of a window; `timestamp` is None for one without event time."""

    value: Any
    timestamp: int | None


class Evictor(abc.ABC):
    """Called whenever the window fires: before its function, and behind it. Both may remove
    elements from the list they get; those are gone for later firings, too."""

    class EvictorContext(abc.ABC):
        @abc.abstractmethod
        def get_current_processing_time(self) -> int: ...

        @abc.abstractmethod
        def get_metric_group(self) -> Any: ...

        @abc.abstractmethod
        def get_current_watermark(self) -> int: ...

    @abc.abstractmethod
    def evict_before(
        self, elements: list[TimestampedValue], size: int, window: Any, ctx: EvictorContext
    ) -> None: ...

    @abc.abstractmethod
    def evict_after(
        self, elements: list[TimestampedValue], size: int, window: Any, ctx: EvictorContext
    ) -> None: ...


class _OnceEvictor(Evictor):
    """Evicts at one of the two times."""

    def __init__(self, do_evict_after: bool) -> None:
        self._after = do_evict_after

    def evict_before(
        self,
        elements: list[TimestampedValue],
        size: int,
        window: Any,
        ctx: Evictor.EvictorContext,
    ) -> None:
        if not self._after:
            elements[:] = self._kept(elements)

    def evict_after(
        self,
        elements: list[TimestampedValue],
        size: int,
        window: Any,
        ctx: Evictor.EvictorContext,
    ) -> None:
        if self._after:
            elements[:] = self._kept(elements)

    @abc.abstractmethod
    def _kept(self, elements: list[TimestampedValue]) -> list[TimestampedValue]: ...


class CountEvictor(_OnceEvictor):
    """Keeps the newest `max_count` elements."""

    def __init__(self, max_count: int, do_evict_after: bool = False) -> None:
        super().__init__(do_evict_after)
        self._max_count = max_count

    @staticmethod
    def of(max_count: int, do_evict_after: bool = False) -> CountEvictor:
        return CountEvictor(max_count, do_evict_after)

    def _kept(self, elements: list[TimestampedValue]) -> list[TimestampedValue]:
        return elements[max(0, len(elements) - self._max_count) :]


class TimeEvictor(_OnceEvictor):
    """Keeps the elements that are younger than `window_size` at the newest one's time."""

    def __init__(self, window_size: int, do_evict_after: bool = False) -> None:
        super().__init__(do_evict_after)
        self._window_size = window_size

    @staticmethod
    def of(window_size: Time | Duration, do_evict_after: bool = False) -> TimeEvictor:
        return TimeEvictor(to_millis(window_size), do_evict_after)

    def _kept(self, elements: list[TimestampedValue]) -> list[TimestampedValue]:
        times = [e.timestamp for e in elements if e.timestamp is not None]
        if not times:
            return elements
        cut = max(times) - self._window_size
        return [e for e in elements if e.timestamp is None or e.timestamp > cut]


class DeltaEvictor(_OnceEvictor):
    """Keeps the elements that differ from the newest one by less than `threshold`, by the measure
    of `delta_function(element, newest)`."""

    def __init__(
        self,
        threshold: float,
        delta_function: Callable[[Any, Any], float],
        do_evict_after: bool = False,
    ) -> None:
        super().__init__(do_evict_after)
        self._threshold = threshold
        self._delta = getattr(delta_function, "get_delta", delta_function)

    @staticmethod
    def of(
        threshold: float,
        delta_function: Callable[[Any, Any], float],
        do_evict_after: bool = False,
    ) -> DeltaEvictor:
        return DeltaEvictor(threshold, delta_function, do_evict_after)

    def _kept(self, elements: list[TimestampedValue]) -> list[TimestampedValue]:
        if not elements:
            return elements
        newest = elements[-1].value
        return [e for e in elements if self._delta(e.value, newest) < self._threshold]
