"""A list in state that grows: what is full is written once, in pages of its own.

Without pages, a window that collects its elements over many micro-batches would be read and
written as a whole in each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from headrace.runtime import keys
from headrace.runtime.frames import dumps, loads

PAGE_LENGTH = 1000


class PageStore(Protocol):
    """The part of a `state.Store` that pages need."""

    def get(self, key: bytes) -> bytes | None: ...
    def put(self, key: bytes, value: bytes) -> None: ...
    def remove(self, key: bytes) -> None: ...


class PagedList:
    """Behaves as a list that can be appended to and iterated over. `attach` binds it to where it
    is kept, before which it has no pages; pickled, it is its number of pages and the rest."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        self._pages = 0
        self._rest = list(values)
        self._forget()

    def __getstate__(self) -> tuple[int, list[Any]]:
        return self._pages, self._rest

    def __setstate__(self, state: tuple[int, list[Any]]) -> None:
        self._pages, self._rest = state
        self._forget()

    def _forget(self) -> None:
        self._store: PageStore | None = None
        self._address = b""
        #: What the pages hold, once it was read.
        self._read: list[Any] | None = None

    def attach(self, store: PageStore, address: bytes) -> None:
        self._store, self._address = store, address

    def append(self, value: Any) -> None:
        self._rest.append(value)

    def extend(self, values: Iterable[Any]) -> None:
        self._rest.extend(values)

    def __bool__(self) -> bool:
        return bool(self._pages or self._rest)

    def __iter__(self) -> Iterator[Any]:
        if not self._pages:
            return iter(list(self._rest))
        if self._read is None:
            self._read = [value for number in range(self._pages) for value in self._page(number)]
        return iter(self._read + self._rest)

    def write_pages(self) -> None:
        """Before it is pickled: full pages go to the store."""
        while len(self._rest) >= PAGE_LENGTH:
            assert self._store is not None
            full, self._rest = self._rest[:PAGE_LENGTH], self._rest[PAGE_LENGTH:]
            self._store.put(self._where(self._pages), dumps(full))
            self._pages += 1
            if self._read is not None or self._pages == 1:
                self._read = [*(self._read or ()), *full]

    def drop(self) -> None:
        """It is not kept any more."""
        for number in range(self._pages):
            assert self._store is not None
            self._store.remove(self._where(number))
        self._pages = 0
        self._rest = []
        self._read = None

    def _page(self, number: int) -> list[Any]:
        assert self._store is not None
        stored = self._store.get(self._where(number))
        assert stored is not None, "a page of a list in state is missing"
        page: list[Any] = loads(stored)
        return page

    def _where(self, number: int) -> bytes:
        return b"l" + keys.encode((self._address, number))
