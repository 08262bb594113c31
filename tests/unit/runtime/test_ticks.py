"""A batch runs when time has to go on, and only then."""

from __future__ import annotations

from headrace.runtime.ticks import TimerTicks


class Count:
    ticks = 0

    def __call__(self) -> None:
        self.ticks += 1


def test_a_timer_that_is_due_gets_one_tick() -> None:
    count = Count()
    timers = TimerTicks(count, restored=False)
    timers.observe([100], now=50)
    timers.observe([], now=100)  # a batch at this very moment may have begun before
    assert count.ticks == 0
    timers.observe([], now=101)
    timers.observe([], now=200)
    assert count.ticks == 1


def test_timers_that_are_due_together_get_one_tick() -> None:
    count = Count()
    timers = TimerTicks(count, restored=False)
    timers.observe([100, 120, 300], now=150)
    assert count.ticks == 1
    timers.observe([300], now=301)
    assert count.ticks == 2


def test_what_waits_in_restored_state_is_asked_for_once() -> None:
    count = Count()
    timers = TimerTicks(count, restored=True)
    timers.observe([], now=10)
    timers.observe([], now=11)
    assert count.ticks == 1
