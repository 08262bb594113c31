"""Triggers with all their results, evictors, count, global and cumulative windows, all-windows."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.common import Duration, Time
from headrace.datastream import (
    AggregateFunction,
    DataStream,
    OutputTag,
    ProcessWindowFunction,
    TriggerResult,
    WindowFunction,
)
from headrace.datastream.functions import AllWindowFunction, ProcessAllWindowFunction
from headrace.datastream.window import (
    ContinuousEventTimeTrigger,
    CountEvictor,
    CountTrigger,
    CountWindow,
    CountWindowSerializer,
    CumulativeEventTimeWindows,
    DeltaEvictor,
    DeltaTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    Evictor,
    GlobalWindow,
    GlobalWindows,
    GlobalWindowSerializer,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TimeEvictor,
    TimeWindow,
    TimeWindowSerializer,
    Trigger,
    TumblingEventTimeWindows,
    WindowAssigner,
)
from headrace.runtime.transformations import GraphError
from tests.unit.runtime.durable_jobs import DISTURBANCES, DurableJob, cut
from tests.unit.runtime.local_jobs import LocalJob


class Numbers(WindowFunction[Any, Any, Any, Any]):
    def apply(self, key: Any, window: Any, inputs: Any) -> Any:
        return [[value[2] for value in inputs]]


class Total(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + int(value[2])

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


def keyed(stream: DataStream) -> Any:
    return stream.key_by(lambda value: value[1])


def tumbling(stream: DataStream, size: int = 10) -> Any:
    return keyed(stream).window(TumblingEventTimeWindows.of(Time.milliseconds(size)))


def values(*numbers: int, at: int = 1) -> list[tuple[int, str, int]]:
    return [(at, "a", number) for number in numbers]


# --- count and global windows


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    records=st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 9)), max_size=30),
    cuts=st.sets(st.integers(0, 30)),
    size=st.integers(1, 5),
    slide=st.integers(0, 6),
    disturbances=DISTURBANCES,
)
def test_count_windows_agree_with_a_slow_model(
    records: list[tuple[str, int]],
    cuts: set[int],
    size: int,
    slide: int,
    disturbances: list[str],
) -> None:
    def build(stream: DataStream) -> DataStream:
        return stream.key_by(lambda v: v[0]).count_window(size, slide).apply(Listed())

    class Listed(WindowFunction[Any, Any, Any, Any]):
        def apply(self, key: Any, window: Any, inputs: Any) -> Any:
            return [list(inputs)]

    job = DurableJob(build, out_of_orderness=None)
    seen: dict[str, list[Any]] = {}
    for batch, disturbance in zip(cut(records, cuts), disturbances, strict=False):
        expected = []
        for record in batch:
            of_key = seen.setdefault(record[0], [])
            of_key.append(record)
            if len(of_key) >= size and (len(of_key) - size) % (slide or size) == 0:
                expected.append(of_key[-size:])
        assert sorted(job.step(batch, 0, disturbance)) == sorted(expected)


def test_a_global_window_needs_a_trigger() -> None:
    windows = GlobalWindows.create()
    job = LocalJob(lambda s: keyed(s).window(windows).apply(Numbers()))
    assert job.only(s0=values(1, 2)) == []
    assert job.only(ended=True) == []
    counting = LocalJob(
        lambda s: keyed(s).window(windows).trigger(CountTrigger.of(2)).apply(Numbers())
    )
    assert counting.only(s0=values(1, 2, 3)) == [[1, 2]]
    assert counting.only(s0=values(4)) == [[1, 2, 3, 4]]


def test_a_global_window_may_fire_at_the_end_of_the_stream() -> None:
    windows = GlobalWindows.create_with_end_of_stream_trigger()
    job = LocalJob(lambda s: keyed(s).window(windows).apply(Numbers()))
    assert job.only(s0=values(1, 2)) == []
    assert job.only(s0=values(3)) == []
    assert job.only(ended=True) == [[1, 2, 3]]


def test_cumulative_windows_grow_step_by_step() -> None:
    windows = CumulativeEventTimeWindows.of(Time.milliseconds(30), Time.milliseconds(10))

    class Spans(ProcessWindowFunction[Any, Any, Any, Any]):
        def process(self, key: Any, context: Any, elements: Any) -> Any:
            [total] = elements
            yield context.window().start, context.window().end, total

    job = LocalJob(lambda s: keyed(s).window(windows).aggregate(Total(), Spans()))
    records = [(1, "a", 1), (12, "a", 2), (25, "a", 4), (31, "a", 8)]
    got = [*job.only(s0=records), *job.only(ended=True)]
    assert got == [
        (0, 10, 1),
        (0, 20, 3),
        (0, 30, 7),
        (30, 40, 8),
        (30, 50, 8),
        (30, 60, 8),
    ]
    with pytest.raises(ValueError, match="multiple of the step"):
        CumulativeEventTimeWindows.of(Duration.of_millis(30), Duration.of_millis(20))


# --- triggers


class Scripted(Trigger[Any, Any]):
    """Does what the record says."""

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        return TriggerResult[element[3]]

    def on_processing_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_merge(self, window: Any, ctx: Any) -> None: ...

    def clear(self, window: Any, ctx: Any) -> None: ...


def test_all_four_results_of_a_trigger() -> None:
    job = LocalJob(lambda s: tumbling(s, 100).trigger(Scripted()).apply(Numbers()))

    def say(number: int, result: str) -> list[Any]:
        return job.only(s0=[(1, "a", number, result)])

    assert say(1, "CONTINUE") == []
    assert say(2, "FIRE") == [[1, 2]]
    assert say(3, "FIRE_AND_PURGE") == [[1, 2, 3]]
    assert say(4, "CONTINUE") == []
    assert say(5, "PURGE") == []
    assert say(6, "FIRE") == [[6]]


def test_a_count_trigger_keeps_and_a_purging_one_empties() -> None:
    keeping = LocalJob(lambda s: tumbling(s).trigger(CountTrigger.of(2)).apply(Numbers()))
    assert keeping.only(s0=values(1, 2, 3, 4)) == [[1, 2], [1, 2, 3, 4]]
    purging = PurgingTrigger.of(CountTrigger.of(2))
    emptying = LocalJob(lambda s: tumbling(s).trigger(purging).apply(Numbers()))
    assert emptying.only(s0=values(1, 2, 3, 4, 5)) == [[1, 2], [3, 4]]
    assert emptying.only(ended=True) == []
    assert emptying.run.state_entries() == 0


def test_a_delta_trigger_fires_at_a_leap() -> None:
    trigger = DeltaTrigger.of(5, lambda old, new: abs(new[2] - old[2]))
    job = LocalJob(lambda s: tumbling(s).trigger(trigger).apply(Numbers()))
    assert job.only(s0=values(10, 12, 15, 16)) == [[10, 12, 15, 16]]
    assert job.only(s0=values(20, 10)) == [[10, 12, 15, 16, 20, 10]]


def test_a_continuous_trigger_of_event_time() -> None:
    trigger = ContinuousEventTimeTrigger.of(Time.milliseconds(20))
    job = LocalJob(lambda s: tumbling(s, 100).trigger(trigger).apply(Numbers()))
    assert job.only(s0=[(5, "a", 1), (19, "a", 2)]) == []
    assert job.only(s0=[(21, "a", 3)]) == [[1, 2, 3]]
    assert job.only(s0=[(30, "a", 4)]) == []
    assert job.only(s0=[(65, "a", 5)]) == [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5]]
    assert job.only(ended=True) == [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5]]
    assert job.run.state_entries() == 0


def test_a_trigger_with_both_kinds_of_timer() -> None:
    class Either(EventTimeTrigger):
        """At the window's end, or 10 ms of processing time after its first record."""

        def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
            ctx.register_processing_time_timer(ctx.get_current_processing_time() + 10)
            return super().on_element(element, timestamp, window, ctx)

        def on_processing_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
            return TriggerResult.FIRE

    job = DurableJob(lambda s: tumbling(s).trigger(Either()).apply(Numbers()))
    assert job.only(time=100, s0=values(1)) == []
    assert job.tick(110) == [[1]]
    assert job.only(time=112, ended=True) == [[1]]


# --- evictors


def evicting(evictor: Evictor) -> LocalJob:
    return LocalJob(
        lambda s: (
            keyed(s)
            .window(GlobalWindows.create())
            .trigger(CountTrigger.of(2))
            .evictor(evictor)
            .apply(Numbers())
        )
    )


def test_a_count_evictor_keeps_the_newest() -> None:
    job = evicting(CountEvictor.of(3))
    assert job.only(s0=values(1, 2, 3, 4, 5, 6)) == [[1, 2], [2, 3, 4], [4, 5, 6]]
    after = evicting(CountEvictor.of(3, True))
    assert after.only(s0=values(1, 2, 3, 4, 5, 6)) == [[1, 2], [1, 2, 3, 4], [2, 3, 4, 5, 6]]


def test_a_time_evictor_keeps_the_young() -> None:
    job = evicting(TimeEvictor.of(Time.milliseconds(10)))
    records = [(1, "a", 1), (5, "a", 2), (12, "a", 3), (11, "a", 4)]
    assert job.only(s0=records) == [[1, 2], [2, 3, 4]]


def test_a_delta_evictor_keeps_the_near() -> None:
    job = evicting(DeltaEvictor.of(5, lambda one, newest: abs(newest[2] - one[2])))
    assert job.only(s0=values(10, 12, 30, 31)) == [[10, 12], [30, 31]]


def test_an_evicted_window_is_aggregated_when_it_fires() -> None:
    job = LocalJob(
        lambda s: (
            keyed(s)
            .window(GlobalWindows.create())
            .trigger(CountTrigger.of(2))
            .evictor(CountEvictor.of(2))
            .aggregate(Total())
        )
    )
    assert job.only(s0=values(1, 2, 3, 4)) == [3, 7]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    records=st.lists(st.tuples(st.integers(0, 30), st.just("a"), st.integers(1, 20)), max_size=25),
    cuts=st.sets(st.integers(0, 25)),
    kind=st.sampled_from(["count", "time", "delta"]),
    after=st.booleans(),
    disturbances=DISTURBANCES,
)
def test_evictors_agree_with_a_slow_model(
    records: list[Any], cuts: set[int], kind: str, after: bool, disturbances: list[str]
) -> None:
    def delta(one: Any, newest: Any) -> int:
        return abs(int(newest[2]) - int(one[2]))

    evictors: dict[str, Evictor] = {
        "count": CountEvictor.of(4, after),
        "time": TimeEvictor.of(Duration.of_millis(8), after),
        "delta": DeltaEvictor.of(6, delta, after),
    }

    def kept(window: list[Any]) -> list[Any]:
        if kind == "count":
            return window[-4:]
        if kind == "time":
            return [v for v in window if v[0] > max(each[0] for each in window) - 8]
        return [v for v in window if delta(v, window[-1]) < 6]

    windows = GlobalWindows.create()
    job = DurableJob(
        lambda s: (
            keyed(s)
            .window(windows)
            .trigger(CountTrigger.of(3))
            .evictor(evictors[kind])
            .apply(Numbers())
        )
    )
    window: list[Any] = []
    count = 0
    for batch, disturbance in zip(cut(records, cuts), disturbances, strict=False):
        expected = []
        for record in batch:
            window.append(record)
            count += 1
            if count % 3 == 0:
                seen = window if after else kept(window)
                expected.append([v[2] for v in seen])
                window = kept(window)
        assert job.step(batch, 0, disturbance) == expected


# --- all windows, custom windows, state of windows


def test_all_windows_take_all_keys() -> None:
    class Sorted(AllWindowFunction[Any, Any, Any]):
        def apply(self, window: Any, inputs: Any) -> Any:
            return [(window.end, sorted(value[2] for value in inputs))]

    class Counted(ProcessAllWindowFunction[Any, Any, Any]):
        def process(self, context: Any, elements: Any) -> Any:
            yield context.window().start, len(list(elements)), context.current_watermark()

    def build(stream: DataStream) -> list[DataStream]:
        windows = TumblingEventTimeWindows.of(Time.milliseconds(10))
        return [
            stream.window_all(windows).apply(Sorted()),
            stream.window_all(windows).process(Counted()),
            stream.window_all(windows).aggregate(Total()),
            stream.key_by(lambda v: v[1]).window_all(windows).reduce(lambda a, b: max(a, b)),
        ]

    job = LocalJob(build)
    job.batch(s0=[(1, "a", 3), (2, "b", 1), (9, "c", 2)])
    assert job.batch(s0=[(20, "a", 0)]) == [[(10, [1, 2, 3])], [(0, 3, 19)], [6], [(9, "c", 2)]]


def test_windows_and_an_assigner_of_ones_own() -> None:
    class Named(TimeWindow):
        def __init__(self, start: int, end: int, name: str) -> None:
            super().__init__(start, end)
            self.name = name

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Named) and vars(other) == vars(self) and super().__eq__(other)

        def __hash__(self) -> int:
            return hash((self.start, self.end, self.name))

    class ByName(WindowAssigner[Any, Any]):
        """As PyFlink's examples write one."""

        def assign_windows(self, element: Any, timestamp: int, context: Any) -> Any:
            return [Named(0, 10, name) for name in element[2]]

        def get_default_trigger(self, env: Any) -> Any:
            return EventTimeTrigger()

        def get_window_serializer(self) -> Any:
            return TimeWindowSerializer()

        def is_event_time(self) -> bool:
            return True

    class Names(WindowFunction[Any, Any, Any, Any]):
        def apply(self, key: Any, window: Any, inputs: Any) -> Any:
            return [(window.name, [value[0] for value in inputs])]

    job = DurableJob(lambda s: keyed(s).window(ByName()).apply(Names()))
    job.only(s0=[(1, "a", "xy"), (2, "a", "y")])
    job.reopen()
    assert sorted(job.only(ended=True)) == [("x", [1]), ("y", [1, 2])]
    assert job.run.state_entries() == 0


def test_state_of_a_window_and_of_the_key() -> None:
    from headrace.datastream.state import ListStateDescriptor, ValueStateDescriptor

    class Firings(ProcessWindowFunction[Any, Any, Any, Any]):
        def process(self, key: Any, context: Any, elements: Any) -> Any:
            firings = context.window_state().get_state(ValueStateDescriptor("n"))
            firings.update((firings.value() or 0) + 1)
            all_ = context.global_state().get_list_state(ListStateDescriptor("all"))
            all_.add(context.window().start)
            cleared = context.global_state().get_list_state(ListStateDescriptor("cleared"))
            yield context.window().start, firings.value(), [*all_, *cleared]

        def clear(self, context: Any) -> None:
            at = context.window().start
            assert (
                context.window_state().get_state(ValueStateDescriptor("n")).value() == 2 - at / 10
            )
            context.global_state().get_list_state(ListStateDescriptor("cleared")).add(at)

    job = LocalJob(
        lambda s: tumbling(s).trigger(CountTrigger.of(1)).process(Firings()).name("windows")
    )
    assert job.only(s0=[(1, "a", 1), (11, "a", 1), (2, "a", 1)]) == [
        (0, 1, [0]),
        (10, 1, [0, 10]),
        (0, 2, [0, 10, 0]),
    ]
    job.only(s0=[(25, "b", 1)])
    assert job.only(s0=[(27, "a", 1)]) == [(20, 1, [0, 10, 0, 20, 0, 10])]


def test_results_of_windows_go_to_side_outputs() -> None:
    big = OutputTag("big")

    class Split(ProcessWindowFunction[Any, Any, Any, Any]):
        def process(self, key: Any, context: Any, elements: Any) -> Any:
            for value in elements:
                yield (big, value[2]) if value[2] > 5 else value[2]

    def build(stream: DataStream) -> list[DataStream]:
        main = tumbling(stream).process(Split())
        return [main, main.get_side_output(big)]

    job = LocalJob(build)
    job.batch(s0=values(1, 9, 2))
    assert job.batch(ended=True) == [[1, 2], [9]]


def test_windows_do_not_share_what_can_change() -> None:
    def grow(one: list[Any], other: list[Any]) -> list[Any]:
        one[2] += other[2]
        return one

    sliding = SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5))
    job = LocalJob(lambda s: keyed(s).window(sliding).reduce(grow))
    got = [*job.only(s0=[[7, "a", 1], [8, "a", 2], [12, "a", 4]]), *job.only(ended=True)]
    assert [value[2] for value in got] == [3, 7, 4]


def test_what_is_no_function_of_windows_is_refused() -> None:
    with pytest.raises(GraphError, match="ProcessWindowFunction or WindowFunction"):
        LocalJob(lambda s: tumbling(s).apply(lambda key, window, inputs: []))
    with pytest.raises(GraphError, match="AggregateFunction"):
        LocalJob(lambda s: tumbling(s).aggregate(lambda a, b: a))
    with pytest.raises(GraphError, match="cannot be negative"):
        LocalJob(lambda s: tumbling(s).allowed_lateness(-1).aggregate(Total()))


def test_serializers_of_windows() -> None:
    stream = BytesIO()
    TimeWindowSerializer().serialize(TimeWindow(-5, 10), stream)
    CountWindowSerializer().serialize(CountWindow(7), stream)
    GlobalWindowSerializer().serialize(GlobalWindow.get(), stream)
    stream.seek(0)
    assert TimeWindowSerializer().deserialize(stream) == TimeWindow(-5, 10)
    assert CountWindowSerializer().deserialize(stream) == CountWindow(7)
    assert GlobalWindowSerializer().deserialize(stream) == GlobalWindow()


def test_late_sessions_and_what_the_names_say() -> None:
    assert repr(EventTimeSessionWindows.with_gap(Time.seconds(1))) == (
        "EventTimeSessionWindows(1000)"
    )
    late = OutputTag("late")

    def build(stream: DataStream) -> list[DataStream]:
        windows = keyed(stream).window(EventTimeSessionWindows.with_gap(Time.milliseconds(5)))
        main = windows.side_output_late_data(late).aggregate(Total())
        return [main, main.get_side_output(late)]

    job = LocalJob(build)
    assert job.batch(s0=[(1, "a", 1), (30, "a", 2)]) == [[1], []]
    assert job.batch(s0=[(3, "a", 4)]) == [[], [(3, "a", 4)]]
