"""Time goes on while nothing comes: timers and windows of processing time, and idle sources."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from headrace.common import Duration, Time, WatermarkStrategy
from headrace.datastream import (
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
    WindowFunction,
)
from headrace.datastream.state import ValueStateDescriptor
from headrace.datastream.window import (
    ContinuousProcessingTimeTrigger,
    GlobalWindows,
    ProcessingTimeSessionWindows,
    PurgingTrigger,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from tests.spark.two_executors import Batches, Job, Results, Streams, by_first_field

pytestmark = pytest.mark.usefixtures("on_spark")

SOON, LATER = 300, 3000


class Reminders(KeyedProcessFunction):
    """Two timers a record, one soon and one later; a third is deleted again."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.came = runtime_context.get_state(ValueStateDescriptor("came"))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterable[Any]:
        timers = ctx.timer_service()
        now = timers.current_processing_time()
        self.came.update(now)
        timers.register_processing_time_timer(now + SOON)
        timers.register_processing_time_timer(now + LATER)
        timers.register_processing_time_timer(now + SOON + 1)
        timers.delete_processing_time_timer(now + SOON + 1)
        yield "came", value

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterable[Any]:
        waited = timestamp - self.came.value()
        over = timestamp <= ctx.timer_service().current_processing_time()
        yield waited, ctx.get_current_key(), over, ctx.time_domain().name


def test_timers_fire_while_nothing_comes_and_once_over_a_restart(tmp_path: Path) -> None:
    def build(env: StreamExecutionEnvironment) -> Streams:
        source = Batches([["a", "b"], ["c"]], bounded=False)
        stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "words")
        return {"reminders": stream.key_by(lambda v: v).process(Reminders())}

    job = Job(build, tmp_path)
    first = job.run_until(lambda found: len(found.get("reminders", ())) >= 4)["reminders"]
    due = 9 - len(first)
    second = job.run_until(lambda found: len(found.get("reminders", ())) >= due)

    given = first + second.get("reminders", [])
    assert sorted(given, key=repr) == sorted(
        [("came", key) for key in "abc"]
        + [(wait, key, True, "PROCESSING_TIME") for wait in (SOON, LATER) for key in "abc"],
        key=repr,
    )


class Content(WindowFunction[Any, Any, Any, Any]):
    def apply(self, key: Any, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        yield key, getattr(window, "end", None), list(inputs)


def windows(env: StreamExecutionEnvironment) -> Streams:
    source = Batches([[1, 2, 3], [4], [5, 6]], bounded=False)
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    keyed = stream.key_by(lambda v: v % 2)
    size, slide = Time.milliseconds(400), Time.milliseconds(200)
    now_and_then = PurgingTrigger.of(ContinuousProcessingTimeTrigger.of(size))
    return {
        "tumbling": keyed.window(TumblingProcessingTimeWindows.of(size)).apply(Content()),
        "sliding": keyed.window(SlidingProcessingTimeWindows.of(size, slide)).apply(Content()),
        "sessions": keyed.window(ProcessingTimeSessionWindows.with_gap(size)).apply(Content()),
        "continuous": keyed.window(GlobalWindows.create()).trigger(now_and_then).apply(Content()),
    }


def test_windows_of_processing_time_fire_while_nothing_comes(tmp_path: Path) -> None:
    """When is the machine's; that each value comes in its windows, once in each, is not."""
    times = {"tumbling": 1, "sliding": 2, "sessions": 1, "continuous": 1}
    wanted = {name: sorted([1, 2, 3, 4, 5, 6] * n) for name, n in times.items()}

    found = Job(windows, tmp_path).run_until(lambda found: values(found) == wanted)

    assert values(found) == wanted
    for name, rows in found.items():
        spans = [(key, end) for key, end, _ in rows]
        assert name == "continuous" or len(set(spans)) == len(spans), name


def values(found: Results) -> dict[str, list[int]]:
    return {name: sorted(n for *_, each in rows for n in each) for name, rows in found.items()}


class Timed(KeyedCoProcessFunction):
    """When event time has reached the records of the first stream."""

    def process_element1(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> None:
        ctx.timer_service().register_event_time_timer(value[0])

    def process_element2(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> None: ...

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext) -> Iterable[Any]:
        yield ctx.get_current_key(), timestamp


def test_sources_that_are_idle_or_have_ended_hold_event_time_back_no_more(tmp_path: Path) -> None:
    def build(env: StreamExecutionEnvironment) -> Streams:
        idle = by_first_field().with_idleness(Duration.of_millis(SOON))
        quiet = env.from_source(Batches([[(3, "a", 1)]], bounded=False), idle, "quiet")
        busy = env.from_source(
            Batches([[(5, "a", 2)], [(95, "a", 3)]], bounded=False), by_first_field(), "busy"
        )
        ended = env.from_collection([(0, "a", 0)])
        windows = quiet.union(busy).key_by(lambda v: v[1])
        windows = windows.window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        both = busy.connect(ended).key_by(lambda v: v[1], lambda v: v[1])
        return {"windows": windows.apply(Content()), "timers": both.process(Timed())}

    found = Job(build, tmp_path).run_until(lambda found: len(found) == 2)

    assert found == {"windows": [("a", 10, [(3, "a", 1), (5, "a", 2)])], "timers": [("a", 5)]}
