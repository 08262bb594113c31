"""Interval joins against a slow model, over random orders and cuts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.common import Time
from headrace.datastream import DataStream, KeyedStream, OutputTag, ProcessJoinFunction
from headrace.runtime.transformations import GraphError
from tests.unit.runtime.durable_jobs import DISTURBANCES, DurableJob
from tests.unit.runtime.local_jobs import LocalJob

LEFT, RIGHT, ODD = OutputTag("late left"), OutputTag("late right"), OutputTag("odd")
#: (time, side, key, number)
Value = tuple[int, str, str, int]


class Both(ProcessJoinFunction):
    def process_element(
        self, left: Value, right: Value, ctx: ProcessJoinFunction.Context
    ) -> Iterable[Any]:
        assert (ctx.get_left_timestamp(), ctx.get_right_timestamp()) == (left[0], right[0])
        assert ctx.get_timestamp() == max(left[0], right[0])
        yield left, right


def sides(stream: DataStream) -> tuple[KeyedStream, KeyedStream]:
    return (
        stream.filter(lambda v: v[1] == "l").key_by(lambda v: v[2]),
        stream.filter(lambda v: v[1] == "r").key_by(lambda v: v[2]),
    )


def expected(
    batches: list[list[Value]], lower: int, upper: int, delay: int
) -> tuple[list[Any], list[Value]]:
    """All pairs of values that were not late, and the late ones: the watermark of a batch's end
    decides for the next batch."""
    kept: list[Value] = []
    late: list[Value] = []
    newest = None
    for batch in batches:
        for value in batch:
            is_late = newest is not None and value[0] < newest - delay - 1
            (late if is_late else kept).append(value)
        times = [value[0] for value in batch] + ([] if newest is None else [newest])
        newest = max(times, default=None)
    pairs = [
        (one, two)
        for one in kept
        for two in kept
        if (one[1], two[1]) == ("l", "r")
        and one[2] == two[2]
        and one[0] + lower <= two[0] <= one[0] + upper
    ]
    return pairs, late


def _in_time(steps: list[tuple[int, int, str, str]]) -> list[tuple[int, str, str]]:
    """Time goes on by the first number of each, and is out of order by the second."""
    now, found = 0, []
    for step, back, side, key in steps:
        now += step
        found.append((max(0, now - back), side, key))
    return found


_back = st.sampled_from([0, 0, 1, 3, 9])
_side, _key = st.sampled_from("lr"), st.sampled_from("aaab")
values = st.one_of(
    st.lists(st.tuples(st.integers(0, 60), _side, _key), max_size=40),
    st.lists(st.tuples(st.integers(0, 4), _back, _side, _key), min_size=12, max_size=40).map(
        _in_time
    ),
)


def cut(data: list[Any], sizes: list[int]) -> list[list[Value]]:
    numbered = [(*value, number) for number, value in enumerate(data)]
    batches = []
    for size in sizes:
        batches.append(numbered[:size])
        numbered = numbered[size:]
    return [*batches, numbered]


@settings(derandomize=True, deadline=None, max_examples=250)
@given(
    values,
    st.lists(st.integers(1, 6), max_size=8),
    st.integers(-15, 15),
    st.integers(0, 20),
    st.sampled_from([0, 2, 5, 100]),
    st.booleans(),
    st.booleans(),
)
def test_an_interval_join_gives_the_pairs_of_the_model(
    data: list[Any],
    sizes: list[int],
    lower: int,
    width: int,
    delay: int,
    lower_open: bool,
    upper_open: bool,
) -> None:
    upper = lower + width

    def build(stream: DataStream) -> list[DataStream]:
        left, right = sides(stream)
        join = left.interval_join(right).between(Time.milliseconds(lower), upper)
        join = join.lower_bound_exclusive() if lower_open else join
        join = join.upper_bound_exclusive() if upper_open else join
        join.side_output_left_late_data(LEFT).side_output_right_late_data(RIGHT)
        joined = join.process(Both())
        return [joined, joined.get_side_output(LEFT), joined.get_side_output(RIGHT)]

    batches = cut(data, sizes)
    job = LocalJob(build, out_of_orderness=delay)
    got: list[list[Any]] = [[], [], []]
    for batch in batches:
        for sink, received in enumerate(job.batch(s0=batch)):
            got[sink] += received
    pairs, late = expected(batches, lower + lower_open, upper - upper_open, delay)
    # at the watermark itself a value is not late yet, and what it would meet may be gone
    pairs = [pair for pair in pairs if not _on_the_edge(pair, batches, delay)]
    got_pairs = [pair for pair in got[0] if not _on_the_edge(pair, batches, delay)]
    assert sorted(got_pairs) == sorted(pairs)
    assert sorted(got[1] + got[2]) == sorted(late)
    job.batch(ended=True)
    assert job.run.state_entries() == 0


def _on_the_edge(pair: tuple[Value, Value], batches: list[list[Value]], delay: int) -> bool:
    """Whether one of the two came exactly at the watermark."""
    newest = None
    for batch in batches:
        for value in batch:
            if value in pair and newest is not None and value[0] == newest - delay - 1:
                return True
        newest = max([v[0] for v in batch] + ([] if newest is None else [newest]), default=None)
    return False


def test_late_values_are_counted_where_nobody_asks_for_them() -> None:
    def build(stream: DataStream) -> DataStream:
        left, right = sides(stream)
        return left.interval_join(right).between(-5, 5).process(Both())

    job = LocalJob(build)
    assert job.only(s0=[(100, "l", "a", 1)]) == []
    assert job.only(s0=[(98, "r", "a", 2), (99, "r", "a", 3)]) == [
        ((100, "l", "a", 1), (99, "r", "a", 3))
    ]
    assert job.run.metrics.counters == {"numLateRecordsDropped": 1}


def test_a_join_emits_the_later_time_and_side_outputs() -> None:
    class Odd(ProcessJoinFunction):
        def process_element(
            self, left: Value, right: Value, ctx: ProcessJoinFunction.Context
        ) -> Iterable[Any]:
            yield ODD, right[3]

    def build(stream: DataStream) -> DataStream:
        left, right = sides(stream)
        return left.interval_join(right).between(-5, 5).process(Odd()).get_side_output(ODD)

    job = LocalJob(build)
    received = job.run.batch  # timestamps too
    from headrace.runtime.parts import Part

    part = Part("0", [(None, (10, "l", "a", 1)), (None, (12, "r", "a", 2))])
    [sink] = received({job._source: [part]}).values()
    assert sink == [(12, 2)]


def test_what_cannot_be_joined_is_refused() -> None:
    with pytest.raises(GraphError, match="lower bound 5 ms of a join is above its upper bound"):
        LocalJob(lambda s: sides(s)[0].interval_join(sides(s)[1]).between(5, 4).process(Both()))
    with pytest.raises(GraphError, match="takes two keyed streams"):
        LocalJob(lambda s: sides(s)[0].interval_join(s))  # type: ignore[arg-type,return-value]
    with pytest.raises(GraphError, match=r"'Interval Join' is in event time, but .* no timestamp"):
        LocalJob(
            lambda s: sides(s)[0].interval_join(sides(s)[1]).between(0, 0).process(Both()),
            out_of_orderness=None,
        )


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    values,
    st.lists(st.integers(0, 8), max_size=6),
    st.integers(-15, 15),
    st.integers(0, 20),
    DISTURBANCES,
)
def test_crashes_and_restarts_do_not_show_in_interval_joins(
    data: list[Any], sizes: list[int], lower: int, width: int, disturbances: list[str]
) -> None:
    def build(stream: DataStream) -> DataStream:
        left, right = sides(stream)
        return left.interval_join(right).between(lower, lower + width).process(Both())

    batches = cut(data, sizes)
    job = DurableJob(build, out_of_orderness=1_000)
    steps = zip([*batches, None], disturbances, strict=False)
    got = [out for batch, disturbance in steps for out in job.step(batch, 0, disturbance)]
    assert sorted(got) == sorted(expected(batches, lower, lower + width, 1_000)[0])
