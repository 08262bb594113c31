"""Window joins and coGroup against a slow model, over random orders and cuts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.common import Time, Types
from headrace.datastream import (
    CoGroupFunction,
    DataStream,
    FlatJoinFunction,
    JoinFunction,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from headrace.datastream.window import EventTimeSessionWindows
from headrace.runtime.operators.operator import OperatorError
from headrace.runtime.transformations import GraphError
from tests.unit.runtime.durable_jobs import DISTURBANCES, DurableJob
from tests.unit.runtime.local_jobs import LocalJob
from tests.unit.runtime.test_interval_joins import Value, cut, values

ASSIGNERS = {
    "tumbling": TumblingEventTimeWindows.of(Time.milliseconds(10)),
    "sliding": SlidingEventTimeWindows.of(Time.milliseconds(15), Time.milliseconds(5)),
    "sessions": EventTimeSessionWindows.with_gap(Time.milliseconds(4)),
}


def left(stream: DataStream) -> DataStream:
    return stream.filter(lambda v: v[1] == "l")


def right(stream: DataStream) -> DataStream:
    return stream.filter(lambda v: v[1] == "r")


class Groups(CoGroupFunction):
    def co_group(self, first: list[Value], second: list[Value]) -> Iterable[Any]:
        yield sorted(v[3] for v in first), sorted(v[3] for v in second)


def windows_of(kind: str, times: list[int]) -> list[tuple[int, int]]:
    """All windows (start, end) that the values of a key are in."""
    if kind == "tumbling":
        return sorted({(t // 10 * 10, t // 10 * 10 + 10) for t in times})
    if kind == "sliding":
        starts = {s for t in times for s in range(-15, 200, 5) if s <= t < s + 15}
        return [(start, start + 15) for start in sorted(starts)]
    sessions: list[tuple[int, int]] = []
    for time in sorted(times):
        if sessions and time <= sessions[-1][1]:
            sessions[-1] = (sessions[-1][0], time + 4)
        else:
            sessions.append((time, time + 4))
    return sessions


def groups_of(kind: str, data: list[Value]) -> list[tuple[list[int], list[int]]]:
    found = []
    for key in sorted({v[2] for v in data}):
        mine = [v for v in data if v[2] == key]
        for start, end in windows_of(kind, [v[0] for v in mine]):
            within = [v for v in mine if start <= v[0] < end]
            sides = {side: sorted(v[3] for v in within if v[1] == side) for side in "lr"}
            found.append((sides["l"], sides["r"]))
    return sorted(found)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(values, st.lists(st.integers(0, 8), max_size=6), st.sampled_from(sorted(ASSIGNERS)))
def test_co_group_gives_the_windows_of_the_model(
    data: list[Any], sizes: list[int], kind: str
) -> None:
    def build(stream: DataStream) -> DataStream:
        both = left(stream).co_group(right(stream)).where(lambda v: v[2]).equal_to(2)
        return both.window(ASSIGNERS[kind]).apply(Groups())

    batches = cut(data, sizes)
    job = LocalJob(build, out_of_orderness=1_000)  # nothing is late
    got = [out for batch in batches for out in job.only(s0=batch)]
    got += job.only(ended=True)
    assert sorted(got) == groups_of(kind, [v for batch in batches for v in batch])
    assert job.run.state_entries() == 0


@settings(derandomize=True, deadline=None, max_examples=100)
@given(values, st.lists(st.integers(0, 8), max_size=6), st.sampled_from(sorted(ASSIGNERS)))
def test_a_window_join_gives_the_pairs_of_the_model(
    data: list[Any], sizes: list[int], kind: str
) -> None:
    def build(stream: DataStream) -> DataStream:
        both = left(stream).join(right(stream)).where(lambda v: v[2]).equal_to(2)
        return both.window(ASSIGNERS[kind]).apply(lambda one, two: (one[3], two[3]))

    batches = cut(data, sizes)
    job = LocalJob(build, out_of_orderness=1_000)
    got = [out for batch in batches for out in job.only(s0=batch)]
    got += job.only(ended=True)
    groups = groups_of(kind, [v for batch in batches for v in batch])
    assert sorted(got) == sorted((one, two) for ls, rs in groups for one in ls for two in rs)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(values, st.lists(st.integers(0, 8), max_size=6), st.integers(0, 20))
def test_late_values_are_not_joined(data: list[Any], sizes: list[int], delay: int) -> None:
    """Tumbling: a value is late when the watermark of the batches before is past its window."""

    def build(stream: DataStream) -> DataStream:
        both = left(stream).co_group(right(stream)).where(2).equal_to(2)
        return both.window(ASSIGNERS["tumbling"]).apply(Groups())

    batches = cut(data, sizes)
    on_time: list[Value] = []
    newest = -1_000
    for batch in batches:
        on_time += [v for v in batch if v[0] // 10 * 10 + 9 > newest - delay - 1]
        newest = max([newest, *(v[0] for v in batch)])
    job = LocalJob(build, out_of_orderness=delay)
    got = [out for batch in batches for out in job.only(s0=batch)]
    got += job.only(ended=True)
    assert sorted(got) == groups_of("tumbling", on_time)


def test_allowed_lateness_fires_a_join_again() -> None:
    def build(stream: DataStream) -> DataStream:
        both = left(stream).join(right(stream)).where(2).equal_to(2)
        late = both.window(ASSIGNERS["tumbling"]).allowed_lateness(50)
        return late.apply(lambda one, two: (one[3], two[3]))

    job = LocalJob(build)
    assert job.only(s0=[(1, "l", "a", 1), (2, "r", "a", 2), (30, "l", "b", 3)]) == [(1, 2)]
    assert job.only(s0=[(3, "r", "a", 4)]) == [(1, 2), (1, 4)]
    assert job.only(s0=[(99, "l", "b", 5)]) == []
    assert job.only(s0=[(3, "r", "a", 6)]) == []


class Sum(JoinFunction):
    def join(self, first: Value, second: Value) -> Any:
        return first[3] + second[3]


class Odd(FlatJoinFunction):
    def join(self, first: Value, second: Value) -> Iterable[Any] | None:
        return [first[3], second[3]] if first[3] % 2 else None


def test_join_functions_give_one_output_or_any_number() -> None:
    def build(stream: DataStream) -> list[DataStream]:
        both = left(stream).join(right(stream)).where(2).equal_to(2).window(ASSIGNERS["tumbling"])
        return [both.apply(Sum()), both.apply(Odd())]

    job = LocalJob(build)
    job.batch(s0=[(1, "l", "a", 1), (2, "l", "a", 2), (3, "r", "a", 10)])
    assert job.batch(ended=True) == [[11, 12], [1, 10]]


def test_both_keys_have_to_be_said() -> None:
    with pytest.raises(GraphError, match=r"where\(\) and equal_to\(\) say both keys"):
        LocalJob(lambda s: left(s).join(right(s)).where(2).window(ASSIGNERS["tumbling"]))  # type: ignore[arg-type,return-value]
    with pytest.raises(GraphError, match="before equal_to"):
        LocalJob(lambda s: left(s).join(right(s)).equal_to(2))  # type: ignore[arg-type,return-value]


def test_a_declared_type_is_checked_and_late_values_are_counted() -> None:
    def build(stream: DataStream) -> DataStream:
        both = left(stream).join(right(stream)).where(2).equal_to(2).window(ASSIGNERS["tumbling"])
        return both.apply(lambda one, two: one[3] + two[3], Types.INT())

    job = LocalJob(build)
    assert job.only(s0=[(1, "l", "a", 1), (2, "r", "a", 2), (30, "r", "a", 1)]) == [3]
    assert job.only(s0=[(1, "l", "a", 1)]) == []
    assert job.run.metrics.counters == {"numLateRecordsDropped": 1}
    job.only(s0=[(41, "l", "a", "x"), (41, "r", "a", "y")])
    with pytest.raises(OperatorError, match="operator 'Window Join' failed on 'xy'"):
        job.only(ended=True)


def test_event_time_without_timestamps_is_refused_with_its_line() -> None:
    def build(stream: DataStream) -> DataStream:
        both = left(stream).co_group(right(stream)).where(2).equal_to(2)
        return both.window(ASSIGNERS["tumbling"]).apply(Groups())

    with pytest.raises(GraphError, match=r"'CoGroup' is in event time.*test_window_joins.py:\d"):
        LocalJob(build, out_of_orderness=None)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    values,
    st.lists(st.integers(0, 8), max_size=6),
    st.sampled_from(sorted(ASSIGNERS)),
    DISTURBANCES,
)
def test_crashes_and_restarts_do_not_show_in_joins(
    data: list[Any], sizes: list[int], kind: str, disturbances: list[str]
) -> None:
    def build(stream: DataStream) -> DataStream:
        both = left(stream).co_group(right(stream)).where(lambda v: v[2]).equal_to(2)
        return both.window(ASSIGNERS[kind]).apply(Groups())

    batches = cut(data, sizes)
    job = DurableJob(build, out_of_orderness=1_000)
    steps = zip([*batches, None], disturbances, strict=False)
    got = [out for batch, disturbance in steps for out in job.step(batch, 0, disturbance)]
    assert sorted(got) == groups_of(kind, [v for batch in batches for v in batch])
