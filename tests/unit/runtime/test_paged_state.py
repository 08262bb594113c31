"""Lists and maps in state are written in parts, and nothing of them is left behind."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.common import Time
from headrace.datastream import WindowFunction
from headrace.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows
from headrace.runtime import paged
from headrace.runtime.local_run import DictStore
from headrace.runtime.paged import PagedList, PagedMap
from headrace.runtime.state import Entries
from tests.unit.runtime.durable_jobs import DurableJob


class CountingStore(DictStore):
    written = 0

    def put(self, key: bytes, value: bytes) -> None:
        self.written += len(value)
        super().put(key, value)


def test_a_list_that_grows_over_many_batches_is_written_once() -> None:
    store = CountingStore()
    for batch in range(100):
        entries = Entries(store)
        content = entries.entry(b"owner").values.get("list") or PagedList()
        content.extend(range(batch * 1000, batch * 1000 + 1000))
        entries.set(entries.entry(b"owner"), "list", content)
        entries.flush()
    assert list(Entries(store).entry(b"owner").values.get("list")) == list(range(100_000))
    assert store.written < 2 * sum(map(len, store.entries.values()))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["append", "extend", "read", "flush", "replace", "clear"]),
            st.lists(st.integers(0, 9), max_size=7),
        ),
        max_size=30,
    )
)
def test_paged_lists_are_lists(steps: list[tuple[str, list[int]]]) -> None:
    store = DictStore()
    entries = Entries(store)
    model: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paged, "PAGE_LENGTH", 3)
        for what, values in steps:
            content = entries.entry(b"o").values.get("l")
            if what in ("append", "extend"):
                content = PagedList() if content is None else content
                content.extend(values)
                entries.set(entries.entry(b"o"), "l", content or None)
                model += values
            elif what == "replace":
                entries.set(entries.entry(b"o"), "l", PagedList(values) or None)
                model = list(values)
            elif what == "clear":
                entries.clear(entries.entry(b"o"))
                model = []
            elif what == "flush":
                entries.flush()
                entries = Entries(store)
            assert list(entries.entry(b"o").values.get("l") or ()) == model
        entries.set(entries.entry(b"o"), "l", None)
        entries.flush()
    assert not store.entries


class Numbers(WindowFunction[Any, Any, Any, Any]):
    def apply(self, key: Any, window: Any, inputs: Any) -> Any:
        return [[value[2] for value in inputs]]


def test_windows_of_many_elements_leave_no_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paged, "PAGE_LENGTH", 4)
    for assigner in (
        TumblingEventTimeWindows.of(Time.milliseconds(100)),
        EventTimeSessionWindows.with_gap(Time.milliseconds(100)),
    ):
        job = DurableJob(lambda s, a=assigner: s.key_by(lambda v: v[1]).window(a).apply(Numbers()))
        for batch in range(10):
            job.only(s0=[(batch, "a", batch * 3 + n) for n in range(3)])
            job.reopen()
        assert job.run.state_entries() > 7
        assert job.only(ended=True) == [list(range(30))]
        assert job.run.state_entries() == 0


def test_a_large_map_is_written_where_it_changes() -> None:
    store = CountingStore()
    entries = Entries(store)
    entries.set(entries.entry(b"owner"), "map", PagedMap({f"key {n}": n for n in range(50_000)}))
    entries.flush()
    whole, store.written = store.written, 0
    entries = Entries(store)
    content = entries.entry(b"owner").values.get("map")
    content["key 7"] = -7
    content["new"] = 1
    assert content["key 49999"] == 49_999
    entries.set(entries.entry(b"owner"), "map", content)
    entries.flush()
    assert store.written < whole / 50
    content = Entries(store).entry(b"owner").values.get("map")
    assert (content["key 7"], content["new"], len(content)) == (-7, 1, 50_001)


KEYS = st.one_of(
    st.integers(0, 12),
    st.sampled_from([1.0, 2.5, True, "a", "b", None, ("a", 1), frozenset("x"), frozenset("yz")]),
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["put", "put", "put", "remove", "flush", "replace", "clear"]),
            KEYS,
            st.integers(0, 9),
        ),
        max_size=60,
    )
)
def test_paged_maps_are_dicts(steps: list[tuple[str, Any, int]]) -> None:
    store = DictStore()
    entries = Entries(store)
    model: dict[Any, int] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paged, "PAGE_LENGTH", 2)
        for what, key, value in steps:
            content = entries.entry(b"o").values.get("m")
            content = PagedMap() if content is None else content
            assert (key in content, content.get(key)) == (key in model, model.get(key))
            if what == "put":
                content[key] = model[key] = value
            elif what == "remove":
                assert content.pop(key, None) == model.pop(key, None)
            elif what == "replace":
                content, model = PagedMap({key: value}), {key: value}
            elif what == "clear":
                content, model = PagedMap(), {}
            else:
                entries.flush()
                entries = Entries(store)
                content = entries.entry(b"o").values.get("m") or PagedMap()
            entries.set(entries.entry(b"o"), "m", content or None)
            assert dict(content) == model
            assert len(content) == len(model)
        entries.set(entries.entry(b"o"), "m", None)
        entries.flush()
    assert not store.entries


def test_what_is_kept_in_two_places_is_kept_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paged, "PAGE_LENGTH", 2)
    store = DictStore()
    entries = Entries(store)
    numbers = PagedList(range(5))
    entries.set(entries.entry(b"one"), "l", numbers)
    entries.flush()
    entries.set(entries.entry(b"two"), "l", entries.entry(b"one").values.get("l"))
    entries.set(entries.entry(b"one"), "l", None)
    entries.flush()
    assert list(Entries(store).entry(b"two").values.get("l")) == [0, 1, 2, 3, 4]
    assert Entries(store).entry(b"one").values.get("l") is None
