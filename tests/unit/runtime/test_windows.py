"""Event-time windows do what Flink's do."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.common import Time
from headrace.datastream import (
    AggregateFunction,
    DataStream,
    EventTimeTrigger,
    OutputTag,
    ProcessWindowFunction,
    SlidingEventTimeWindows,
    TriggerResult,
    TumblingEventTimeWindows,
)
from headrace.datastream.data_stream import WindowedStream
from tests.unit.runtime.local_jobs import LocalJob

LATE = OutputTag("late")


class Sum(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + int(value[2])

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class WithWindow(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        for element in elements:
            yield key, context.window().start, context.window().end, element


def windowed(stream: DataStream, size: int = 10, lateness: int = 0) -> WindowedStream:
    keyed = stream.key_by(lambda value: value[1])
    window = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(size)))
    return window.allowed_lateness(lateness)


def test_a_window_fires_once_the_watermark_passes_its_end() -> None:
    job = LocalJob(lambda s: windowed(s).aggregate(Sum(), WithWindow()))
    assert job.only(s0=[(1, "a", 1), (9, "a", 2)]) == []
    assert job.only(s0=[(10, "a", 4)]) == [("a", 0, 10, 3)]
    assert job.only(s0=[(20, "a", 0)]) == [("a", 10, 20, 4)]


def test_out_of_orderness_holds_the_watermark_back() -> None:
    job = LocalJob(lambda s: windowed(s).aggregate(Sum()), out_of_orderness=5)
    assert job.only(s0=[(1, "a", 1), (14, "a", 0)]) == []
    assert job.only(s0=[(3, "a", 2), (15, "a", 0)]) == [3]


def test_the_slowest_split_decides() -> None:
    job = LocalJob(lambda s: windowed(s).aggregate(Sum()), splits=("0", "1"))
    assert job.only(s0=[(1, "a", 1), (50, "a", 0)]) == []
    assert job.only(s1=[(5, "a", 2)]) == []
    assert job.only(s1=[(10, "a", 0)]) == [3]


def test_a_split_that_has_ended_no_longer_holds_the_watermark_back() -> None:
    job = LocalJob(lambda s: windowed(s).aggregate(Sum()), splits=("0", "1", "2"))
    assert job.only(s0=[(1, "a", 1), (50, "a", 4)], s1=[(2, "a", 2)]) == []
    assert job.end("1") == []
    assert job.end("2") == [3]
    assert job.only(s0=[(60, "a", 0)]) == [4]
    assert job.end("0") == [0]


def test_an_idle_split_no_longer_holds_the_watermark_back() -> None:
    job = LocalJob(lambda s: windowed(s).aggregate(Sum()), splits=("0", "1"), idle=1000)
    assert job.only(time=0, s0=[(1, "a", 1)], s1=[(2, "a", 1)]) == []
    assert job.only(time=900, s0=[(30, "a", 0)]) == []
    assert job.only(time=1100, s0=[(31, "a", 0)]) == [2]


def test_a_split_that_never_spoke_is_idle_in_the_end() -> None:
    job = LocalJob(lambda s: windowed(s).aggregate(Sum()), splits=("0", "1"), idle=1000)
    assert job.only(time=5000, s0=[(1, "a", 1), (30, "a", 0)]) == []
    assert job.only(time=6001, s0=[(31, "a", 0)]) == [1]


def test_late_records_are_dropped_and_counted() -> None:
    job = LocalJob(lambda s: windowed(s).aggregate(Sum()))
    assert job.only(s0=[(1, "a", 1), (10, "a", 0)]) == [1]
    assert job.only(s0=[(2, "a", 7)]) == []
    assert job.run.metrics.counters == {"numLateRecordsDropped": 1}


def test_late_records_go_to_their_side_output() -> None:
    def build(stream: DataStream) -> list[DataStream]:
        main = windowed(stream).side_output_late_data(LATE).aggregate(Sum())
        return [main, main.get_side_output(LATE)]

    job = LocalJob(build)
    assert job.batch(s0=[(1, "a", 1), (10, "a", 0)]) == [[1], []]
    assert job.batch(s0=[(2, "a", 7)]) == [[], [(2, "a", 7)]]


def test_within_the_allowed_lateness_a_window_fires_again() -> None:
    job = LocalJob(lambda s: windowed(s, lateness=10).aggregate(Sum()))
    assert job.only(s0=[(1, "a", 1), (10, "a", 0)]) == [1]
    assert job.only(s0=[(2, "a", 7)]) == [8]
    assert job.only(s0=[(19, "a", 0)]) == []  # watermark 18: the first window goes at 19
    assert job.only(s0=[(3, "a", 1)]) == [9]
    assert job.only(s0=[(20, "a", 0)]) == [0]  # watermark 19: the second fires, the first goes
    assert job.only(s0=[(4, "a", 1)]) == []


def test_nothing_is_left_of_windows_that_are_gone() -> None:
    job = LocalJob(lambda s: windowed(s).aggregate(Sum()))
    job.only(s0=[(t, f"k{t % 7}", 1) for t in range(100)])
    job.only(ended=True)
    assert job.run.state_entries() == 0


def test_the_end_of_input_fires_what_is_open() -> None:
    job = LocalJob(lambda s: windowed(s).aggregate(Sum()))
    assert job.only(s0=[(1, "a", 1)]) == []
    assert job.only(ended=True) == [1]


def test_a_record_is_in_each_sliding_window_over_it() -> None:
    assigner = SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5))
    job = LocalJob(
        lambda s: s.key_by(lambda v: v[1]).window(assigner).aggregate(Sum(), WithWindow())
    )
    job.only(s0=[(7, "a", 1)])
    assert job.only(ended=True) == [("a", 0, 10, 1), ("a", 5, 15, 1)]


def test_process_gets_all_elements_in_order() -> None:
    class Elements(ProcessWindowFunction[Any, Any, Any, Any]):
        def process(self, key: Any, context: Any, elements: Any) -> Any:
            yield [value[2] for value in elements]

    job = LocalJob(lambda s: windowed(s).process(Elements()))
    assert job.only(s0=[(3, "a", "x"), (1, "a", "y")]) == []
    assert job.only(s0=[(2, "a", "z"), (12, "a", "w")]) == [["x", "y", "z"]]


def test_reduce_combines_as_records_come() -> None:
    job = LocalJob(lambda s: windowed(s).reduce(lambda a, b: (b[0], b[1], a[2] + b[2])))
    job.only(s0=[(1, "a", 1), (2, "a", 2)])
    assert job.only(ended=True) == [(2, "a", 3)]


class FireAndPurgeEachSecond(EventTimeTrigger):
    """A custom trigger with state of its own."""

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        from headrace.datastream.state import ReducingStateDescriptor

        seen = ctx.get_partitioned_state(ReducingStateDescriptor("seen", lambda a, b: a + b))
        seen.add(1)
        if seen.get() % 2 == 0:
            return TriggerResult.FIRE_AND_PURGE
        return super().on_element(element, timestamp, window, ctx)


def test_a_custom_trigger_fires_and_purges() -> None:
    job = LocalJob(lambda s: windowed(s).trigger(FireAndPurgeEachSecond()).aggregate(Sum()))
    assert job.only(s0=[(1, "a", 1), (2, "a", 2), (3, "a", 4)]) == [3]
    assert job.only(ended=True) == [4]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    records=st.lists(
        st.tuples(st.integers(0, 60), st.sampled_from("abc"), st.integers(1, 9)), max_size=40
    ),
    cuts=st.sets(st.integers(0, 40)),
    bound=st.sampled_from([0, 3, 100]),
    lateness=st.sampled_from([0, 10]),
)
def test_windows_agree_with_a_slow_model(
    records: list[tuple[int, str, int]], cuts: set[int], bound: int, lateness: int
) -> None:
    """However records are ordered and cut into batches."""
    job = LocalJob(
        lambda s: windowed(s, lateness=lateness).aggregate(Sum(), WithWindow()),
        out_of_orderness=bound,
    )
    batches, batch = [], []
    for i, record in enumerate(records):
        batch.append(record)
        if i in cuts:
            batches.append(batch)
            batch = []
    batches.append(batch)
    got = [sorted(job.only(s0=b) if b else []) for b in batches] + [sorted(job.only(ended=True))]
    assert got == model(batches, bound, lateness)
    assert job.run.state_entries() == 0


def model(
    batches: list[list[tuple[int, str, int]]], bound: int, lateness: int
) -> list[list[tuple[str, int, int, int]]]:
    """Windows of 10 by the definition: the watermark moves behind each batch's data."""
    watermark = newest = -(10**9)
    content: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    fired: set[tuple[str, int]] = set()
    answer = []
    for batch in [*batches, None]:
        out = []
        for timestamp, key, number in batch or []:
            start = timestamp - timestamp % 10
            if start + 9 + lateness <= watermark:
                continue
            content[key, start].append(number)
            if start + 9 <= watermark:
                out.append((key, start, start + 10, sum(content[key, start])))
        newest = max([newest, *(t for t, _, _ in batch or [])])
        watermark = 10**9 if batch is None else max(watermark, newest - bound - 1)
        for (key, start), numbers in content.items():
            if start + 9 <= watermark and (key, start) not in fired:
                fired.add((key, start))
                if start + 9 > previous_watermark(answer, batches, bound):
                    out.append((key, start, start + 10, sum(numbers)))
        answer.append(sorted(out))
    return answer


def previous_watermark(
    answer: list[Any], batches: list[list[tuple[int, str, int]]], bound: int
) -> int:
    """The watermark before the batch that is being answered."""
    seen = [t for batch in batches[: len(answer)] for t, _, _ in batch]
    return max(seen) - bound - 1 if seen else -(10**9)
