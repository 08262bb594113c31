"""Records travel in frames as what they were."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.common import Row
from headrace.runtime import frames
from headrace.runtime.frames import FrameWriter, Record
from headrace.runtime.keys import key_group

ATOMS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary()
)
VALUES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(), inner, max_size=3),
    ),
    max_leaves=5,
)
RECORDS = st.lists(
    st.tuples(st.one_of(st.none(), st.integers()), VALUES, VALUES), min_size=1, max_size=8
)


def shape(value: Any) -> Any:
    """Tells 1, 1.0 and True apart, deeply."""
    inner = list(map(shape, value)) if isinstance(value, list | tuple) else repr(value)
    return type(value).__name__, inner


@settings(max_examples=200, deadline=None, derandomize=True)
@given(RECORDS)
def test_records_are_the_same_behind_a_frame(records: list[Record]) -> None:
    assert shape(list(frames.unpack(frames.pack(records)))) == shape(records)


@pytest.mark.parametrize("value", [Row(a=1, b="x"), date(2026, 1, 31), {1}, bytearray(b"b")])
def test_other_objects_travel_too(value: Any) -> None:
    assert list(frames.unpack(frames.pack([(1, "k", value)]))) == [(1, "k", value)]


def test_a_value_that_has_itself_in_it_travels() -> None:
    value: list[Any] = [1]
    value.append(value)
    [(_, _, found)] = frames.unpack(frames.pack([(1, "k", value)]))
    assert found[1] is found


def test_every_record_is_in_the_frame_of_its_keys_group_in_order() -> None:
    writer = FrameWriter("S1/0", 16)
    keys: list[Any] = ["a", 1, True, 1.0, "a", (1, "a"), (True, "a"), None, 1, "b"]
    writer.keyed(7, 0, lambda value: value[1], [(n, (n, key)) for n, key in enumerate(keys)])
    found: dict[int, list[Any]] = {}
    for frame in writer.frames():
        found[frame.kg] = [(type(key), value[0]) for _, key, value in frames.unpack(frame.frame)]
    for number, key in enumerate(keys):
        assert (type(key), number) in found[key_group(key, 16)]
    assert all(part == sorted(part, key=lambda each: each[1]) for part in found.values())
    assert list(writer.frames()) == []


@pytest.mark.parametrize("value", ["s", (1, "a"), (1, (2, 3))])
def test_what_cannot_change_is_not_copied(value: Any) -> None:
    assert frames.detached(value) is value


@pytest.mark.parametrize("value", [[1, "a"], [[1], 2], ([1],), {"a": [1]}, Row([1])])
def test_what_can_change_is_copied_deeply(value: Any) -> None:
    found = frames.detached(value)
    assert found == value
    assert found is not value
    inner = next(iter(value.values() if isinstance(value, dict) else value))
    if isinstance(inner, list):
        copied = next(iter(found.values() if isinstance(found, dict) else found))
        assert copied is not inner
