"""Timers and event-time windows against slow models, over any order, cuts, restarts and crashes."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.common import Duration
from headrace.datastream import (
    AggregateFunction,
    DataStream,
    KeyedProcessFunction,
    OutputTag,
    WindowFunction,
)
from headrace.datastream.window import (
    CumulativeEventTimeWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from tests.unit.runtime.durable_jobs import DISTURBANCES, DurableJob, cut

END = 10**9


class Timers(KeyedProcessFunction):
    """Values (event time, key, what to do, with which timer)."""

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        _, _, what, at = value
        timers = ctx.timer_service()
        {
            "event": timers.register_event_time_timer,
            "no event": timers.delete_event_time_timer,
            "processing": timers.register_processing_time_timer,
            "no processing": timers.delete_processing_time_timer,
        }[what](at)
        return ()

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Any:
        yield ctx.time_domain().name, ctx.get_current_key(), timestamp


class TimerModel:
    """Sets of (key, time): what is due, in order of time."""

    def __init__(self) -> None:
        self.event: set[tuple[str, int]] = set()
        self.processing: set[tuple[str, int]] = set()
        self.watermark = -END

    def fire(self, timers: set[tuple[str, int]], domain: str, until: int) -> list[Any]:
        due = [timer for timer in timers if timer[1] <= until]
        timers.difference_update(due)
        return [(domain, key, time) for key, time in due]

    def batch(self, records: list[Any] | None, now: int) -> list[Any]:
        fired = self.fire(self.processing, "PROCESSING_TIME", now - 1)
        for _, key, what, at in records or []:
            timers = self.processing if "processing" in what else self.event
            (timers.discard if what.startswith("no ") else timers.add)((key, at))
        newest = max([-END, *(record[0] for record in records or [])])
        before = self.watermark
        self.watermark = END if records is None else max(before, newest - 1)
        if self.watermark > before:
            fired += self.fire(self.event, "EVENT_TIME", self.watermark)
        return fired + self.fire(self.processing, "PROCESSING_TIME", now)


KINDS = ["event", "event", "processing", "processing", "no event", "no processing"]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    records=st.lists(
        st.tuples(
            st.integers(0, 3000),
            st.sampled_from("abc"),
            st.sampled_from(KINDS),
            st.integers(0, 5).map(lambda n: n * 700),
        ),
        max_size=40,
    ),
    cuts=st.sets(st.integers(0, 40)),
    steps=st.lists(st.integers(1, 900), min_size=60, max_size=60),
    disturbances=DISTURBANCES,
)
def test_timers_agree_with_a_slow_model(
    records: list[Any], cuts: set[int], steps: list[int], disturbances: list[str]
) -> None:
    job = DurableJob(lambda s: s.key_by(lambda v: v[1]).process(Timers()))
    model = TimerModel()
    now = 0
    batches: list[Any] = [*cut(records, cuts), None]
    for batch, step, disturbance in zip(batches, steps, disturbances, strict=False):
        now += step
        got = job.step(batch, now, disturbance)
        assert sorted(got) == sorted(model.batch(batch, now))
        for key in "abc":  # in order of time, but for those of the batch's own time at the end
            times = [t for d, k, t in got if d == "EVENT_TIME" and k == key]
            assert times == sorted(times)
    job.tick(now + 10_000)
    assert job.run.state_entries() == 0


class Sum(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + int(value[2])

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class Spanned(WindowFunction[Any, Any, Any, Any]):
    def apply(self, key: Any, window: Any, inputs: Any) -> Any:
        return [(key, window.start, window.end, *inputs)]


class Summed(WindowFunction[Any, Any, Any, Any]):
    def apply(self, key: Any, window: Any, inputs: Any) -> Any:
        return [(key, window.start, window.end, sum(value[2] for value in inputs))]


def millis(number: int) -> Duration:
    return Duration.of_millis(number)


ASSIGNERS = {
    "tumbling": TumblingEventTimeWindows.of(millis(10), millis(3)),
    "sliding": SlidingEventTimeWindows.of(millis(10), millis(4)),
    "sliding with gaps": SlidingEventTimeWindows.of(millis(4), millis(10)),
    "cumulative": CumulativeEventTimeWindows.of(millis(30), millis(10)),
}


def spans(kind: str, time: int) -> list[tuple[int, int]]:
    """All windows over a time, tried one by one."""
    found = []
    for start in range(time - 40, time + 1):
        for size in range(1, 41):
            end = start + size
            fits = {
                "tumbling": size == 10 and (start - 3) % 10 == 0,
                "sliding": size == 10 and start % 4 == 0,
                "sliding with gaps": size == 4 and start % 10 == 0,
                "cumulative": start % 30 == 0 and size % 10 == 0 and size <= 30,
            }[kind]
            if fits and start <= time < end:
                found.append((start, end))
    return found


class WindowModel:
    """What each window holds; everything is looked at each time."""

    def __init__(self, kind: str, bound: int, lateness: int) -> None:
        self.kind, self.bound, self.lateness = kind, bound, lateness
        self.watermark = self.newest = -END
        self.content: defaultdict[tuple[str, int, int], list[int]] = defaultdict(list)

    def batch(self, records: list[Any] | None) -> tuple[list[Any], list[Any]]:
        out, late = [], []
        for time, key, number in records or []:
            windows = spans(self.kind, time)
            alive = [w for w in windows if w[1] - 1 + self.lateness > self.watermark]
            if not alive and time + self.lateness <= self.watermark:
                late.append((time, key, number))
            for start, end in alive:
                self.content[key, start, end].append(number)
                if end - 1 <= self.watermark:
                    out.append((key, start, end, sum(self.content[key, start, end])))
        before = self.watermark
        self.newest = max([self.newest, *(record[0] for record in records or [])])
        self.watermark = END if records is None else max(before, self.newest - self.bound - 1)
        for (key, start, end), numbers in self.content.items():
            if before < end - 1 <= self.watermark:
                out.append((key, start, end, sum(numbers)))
        return sorted(out), late


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    records=st.lists(
        st.tuples(st.integers(0, 70), st.sampled_from("abc"), st.integers(1, 9)), max_size=40
    ),
    cuts=st.sets(st.integers(0, 40)),
    kind=st.sampled_from(sorted(ASSIGNERS)),
    bound=st.sampled_from([0, 5, 100]),
    lateness=st.sampled_from([0, 7]),
    whole=st.booleans(),
    disturbances=DISTURBANCES,
)
def test_event_time_windows_agree_with_a_slow_model(
    records: list[Any],
    cuts: set[int],
    kind: str,
    bound: int,
    lateness: int,
    whole: bool,
    disturbances: list[str],
) -> None:
    late_tag = OutputTag("late")

    def build(stream: DataStream) -> DataStream:
        windows = stream.key_by(lambda v: v[1]).window(ASSIGNERS[kind])
        windows.allowed_lateness(lateness).side_output_late_data(late_tag)
        main = windows.apply(Summed()) if whole else windows.aggregate(Sum(), Spanned())
        marked = main.map(lambda value: ("main", value))
        return marked.union(main.get_side_output(late_tag).map(lambda value: ("late", value)))

    job = DurableJob(build, out_of_orderness=bound)
    model = WindowModel(kind, bound, lateness)
    batches: list[Any] = [*cut(records, cuts), None]
    for batch, disturbance in zip(batches, disturbances, strict=False):
        got = job.step(batch, 0, disturbance)
        results, late = model.batch(batch)
        assert sorted(value for where, value in got if where == "main") == results
        assert sorted(value for where, value in got if where == "late") == sorted(late)
    assert job.run.state_entries() == 0


def test_a_record_of_no_window_is_late_only_behind_the_lateness() -> None:
    def build(stream: DataStream) -> DataStream:
        windows = stream.key_by(lambda v: v[1]).window(ASSIGNERS["sliding with gaps"])
        return windows.allowed_lateness(7).aggregate(Sum())

    job = DurableJob(build)
    assert job.only(s0=[(9, "a", 1)]) == []  # between two windows
    assert job.only(s0=[(5, "a", 1)]) == []
    assert job.run.metrics.counters == {}
    assert job.only(s0=[(1, "a", 1)]) == [1]
    job.only(s0=[(19, "a", 1)])
    assert job.only(s0=[(5, "a", 1)]) == []
    assert job.run.metrics.counters == {"numLateRecordsDropped": 1}
