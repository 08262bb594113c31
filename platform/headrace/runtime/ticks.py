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
    """A tick when records have stopped coming for longer than an idle timeout; one for each
    timeout of the program. `restored`: splits may have been about to become idle."""

    def __init__(self, program: Program, tick: Callable[[], None], *, restored: bool) -> None:
        timeouts = {g.strategy.idle_timeout for g in program.generators.values()}
        self._timeouts = sorted(t for t in timeouts if t is not None)
        self._tick = tick
        #: Those for which a tick is still to come.
        self._left = self._timeouts if restored else []
        #: When the newest batch with records ended, or the run began.
        self._since: float | None = None

    def observe(self, new_records: bool, now: float) -> None:
        """`now`: seconds of a clock that never goes back."""
        if new_records or self._since is None:
            self._since = now
        if new_records:
            self._left = self._timeouts
        silent = (now - self._since - MARGIN_SECONDS) * 1000
        if self._left and self._left[0] < silent:
            self._left = [timeout for timeout in self._left if timeout >= silent]
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
        self._idle = IdleTicks(program, tick, restored=restored)
        self._timers = TimerTicks(tick, restored=restored and program.levels > 0)

    def observe(self, new_records: bool, timers: Iterable[int]) -> None:
        """`new_records`: whether a new batch had any; `timers`: as of `TimerTicks`."""
        self._idle.observe(new_records, time.monotonic())
        self._timers.observe(timers, int(time.time() * 1000))
