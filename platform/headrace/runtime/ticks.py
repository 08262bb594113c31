"""When a batch has to run though no data comes: time only goes on in batches.

A split can only be found idle by a batch, and a processing-time timer only fires in one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from headrace.runtime.program import Program

#: How long after a moment its tick comes: batches have times of whole milliseconds.
MARGIN_SECONDS = 0.1


class IdleTicks:
    """One tick when data has stopped coming for longer than every idle timeout."""

    def __init__(self, program: Program, tick: Callable[[], None]) -> None:
        timeouts = [g.strategy.idle_timeout for g in program.generators.values()]
        self._longest = max((t for t in timeouts if t is not None), default=None)
        self._tick = tick
        #: When the newest batch with data ended; None when a tick has followed it.
        self._data_ended: float | None = None
        self._tick_runs = False

    def observe(self, new_batch: bool, now: float) -> None:
        """`now`: seconds of a clock that never goes back."""
        if self._longest is None:
            return
        if new_batch and not self._tick_runs:
            self._data_ended = now
        elif new_batch:
            self._tick_runs = False
        elif self._data_ended and now - self._data_ended > self._longest / 1000 + MARGIN_SECONDS:
            self._data_ended = None
            self._tick_runs = True
            self._tick()


class TimerTicks:
    """A tick for each processing-time timer that is due, or for several at once.

    Batches tell of the earliest timer of the key groups that took part in them. A tick reaches all
    key groups, so after one the earliest of all is known. `restored`: nothing is known yet of what
    waits in the state."""

    def __init__(self, tick: Callable[[], None], *, restored: bool) -> None:
        self._tick = tick
        self._due: set[int] = {0} if restored else set()

    def observe(self, told: Iterable[int], now: int) -> None:
        """`told`: timers of new batches; both ms since 1970."""
        self._due.update(told)
        if self._due and min(self._due) < now:
            self._due = {due for due in self._due if due >= now}
            self._tick()


class Ticks:
    """All of a job's. `observe` is called again and again while a query runs."""

    def __init__(self, program: Program, tick: Callable[[], None], *, restored: bool) -> None:
        self._idle = IdleTicks(program, tick)
        self._timers = TimerTicks(tick, restored=restored and program.levels > 0)

    def observe(self, new_batch: bool, timers: Iterable[int]) -> None:
        self._idle.observe(new_batch, time.monotonic())
        self._timers.observe(timers, int(time.time() * 1000))
