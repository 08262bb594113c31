"""The entries of a key group, many of them in each value of its store.

A call of Spark's state store is a round trip to the JVM, which takes as long as reading or writing
hundreds of entries. So entries lie in pages, found by a hash of their owner: a micro-batch reads a
page when it needs the first of its entries, and writes it once, at its end, if one has changed.
There are 2^n pages, as many as number and size of the entries ask for; the first one says so.
"""

from __future__ import annotations

import io
import pickle
import zlib
from collections.abc import Iterator
from typing import Protocol

#: A page is cut in two when pages hold more than that on average.
PAGE_ENTRIES = 512
PAGE_BYTES = 64 * 1024
#: Pages are put together when they hold less than this part of it.
SPARSE = 8
#: Fewer entries than that are not worth a page, whatever their size.
FEWEST = 8

_PREFIX = b"e"
#: Owner (`state.owner_bytes`) -> entry.
Page = dict[bytes, bytes]


class PageStore(Protocol):
    """The part of a `state.Store` that pages need."""

    def get(self, key: bytes) -> bytes | None: ...
    def put(self, key: bytes, value: bytes) -> None: ...
    def remove(self, key: bytes) -> None: ...


class EntryPages:
    """Of one key group in one micro-batch."""

    def __init__(self, store: PageStore) -> None:
        self._store = store
        self._pages: dict[int, Page] = {}
        self._changed: set[int] = set()
        #: Pages that the store has.
        self._kept: set[int] = set()
        stored = store.get(_address(0))
        self._count, self._entries, self._size = 1, 0, 0
        if stored is not None:
            self._count, self._entries, self._size, self._pages[0] = pickle.loads(stored)
            self._kept.add(0)
        else:
            self._pages[0] = {}

    def get(self, owner: bytes) -> bytes | None:
        return self._page(self._number(owner)).get(owner)

    def put(self, owner: bytes, entry: bytes) -> None:
        number = self._number(owner)
        page = self._page(number)
        before = page.get(owner)
        if before is None:
            self._entries += 1
            self._size += len(owner) + len(entry)
        elif before == entry:
            return
        else:
            self._size += len(entry) - len(before)
        page[owner] = entry
        self._changed.add(number)

    def remove(self, owner: bytes) -> None:
        number = self._number(owner)
        before = self._page(number).pop(owner, None)
        if before is not None:
            self._entries -= 1
            self._size -= len(owner) + len(before)
            self._changed.add(number)

    def flush(self) -> None:
        if not self._changed:
            return
        self._fit()
        self._changed.add(0)  # which has the figures
        for number in sorted(self._changed):
            page = self._pages[number]
            if page or (number == 0 and self._entries):
                figures = (self._count, self._entries, self._size)
                self._store.put(_address(number), _packed(page if number else (*figures, page)))
                self._kept.add(number)
            elif number in self._kept:
                self._store.remove(_address(number))
                self._kept.discard(number)
        self._changed.clear()

    def _fit(self) -> None:
        """To the number of pages that the entries ask for."""
        count = self._count
        while self._entries >= FEWEST * count * 2 and self._fill(count) > 1:
            count *= 2
        while count > 1 and self._fill(count) < 1 / SPARSE:
            count //= 2
        if count != self._count:
            self._cut(count)

    def _fill(self, count: int) -> float:
        return max(self._entries / PAGE_ENTRIES, self._size / PAGE_BYTES) / count

    def _cut(self, count: int) -> None:
        before = [self._page(number) for number in range(self._count)]
        self._changed.update(range(max(count, self._count)))
        self._pages = {number: {} for number in range(max(count, self._count))}
        self._count = count
        for page in before:
            for owner, entry in page.items():
                self._pages[self._number(owner)][owner] = entry

    def _number(self, owner: bytes) -> int:
        return zlib.crc32(owner) & (self._count - 1) if self._count > 1 else 0

    def _page(self, number: int) -> Page:
        page = self._pages.get(number)
        if page is None:
            stored = self._store.get(_address(number))
            if stored is not None:
                self._kept.add(number)
            page = self._pages[number] = {} if stored is None else pickle.loads(stored)
        return page


def stored_entries(key: bytes, value: bytes) -> Iterator[tuple[bytes, bytes]]:
    """(owner, entry) of what a store has under a key; nothing where it is no page of entries."""
    if key.startswith(_PREFIX):
        page: Page = pickle.loads(value)[3] if key == _address(0) else pickle.loads(value)
        yield from page.items()


def _address(number: int) -> bytes:
    return b"%b%d" % (_PREFIX, number)


def _packed(content: object) -> bytes:
    """Without the memo, which plain values of which none is there twice have no use for."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, 5)
    pickler.fast = True
    pickler.dump(content)
    return buffer.getvalue()
