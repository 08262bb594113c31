"""Entries of state lie in pages: as many as needed, each read and written once a batch."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.runtime import entry_pages
from headrace.runtime.entry_pages import EntryPages, stored_entries
from headrace.runtime.local_run import DictStore


class CountingStore(DictStore):
    calls = 0

    def get(self, key: bytes) -> bytes | None:
        self.calls += 1
        return super().get(key)

    def put(self, key: bytes, value: bytes) -> None:
        self.calls += 1
        super().put(key, value)


def owner(number: int) -> bytes:
    return b"operator, key %d" % number


def kept(store: DictStore) -> dict[bytes, bytes]:
    return {k: v for key, value in store.entries.items() for k, v in stored_entries(key, value)}


def test_many_entries_take_few_calls_of_the_store() -> None:
    store = CountingStore()
    pages = EntryPages(store)
    for number in range(10_000):
        pages.put(owner(number), b"%d" % number)
    pages.flush()
    assert 20 <= len(store.entries) <= 64
    store.calls = 0
    pages = EntryPages(store)
    assert all(pages.get(owner(n)) == b"%d" % n for n in range(10_000))
    pages.flush()
    assert store.calls == len(store.entries)


def test_a_page_is_written_only_when_it_changed() -> None:
    store = CountingStore()
    pages = EntryPages(store)
    for number in range(10_000):
        pages.put(owner(number), b"before")
    pages.flush()
    store.calls = 0
    pages = EntryPages(store)
    pages.put(owner(7), b"before")
    pages.flush()
    assert store.calls <= 2
    pages.put(owner(7), b"after")
    pages.flush()
    assert store.calls <= 4  # the page and the first one, which has the figures


def test_pages_become_fewer_again() -> None:
    store = DictStore()
    pages = EntryPages(store)
    for number in range(10_000):
        pages.put(owner(number), b"x")
    pages.flush()
    pages = EntryPages(store)
    for number in range(10, 10_000):
        pages.remove(owner(number))
    pages.flush()
    assert len(store.entries) == 1
    assert kept(store) == {owner(number): b"x" for number in range(10)}


def test_large_entries_have_pages_of_their_own_soon() -> None:
    store = DictStore()
    pages = EntryPages(store)
    for number in range(200):
        pages.put(owner(number), bytes(20_000))
    pages.flush()
    assert max(map(len, store.entries.values())) < 20 * 20_000


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["put", "remove", "flush", "reopen"]),
            st.integers(0, 60),
            st.binary(max_size=40),
        ),
        max_size=80,
    )
)
def test_pages_are_a_dict(steps: list[tuple[str, int, bytes]]) -> None:
    store = DictStore()
    pages = EntryPages(store)
    model: dict[bytes, bytes] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entry_pages, "PAGE_ENTRIES", 4)
        patch.setattr(entry_pages, "PAGE_BYTES", 200)
        patch.setattr(entry_pages, "FEWEST", 1)
        for what, number, value in steps:
            if what == "put":
                pages.put(owner(number), value)
                model[owner(number)] = value
            elif what == "remove":
                pages.remove(owner(number))
                model.pop(owner(number), None)
            else:
                pages.flush()
                pages = EntryPages(store) if what == "reopen" else pages
                assert kept(store) == model
            assert all(pages.get(each) == model.get(each) for each in map(owner, range(61)))
        for each in model:
            pages.remove(each)
        pages.flush()
    assert not store.entries


def test_the_same_steps_give_the_same_bytes() -> None:
    stores = [DictStore(), DictStore()]
    for store in stores:
        pages = EntryPages(store)
        for number in range(2_000):
            pages.put(owner(number), pickle.dumps(number))
        pages.flush()
    assert stores[0].entries == stores[1].entries
