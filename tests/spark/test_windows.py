"""Windows give on Spark what they give in one process."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pytest

from headrace.common import Duration, Time, Types
from headrace.datastream import (
    AggregateFunction,
    DataStream,
    OutputTag,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
    Trigger,
    TriggerResult,
    WindowAssigner,
    WindowFunction,
)
from headrace.datastream.data_stream import WindowedStream
from headrace.datastream.state import ReducingStateDescriptor, ValueStateDescriptor
from headrace.datastream.window import (
    ContinuousEventTimeTrigger,
    CountEvictor,
    CountTrigger,
    CumulativeEventTimeWindows,
    DeltaEvictor,
    DeltaTrigger,
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    TimeEvictor,
    TimeWindow,
    TumblingEventTimeWindows,
    Window,
)
from tests.spark.two_executors import (
    Batches,
    Job,
    Streams,
    assert_same,
    by_first_field,
    in_process,
    results,
)

pytestmark = pytest.mark.usefixtures("on_spark")

LATE, LATE_SESSION = OutputTag("late"), OutputTag("late-session")
LATENESS = 40
#: (time, key, number)
Value = tuple[int, str, int]


def records(seed: int, count: int = 240, batches: int = 6) -> list[list[Value]]:
    """Time goes on by two from record to record; some are far behind, some keys have pauses."""
    chance = random.Random(seed)
    values: list[Value] = []
    for number in range(count):
        behind = chance.choice([0, 0, 0, 3, 9, 25, 90])
        key = chance.choice("aab" if number // 40 % 2 else "aabbcd")
        values.append((max(0, 2 * number - behind), key, number))
    size = count // batches
    return [values[at : at + size] for at in range(0, count, size)]


class Total(AggregateFunction):
    def create_accumulator(self) -> list[int]:
        return [0, 0]

    def add(self, value: Any, accumulator: list[int]) -> list[int]:
        return [accumulator[0] + value[2], accumulator[1] + 1]

    def get_result(self, accumulator: list[int]) -> tuple[int, int]:
        return accumulator[0], accumulator[1]

    def merge(self, acc_a: list[int], acc_b: list[int]) -> list[int]:
        return [acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]]


class Shown(ProcessWindowFunction[Any, Any, Any, Any]):
    """Key, the window's span, its content and what time it is."""

    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterable[Any]:
        window = context.window()
        yield key, window.start, window.end, list(elements), context.current_watermark()


class Content(WindowFunction[Any, Any, Any, Any]):
    def apply(self, key: Any, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        yield key, repr(window), [value[2] for value in inputs]


class WithState(ProcessWindowFunction[Any, Any, Any, Any]):
    """The how manyth firing of this window, and of the key; counted in both kinds of state."""

    OF_WINDOW = ValueStateDescriptor("fired", Types.INT())
    OF_KEY = ReducingStateDescriptor("fired in all", lambda a, b: a + b, Types.INT())

    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterable[Any]:
        mine = context.window_state().get_state(self.OF_WINDOW)
        mine.update((mine.value() or 0) + 1)
        whole = context.global_state().get_reducing_state(self.OF_KEY)
        whole.add(1)
        yield key, context.window().end, mine.value(), whole.get(), len(list(elements))

    def clear(self, context: Any) -> None:
        context.window_state().get_state(self.OF_WINDOW).clear()


class AllShown(ProcessAllWindowFunction[Any, Any, Any]):
    def process(self, context: Any, elements: Iterable[Any]) -> Iterable[Any]:
        yield "all", context.window().end, [value[2] for value in elements]


class Gap(SessionWindowTimeGapExtractor):
    def extract(self, element: Value) -> int:
        return 5 + element[2] % 7 * 3


class Whims(Trigger[Any, Any]):
    """Each of the four results, by the number; an event-time timer of its own beside."""

    SEEN = ReducingStateDescriptor("seen", max, Types.LONG())

    def on_element(self, element: Value, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        ctx.get_partitioned_state(self.SEEN).add(timestamp)
        ctx.register_event_time_timer(window.max_timestamp())
        ctx.register_event_time_timer(window.start + 10)
        return list(TriggerResult)[element[2] % 4]

    def on_event_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        seen = ctx.get_partitioned_state(self.SEEN).get()
        return TriggerResult.FIRE if seen is None or seen % 2 else TriggerResult.CONTINUE

    def clear(self, window: Any, ctx: Any) -> None:
        ctx.delete_event_time_timer(window.max_timestamp())
        ctx.get_partitioned_state(self.SEEN).clear()


class Shift(TimeWindow):
    """A window with a name."""

    def __init__(self, start: int, end: int, name: str) -> None:
        super().__init__(start, end)
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shift) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"{self.name} {self.start}"


class Shifts(WindowAssigner[Any, Any]):
    """Day and night; those of key `a` belong to both."""

    def assign_windows(self, element: Value, timestamp: int, context: Any) -> Collection[Window]:
        start = timestamp - timestamp % 60
        names = ("day", "night") if element[1] == "a" else ("day",)
        return [Shift(start, start + 60, name) for name in names]

    def get_default_trigger(self, env: Any = None) -> Trigger[Any, Any]:
        return EventTimeTrigger.create()

    def is_event_time(self) -> bool:
        return True


def millis(number: int) -> Time:
    return Time.milliseconds(number)


def in_time(keyed: Any) -> Streams:
    tumbling: WindowedStream = keyed.window(TumblingEventTimeWindows.of(millis(20)))
    late = (
        tumbling.allowed_lateness(LATENESS).side_output_late_data(LATE).aggregate(Total(), Shown())
    )
    shifted = TumblingEventTimeWindows.of(Duration.of_millis(20), Duration.of_millis(7))
    sliding = SlidingEventTimeWindows.of(millis(30), millis(10))
    cumulative = CumulativeEventTimeWindows.of(millis(40), millis(10))
    return {
        "tumbling": late,
        "late": late.get_side_output(LATE).map(lambda v: (v[1], v)),
        "offset": keyed.window(shifted).apply(Content()),
        "sliding": keyed.window(sliding).reduce(lambda a, b: (*a[:2], a[2] + b[2]), Shown()),
        "cumulative": keyed.window(cumulative).allowed_lateness(LATENESS).apply(Content()),
        "shifts": keyed.window(Shifts()).allowed_lateness(LATENESS).apply(Content()),
        "state": keyed.window(sliding).allowed_lateness(LATENESS).process(WithState()),
    }


def sessions(keyed: Any) -> Streams:
    fixed = keyed.window(EventTimeSessionWindows.with_gap(millis(12))).allowed_lateness(LATENESS)
    fixed = fixed.side_output_late_data(LATE_SESSION).process(Shown())
    dynamic = keyed.window(DynamicEventTimeSessionWindows.with_dynamic_gap(Gap()))
    counted = keyed.window(EventTimeSessionWindows.with_gap(millis(30)))
    return {
        "sessions": fixed,
        "late sessions": fixed.get_side_output(LATE_SESSION).map(lambda v: (v[1], v)),
        "dynamic sessions": dynamic.aggregate(Total(), Shown()),
        "sessions by count": counted.trigger(CountTrigger.of(3)).apply(Content()),
    }


def by_count(keyed: Any) -> Streams:
    whole = GlobalWindows.create()
    whole_input = keyed.window(GlobalWindows.create_with_end_of_stream_trigger())
    return {
        "count": keyed.count_window(7).apply(Content()),
        "sliding count": keyed.count_window(7, 3).apply(Content()),
        "purging": keyed.window(whole)
        .trigger(PurgingTrigger.of(CountTrigger.of(5)))
        .reduce(lambda a, b: (a[1], a[1], a[2] + b[2]))
        .map(lambda v: (v[1], v[2])),
        "delta": keyed.window(whole)
        .trigger(DeltaTrigger.of(25, lambda old, new: new[0] - old[0]))
        .evictor(TimeEvictor.of(millis(30)))
        .apply(Content()),
        "end of stream": whole_input.aggregate(Total(), AtEnd()),
        "time of the end": whole_input.process(When()),
    }


class When(ProcessWindowFunction[Any, Any, Any, Any]):
    """The time at which it is called: that of the micro-batch."""

    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterable[Any]:
        yield key, context.current_processing_time()


class AtEnd(WindowFunction[Any, Any, Any, Any]):
    def apply(self, key: Any, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        yield key, list(inputs)


def triggered(keyed: Any) -> Streams:
    windows = TumblingEventTimeWindows.of(millis(50))
    lately = keyed.window(windows).allowed_lateness(LATENESS)
    return {
        "continuous": keyed.window(windows)
        .trigger(ContinuousEventTimeTrigger.of(millis(15)))
        .apply(Content()),
        "whims": lately.trigger(Whims()).apply(Content()),
        "evicted by count": keyed.window(windows).evictor(CountEvictor.of(3)).process(Shown()),
        "evicted behind": keyed.window(windows)
        .trigger(CountTrigger.of(4))
        .evictor(DeltaEvictor.of(9, lambda old, new: new[0] - old[0], True))
        .apply(Content()),
    }


def behind_each_other(keyed: Any, stream: DataStream) -> Streams:
    """Windows of windows, and windows of everything."""
    first = keyed.window(TumblingEventTimeWindows.of(millis(20))).aggregate(Total(), Shown())
    second = first.key_by(lambda v: v[0]).window(TumblingEventTimeWindows.of(millis(80)))
    everything = stream.window_all(TumblingEventTimeWindows.of(millis(60)))
    return {
        "windows of windows": second.apply(Spans()),
        "all": everything.process(AllShown()),
    }


class Spans(WindowFunction[Any, Any, Any, Any]):
    def apply(self, key: Any, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        yield key, window.end, [value[1:4] for value in inputs]


def program(parts: int, seed: int) -> Any:
    def build(env: StreamExecutionEnvironment) -> Streams:
        source = Batches(records(seed), parts)
        stream = env.from_source(source, by_first_field(10), "records")
        keyed = stream.key_by(lambda v: v[1])
        return {
            **in_time(keyed),
            **sessions(keyed),
            **by_count(keyed),
            **triggered(keyed),
            **behind_each_other(keyed, stream),
        }

    return build


def test_every_kind_of_window_gives_what_it_gives_in_one_process(tmp_path: Path) -> None:
    """And the last batch, in which most windows fire, is the same when it is run again."""
    here = in_process(program(2, seed=1), tmp_path / "here")
    expected = results(here.collected)
    assert len(expected) == 23, sorted(expected)  # none of them is empty
    job = Job(program(2, seed=1), tmp_path / "spark")

    found = job.run()
    times = {time for _, time in found.pop("time of the end")}
    assert len(times) == 1
    del expected["time of the end"]
    assert_same(found, expected)
    assert job.counters["numLateRecordsDropped"] == here.counters["numLateRecordsDropped"] > 0

    first = job.collected
    job.forget_last_commit()
    job.run()
    assert job.collected == first[-len(job.collected) :] != []
