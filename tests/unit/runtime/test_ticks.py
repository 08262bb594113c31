"""A batch runs when time has to go on, and only then."""

from __future__ import annotations

from headrace.common import Duration, WatermarkStrategy
from headrace.datastream import StreamExecutionEnvironment
from headrace.runtime.program import Program
from headrace.runtime.sinks import CollectSink
from headrace.runtime.sources import CollectionSource
from headrace.runtime.ticks import IdleTicks, TimerTicks
from tests.unit.runtime.local_jobs import First


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


def idling(*timeouts: int) -> Program:
    """A program with a source for each idle timeout, ms."""
    env = StreamExecutionEnvironment.get_execution_environment()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(First())
    env.from_source(CollectionSource(()), strategy, "test").sink_to(CollectSink())
    for timeout in timeouts:
        idle = strategy.with_idleness(Duration.of_millis(timeout))
        env.from_source(CollectionSource(()), idle, "test").sink_to(CollectSink())
    return env.compile("test")


def test_each_idle_timeout_gets_a_tick_once_records_have_stopped() -> None:
    count = Count()
    idle = IdleTicks(idling(1000, 5000), count, restored=False)
    idle.observe(False, 0.0)
    idle.observe(False, 90.0)  # nothing has come yet that could be held back
    assert count.ticks == 0
    idle.observe(True, 100.0)
    idle.observe(False, 101.0)
    assert count.ticks == 0
    idle.observe(False, 101.2)
    idle.observe(False, 102.0)
    assert count.ticks == 1
    idle.observe(False, 105.2)
    idle.observe(False, 300.0)
    assert count.ticks == 2
    idle.observe(True, 301.0)
    idle.observe(True, 304.0)
    idle.observe(False, 304.9)
    assert count.ticks == 2
    idle.observe(False, 310.0)  # both at once
    assert count.ticks == 3


def test_sources_may_become_idle_after_a_restart_without_any_record() -> None:
    count = Count()
    idle = IdleTicks(idling(1000), count, restored=True)
    idle.observe(False, 50.0)
    idle.observe(False, 51.0)
    assert count.ticks == 0
    idle.observe(False, 51.2)
    idle.observe(False, 60.0)
    assert count.ticks == 1


def test_a_program_without_idleness_gets_no_such_tick() -> None:
    count = Count()
    idle = IdleTicks(idling(), count, restored=True)
    idle.observe(True, 50.0)
    idle.observe(False, 5000.0)
    assert count.ticks == 0
