"""Timers and windows of processing time: the time of the micro-batch."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.common import Time
from headrace.datastream import (
    DataStream,
    KeyedProcessFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from headrace.datastream.state import ValueStateDescriptor
from headrace.datastream.time_domain import TimeDomain
from headrace.datastream.window import (
    ContinuousProcessingTimeTrigger,
    GlobalWindows,
    ProcessingTimeSessionWindows,
    PurgingTrigger,
    SlidingProcessingTimeWindows,
    TumblingProcessingTimeWindows,
)
from tests.unit.runtime.durable_jobs import DISTURBANCES, DurableJob


class Reminder(KeyedProcessFunction):
    """Values (key, what, at): set or delete a timer of either kind."""

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        key, what, at = value
        timers = ctx.timer_service()
        if what == "set":
            timers.register_processing_time_timer(at)
        elif what == "delete":
            timers.delete_processing_time_timer(at)
        elif what == "set event":
            timers.register_event_time_timer(at)
        yield key, what, timers.current_processing_time()

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Any:
        domain = ctx.time_domain()
        kind = "processing" if domain is TimeDomain.PROCESSING_TIME else "event"
        yield ctx.get_current_key(), kind, timestamp, ctx.timestamp()


def reminders() -> DurableJob:
    return DurableJob(lambda s: s.key_by(lambda v: v[0]).process(Reminder()), out_of_orderness=None)


def test_timers_fire_in_order_and_those_of_before_come_first() -> None:
    job = reminders()
    records = [("a", "set", 30), ("a", "set", 20), ("a", "set", 30), ("a", "set", 90)]
    assert job.only(time=10, s0=records) == [("a", "set", 10)] * 4
    assert job.only(time=19, s0=[("a", "look", 0)]) == [("a", "look", 19)]
    assert job.only(time=30, s0=[("a", "look", 0)]) == [
        ("a", "processing", 20, 20),
        ("a", "look", 30),
        ("a", "processing", 30, 30),
    ]
    assert job.tick(80) == []
    assert job.tick(95) == [("a", "processing", 90, 90)]


def test_a_deleted_timer_does_not_fire_and_kinds_are_apart() -> None:
    job = reminders()
    job.only(time=1, s0=[("a", "set", 20), ("a", "set event", 20), ("a", "set", 40)])
    job.only(time=2, s0=[("a", "delete", 20)])
    assert job.tick(50) == [("a", "processing", 40, 40)]
    assert job.only(time=60, ended=True) == [("a", "event", 20, 20)]


def test_a_timer_for_a_time_that_is_over_fires_in_the_same_batch() -> None:
    job = reminders()
    assert job.only(time=100, s0=[("a", "set", 7)]) == [
        ("a", "set", 100),
        ("a", "processing", 7, 7),
    ]


def test_timers_that_wait_at_the_end_of_input_do_not_fire() -> None:
    job = reminders()
    job.only(time=1, s0=[("a", "set", 50)])
    assert job.only(time=2, ended=True) == []


def test_a_timer_may_set_the_next_one() -> None:
    class Heartbeat(KeyedProcessFunction):
        def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> None:
            now = ctx.timer_service().current_processing_time()
            ctx.timer_service().register_processing_time_timer(now + 10)

        def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Any:
            ctx.timer_service().register_processing_time_timer(timestamp + 10)
            yield timestamp

    job = DurableJob(lambda s: s.key_by(lambda v: v).process(Heartbeat()), out_of_orderness=None)
    job.only(time=5, s0=["a"])
    assert job.tick(14) == []
    assert job.run.metrics.next_timer == 15
    assert job.tick(36) == [15, 25, 35]
    job.reopen()
    assert job.tick(45) == [45]


class WithWindow(WindowFunction[Any, Any, Any, Any]):
    def apply(self, key: Any, window: Any, inputs: Any) -> Any:
        return [(key, window.start, window.end, list(inputs))]


BATCHES = st.lists(
    st.tuples(
        st.integers(1, 12),
        st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 9)), max_size=4),
    ),
    max_size=20,
)
KINDS = ["tumbling", "sliding", "session"]


def assigner(kind: str) -> Any:
    if kind == "tumbling":
        return TumblingProcessingTimeWindows.of(Time.milliseconds(10))
    if kind == "sliding":
        return SlidingProcessingTimeWindows.of(Time.milliseconds(10), Time.milliseconds(4))
    return ProcessingTimeSessionWindows.with_gap(Time.milliseconds(10))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(steps=BATCHES, kind=st.sampled_from(KINDS), disturbances=DISTURBANCES)
def test_processing_time_windows_agree_with_a_slow_model(
    steps: list[tuple[int, list[Any]]], kind: str, disturbances: list[str]
) -> None:
    job = DurableJob(
        lambda s: s.key_by(lambda v: v[0]).window(assigner(kind)).apply(WithWindow()),
        out_of_orderness=None,
    )
    now = 1000
    past: list[tuple[int, str, Any]] = []
    told: set[Any] = set()
    for (later, records), disturbance in zip(steps, disturbances, strict=False):
        now += later
        past += [(now, record[0], record) for record in records]
        expected = [w for w in windows(past, kind) if w[2] - 1 <= now and w[:3] not in told]
        told |= {w[:3] for w in expected}
        assert sorted(job.step(records, now, disturbance)) == sorted(expected)
    job.tick(now + 100)
    assert job.run.state_entries() == 0


def windows(past: list[tuple[int, str, Any]], kind: str) -> list[tuple[str, int, int, list[Any]]]:
    """All windows over what came, by their definition."""
    content: defaultdict[tuple[str, int, int], list[Any]] = defaultdict(list)
    for time, key, record in past:
        if kind == "session":
            open_ones = [w for w in content if w[0] == key and w[2] - 1 >= time]
            start = open_ones[0][1] if open_ones else time
            before = content.pop(open_ones[0]) if open_ones else []
            content[key, start, time + 10] = [*before, record]
            continue
        size, slide = 10, 10 if kind == "tumbling" else 4
        for start in range(time - size + 1, time + 1):
            if start % slide == 0:
                content[key, start, start + size].append(record)
    return [(*window, records) for window, records in content.items()]


def test_a_continuous_trigger_of_processing_time() -> None:
    def build(stream: DataStream) -> DataStream:
        keyed = stream.key_by(lambda v: v[0])
        trigger = ContinuousProcessingTimeTrigger.of(Time.milliseconds(10))
        windows = keyed.window(GlobalWindows.create()).trigger(PurgingTrigger.of(trigger))
        return windows.apply(Contents())

    class Contents(WindowFunction[Any, Any, Any, Any]):
        def apply(self, key: Any, window: Any, inputs: Any) -> Any:
            return [[number for _, number in inputs]]

    job = DurableJob(build, out_of_orderness=None)
    assert job.only(time=12, s0=[("a", 1)]) == []
    assert job.only(time=19, s0=[("a", 2)]) == []
    assert job.only(time=21, s0=[("a", 3)]) == [[1, 2]]
    assert job.tick(29) == []
    assert job.tick(30) == [[3]]
    assert job.tick(45) == []  # nothing is in the window


def test_window_state_and_time_of_processing_time_windows() -> None:
    class Seen(ProcessWindowFunction[Any, Any, Any, Any]):
        def process(self, key: Any, context: Any, elements: Any) -> Any:
            count = context.global_state().get_state(ValueStateDescriptor("windows"))
            count.update((count.value() or 0) + 1)
            yield context.current_processing_time(), context.window().end, count.value()

    job = DurableJob(
        lambda s: s.key_by(lambda v: v[0]).window(assigner("tumbling")).process(Seen()),
        out_of_orderness=None,
    )
    job.only(time=12, s0=[("a", 1)])
    assert job.only(time=25, s0=[("a", 2)]) == [(25, 20, 1)]
    assert job.tick(33) == [(33, 30, 2)]
