"""What state is addressed by can be read back."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.common import Row, Time, Types
from headrace.datastream import DataStream, KeyedProcessFunction, RuntimeContext
from headrace.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from headrace.datastream.window import EventTimeSessionWindows
from headrace.runtime import decoded_keys, keys, stored_state
from headrace.runtime.stored_state import Group
from headrace.testing import JobHarness

ATOMS = st.one_of(
    st.text(), st.integers(), st.binary(), st.none(), st.booleans(), st.floats(allow_nan=False)
)
KEYS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(), inner, max_size=3),
        st.lists(inner, min_size=1, max_size=3).map(lambda values: Row(*values)),
        st.frozensets(st.integers(), max_size=3),
    ),
    max_leaves=6,
)


@settings(derandomize=True, deadline=None)
@given(KEYS)
def test_keys_are_read_back_from_their_bytes(key: Any) -> None:
    decoded = decoded_keys.decode(keys.encode(key))
    assert decoded == key
    assert type(decoded) is type(key)


class Colour(Enum):
    RED = 1


def test_a_member_of_an_enumeration_is_text() -> None:
    assert decoded_keys.decode(keys.encode(Colour.RED)) == "Colour.RED"
    with pytest.raises(ValueError, match="no key's bytes"):
        decoded_keys.decode(b"?")


class Remembers(KeyedProcessFunction):
    """One state of each kind, and timers."""

    def open(self, runtime_context: RuntimeContext) -> None:
        last = ValueStateDescriptor("last", Types.STRING())
        last.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
        self.last = runtime_context.get_state(last)
        self.all = runtime_context.get_list_state(ListStateDescriptor("all", Types.STRING()))
        self.lengths = runtime_context.get_map_state(
            MapStateDescriptor("lengths", Types.STRING(), Types.INT())
        )

    def process_element(self, value: str, ctx: KeyedProcessFunction.Context) -> None:
        self.last.update(value)
        self.all.add_all([value] * 700)  # more than a page, after two
        self.lengths.put(value, len(value))
        ctx.timer_service().register_event_time_timer(100)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[str]:
        yield from ()


def stored(build: Any, *values: tuple[Any, int]) -> list[Group]:
    """The key groups of a job's state after these (value, timestamp)."""
    with JobHarness() as job:
        source = job.source("words")
        job.collect(build(source.stream))
        for value, timestamp in values:
            source.push(value, timestamp=timestamp)
        found = []
        for _, entries in job.snapshot().stores.values():
            group = Group()
            group.entries = entries
            found.append(group)
        return found


def read(groups: list[Group], reading: stored_state.Reading) -> list[tuple[Any, ...]]:
    return sorted(row for group in groups for row in reading.rows(group))


def remembering(stream: DataStream) -> DataStream:
    return stream.key_by(lambda word: word[0]).process(Remembers()).uid("words")


def test_states_of_all_kinds_are_read() -> None:
    groups = stored(remembering, ("ab", 1), ("abc", 2), ("x", 3))
    assert read(groups, stored_state.Keyed("words", "last")) == [("a", "abc"), ("x", "x")]
    [(_, some), _] = read(groups, stored_state.Keyed("words", "all"))
    assert some == ["ab"] * 700 + ["abc"] * 700
    lengths = read(groups, stored_state.Keyed("words", "lengths"))
    assert lengths == [("a", {"ab": 2, "abc": 3}), ("x", {"x": 1})]
    assert read(groups, stored_state.Keyed("words", "other")) == []
    assert read(groups, stored_state.Keyed("others", "last")) == []
    timers = read(groups, stored_state.WaitingTimers("words"))
    assert timers == [(key, 100, "EVENT_TIME", None, None) for key in ("a", "x")]
    names = {("words", n, k) for n, k in (("last", "value"), ("all", "list"), ("lengths", "map"))}
    assert set(read(groups, stored_state.Names())) == names | {("words", "timers", "timers")}


def test_windows_that_merged_have_the_span_of_the_result() -> None:
    def sessions(stream: DataStream) -> DataStream:
        windows = stream.key_by(lambda word: word[0])
        gap = windows.window(EventTimeSessionWindows.with_gap(Time.milliseconds(10)))
        return gap.reduce(lambda a, b: a + b).uid("sessions")

    groups = stored(sessions, ("a", 5), ("a", 20), ("a", 12), ("b", 50))
    found = read(groups, stored_state.Windows("sessions"))
    assert found == [("a", 5, 30, "aaa"), ("b", 50, 60, "b")]
