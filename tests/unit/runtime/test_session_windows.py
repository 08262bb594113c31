"""Sessions merge as Flink's do, however records are ordered, cut into batches and restarted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.common import Time, Types
from headrace.datastream import (
    AggregateFunction,
    DataStream,
    ProcessWindowFunction,
    ReduceFunction,
    TriggerResult,
    WindowFunction,
)
from headrace.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from headrace.datastream.window import (
    ContinuousEventTimeTrigger,
    CountTrigger,
    DeltaTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    TimeWindow,
)
from headrace.runtime.transformations import GraphError
from tests.unit.runtime.durable_jobs import DISTURBANCES, DurableJob, cut
from tests.unit.runtime.local_jobs import LocalJob

#: (event time, key, number, gap)
Record = tuple[int, str, int, int]
Results = list[list[Any]]


class Numbers(AggregateFunction):
    """The numbers of a session, in order."""

    def create_accumulator(self) -> list[int]:
        return []

    def add(self, value: Any, accumulator: list[int]) -> list[int]:
        return sorted([*accumulator, value[2]])

    def get_result(self, accumulator: list[int]) -> list[int]:
        return accumulator

    def merge(self, acc_a: list[int], acc_b: list[int]) -> list[int]:
        return sorted(acc_a + acc_b)


class Gap(SessionWindowTimeGapExtractor):
    def extract(self, element: Any) -> int:
        return int(element[3])


class WithWindow(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        [numbers] = elements
        yield key, context.window().start, context.window().end, numbers


class Whole(WindowFunction[Any, Any, Any, Any]):
    def apply(self, key: Any, window: Any, inputs: Any) -> Any:
        return [(key, window.start, window.end, sorted(value[2] for value in inputs))]


class Summed(ReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Any:
        return max(value1[0], value2[0]), value1[1], value1[2] + value2[2]


def sessions(stream: DataStream, lateness: int = 0) -> Any:
    windows = stream.key_by(lambda value: value[1]).window(
        EventTimeSessionWindows.with_dynamic_gap(Gap())
    )
    return windows.allowed_lateness(lateness)


class Model:
    """Sessions by their definition: what is connected by overlapping or touching spans. Slow: it
    looks at all records for everything."""

    def __init__(self, bound: int, lateness: int) -> None:
        self.bound, self.lateness = bound, lateness
        self.watermark = self.newest = -(10**9)
        self.alive: list[Record] = []

    def session(self, record: Record) -> list[Record]:
        """The records connected with one, itself included."""
        found = [record]
        while True:
            more = [
                other
                for other in self.alive
                if other[1] == record[1]
                and not any(other is each for each in found)
                and any(
                    other[0] <= each[0] + each[3] and each[0] <= other[0] + other[3]
                    for each in found
                )
            ]
            if not more:
                return found
            found += more

    def result(self, session: list[Record]) -> tuple[str, int, int, list[int]]:
        start = min(record[0] for record in session)
        end = max(record[0] + record[3] for record in session)
        return session[0][1], start, end, sorted(record[2] for record in session)

    def batch(self, records: list[Record] | None) -> list[Any]:
        out = []
        for record in records or []:
            session = self.session(record)
            end = self.result(session)[2]
            if end - 1 + self.lateness <= self.watermark:
                continue
            self.alive.append(record)
            if end - 1 <= self.watermark:
                out.append(self.result(session))
        before = self.watermark
        self.newest = max([self.newest, *(record[0] for record in records or [])])
        self.watermark = 10**9 if records is None else max(before, self.newest - self.bound - 1)
        seen: list[Record] = []
        for record in list(self.alive):
            if any(record is each for each in seen):
                continue
            session = self.session(record)
            seen += session
            result = self.result(session)
            if before < result[2] - 1 <= self.watermark:
                out.append(result)
            if result[2] - 1 + self.lateness <= self.watermark:
                self.alive = [r for r in self.alive if not any(r is each for each in session)]
        return sorted(out)


RECORDS = st.lists(
    st.tuples(
        st.integers(0, 80), st.sampled_from("ab"), st.integers(1, 9), st.sampled_from([3, 10, 25])
    ),
    max_size=40,
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    records=RECORDS,
    cuts=st.sets(st.integers(0, 40)),
    bound=st.sampled_from([0, 5, 100]),
    lateness=st.sampled_from([0, 10]),
    kind=st.sampled_from(["aggregate", "apply"]),
    disturbances=DISTURBANCES,
)
def test_sessions_agree_with_a_slow_model(
    records: list[Record],
    cuts: set[int],
    bound: int,
    lateness: int,
    kind: str,
    disturbances: list[str],
) -> None:
    def build(stream: DataStream) -> DataStream:
        windows = sessions(stream, lateness)
        return (
            windows.aggregate(Numbers(), WithWindow())
            if kind == "aggregate"
            else windows.apply(Whole())
        )

    job = DurableJob(build, out_of_orderness=bound)
    model = Model(bound, lateness)
    batches: list[Any] = [*cut(records, cuts), None]
    for batch, disturbance in zip(batches, disturbances, strict=False):
        assert sorted(job.step(batch, 0, disturbance)) == model.batch(batch)
    assert job.run.state_entries() == 0


def test_reduced_sessions_merge() -> None:
    windows = EventTimeSessionWindows.with_gap(Time.milliseconds(10))
    job = LocalJob(lambda s: s.key_by(lambda v: v[1]).window(windows).reduce(Summed()))
    job.only(s0=[(0, "a", 1), (18, "a", 2), (9, "a", 4), (40, "a", 8)])
    assert job.only(ended=True) == [(40, "a", 8)]


def test_counts_of_a_trigger_are_merged() -> None:
    job = LocalJob(lambda s: sessions(s).trigger(CountTrigger.of(3)).apply(Whole()))
    assert job.only(s0=[(0, "a", 1, 10), (2, "b", 1, 30)]) == []
    assert job.only(s0=[(20, "a", 2, 10), (9, "a", 3, 12)]) == [("a", 0, 30, [1, 2, 3])]
    assert job.only(ended=True) == []
    assert job.run.state_entries() == 0


def test_a_purging_trigger_empties_a_session_that_then_goes_on() -> None:
    trigger = PurgingTrigger.of(CountTrigger.of(2))
    job = LocalJob(lambda s: sessions(s).trigger(trigger).apply(Whole()))
    assert job.only(s0=[(0, "a", 1, 10), (5, "a", 2, 10), (8, "a", 3, 10)]) == [
        ("a", 0, 15, [1, 2])
    ]
    assert job.only(s0=[(12, "a", 4, 10)]) == [("a", 0, 22, [3, 4])]


def test_a_continuous_trigger_fires_merged_sessions_in_between() -> None:
    trigger = ContinuousEventTimeTrigger.of(Time.milliseconds(10))
    job = LocalJob(lambda s: sessions(s).trigger(trigger).apply(Whole()))
    assert job.only(s0=[(1, "a", 1, 30), (5, "a", 2, 30)]) == []
    assert job.only(s0=[(12, "a", 3, 30)]) == [("a", 1, 42, [1, 2, 3])]
    assert job.only(s0=[(21, "b", 0, 1)]) == [("a", 1, 42, [1, 2, 3])]
    assert job.only(ended=True)[-1] == ("a", 1, 42, [1, 2, 3])
    assert job.run.state_entries() == 0


class Remembering(EventTimeTrigger):
    """Keeps its numbers in every kind of state that merges, and fires when they are four."""

    numbers = ListStateDescriptor("numbers", Types.INT())
    total = AggregatingStateDescriptor("total", Numbers(), Types.PICKLED_BYTE_ARRAY())
    largest = ReducingStateDescriptor("largest", max, Types.INT())

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        super().on_element(element, timestamp, window, ctx)
        ctx.get_partitioned_state(self.numbers).add(element[2])
        ctx.get_partitioned_state(self.total).add(element)
        ctx.get_partitioned_state(self.largest).add(element[2])
        numbers = sorted(ctx.get_partitioned_state(self.numbers))
        assert numbers == ctx.get_partitioned_state(self.total).get()
        assert numbers[-1] == ctx.get_partitioned_state(self.largest).get()
        return TriggerResult.FIRE if len(numbers) == 4 else TriggerResult.CONTINUE

    def on_merge(self, window: Any, ctx: Any) -> None:
        super().on_merge(window, ctx)
        for descriptor in (self.numbers, self.total, self.largest):
            ctx.merge_partitioned_state(descriptor)

    def clear(self, window: Any, ctx: Any) -> None:
        super().clear(window, ctx)
        for descriptor in (self.numbers, self.total, self.largest):
            ctx.get_partitioned_state(descriptor).clear()


def test_every_kind_of_state_of_a_trigger_is_merged() -> None:
    job = LocalJob(
        lambda s: sessions(s).trigger(Remembering()).apply(Whole()), out_of_orderness=100
    )
    records = [(0, "a", 1, 5), (20, "a", 2, 10), (40, "a", 3, 10), (15, "a", 4, 30)]
    assert job.only(s0=records) == []
    assert job.only(s0=[(9, "a", 5, 10)]) == [("a", 9, 50, [2, 3, 4, 5])]
    assert job.only(ended=True) == [("a", 0, 5, [1]), ("a", 9, 50, [2, 3, 4, 5])]
    assert job.run.state_entries() == 0


def test_state_that_cannot_merge_is_named() -> None:
    class Wrong(Remembering):
        numbers = ValueStateDescriptor("one")  # type: ignore[assignment]

        def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
            return TriggerResult.CONTINUE

    job = LocalJob(lambda s: sessions(s).trigger(Wrong()).apply(Whole()))
    with pytest.raises(Exception, match="'one' is no state that can merge"):
        job.only(s0=[(0, "a", 1, 10), (5, "a", 1, 10)])


def test_sessions_of_a_custom_assigner() -> None:
    class Capped(EventTimeSessionWindows):
        """Sessions that never last longer than 20."""

        def merge_windows(self, windows: Any, callback: Any) -> None:
            class Cap:
                def merge(self, to_be_merged: Any, merge_result: TimeWindow) -> None:
                    if merge_result.end - merge_result.start <= 20:
                        callback.merge(to_be_merged, merge_result)

            TimeWindow.merge_windows(windows, Cap())  # type: ignore[arg-type]

    job = LocalJob(lambda s: s.key_by(lambda v: v[1]).window(Capped(10)).apply(Whole()))
    job.only(s0=[(0, "a", 1), (8, "a", 2), (16, "a", 3)])
    assert sorted(job.only(ended=True)) == [("a", 0, 18, [1, 2]), ("a", 16, 26, [3])]


def test_a_trigger_that_cannot_merge_is_refused() -> None:
    with pytest.raises(GraphError, match="DeltaTrigger does not support merging"):
        LocalJob(lambda s: sessions(s).trigger(DeltaTrigger.of(1, abs)).apply(Whole()))


def test_per_window_state_of_sessions_is_refused() -> None:
    class Asks(ProcessWindowFunction[Any, Any, Any, Any]):
        def process(self, key: Any, context: Any, elements: Any) -> Any:
            context.window_state()
            return []

    job = LocalJob(lambda s: sessions(s).process(Asks()))
    with pytest.raises(Exception, match="not allowed when using merging windows"):
        job.only(s0=[(0, "a", 1, 1), (50, "a", 1, 1)])


class Early(EventTimeTrigger):
    """A trigger of one's own that merges by its base class."""

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        super().on_element(element, timestamp, window, ctx)
        return TriggerResult.FIRE if element[2] == 7 else TriggerResult.CONTINUE


def test_a_custom_trigger_fires_early_and_at_the_end() -> None:
    job = LocalJob(lambda s: sessions(s).trigger(Early()).apply(Whole()))
    assert job.only(s0=[(0, "a", 1, 10), (5, "a", 7, 10)]) == [("a", 0, 15, [1, 7])]
    assert job.only(s0=[(9, "a", 2, 10)]) == []
    assert job.only(ended=True) == [("a", 0, 19, [1, 2, 7])]
