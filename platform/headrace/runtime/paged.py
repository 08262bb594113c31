"""Large lists and maps in state: what does not change is not written again.

A list is written in pages when they are full, a map in buckets of which only those are read and
written that are touched. Without, a window that collects its elements over many micro-batches, or
a set of all that was ever seen, would be read and written as a whole in each of them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any, Protocol, Self

from headrace.runtime import keys
from headrace.runtime.frames import dumps, loads

#: Elements of a page, and of a bucket on average at most.
PAGE_LENGTH = 1000


class PageStore(Protocol):
    """The part of a `state.Store` that pages need."""

    def get(self, key: bytes) -> bytes | None: ...
    def put(self, key: bytes, value: bytes) -> None: ...
    def remove(self, key: bytes) -> None: ...


class Paged:
    """A value in state that has pages of its own. Before `attached` binds it to where it is kept
    it has none; its pickled form is what is not in pages."""

    _store: PageStore | None = None
    _address = b""

    def attached(self, store: PageStore, address: bytes) -> Self:
        """Kept there from now on: itself, or a copy if it is kept elsewhere already."""
        value = self if self._store is None else self.copy()
        value._store, value._address = store, address
        return value

    def copy(self) -> Self:
        """The same content, kept nowhere."""
        raise NotImplementedError

    def write_pages(self) -> None:
        """Called before it is pickled."""
        raise NotImplementedError

    def drop(self) -> None:
        """It is not kept any more."""
        raise NotImplementedError

    def _load(self, number: int) -> Any:
        assert self._store is not None
        stored = self._store.get(self._where(number))
        return None if stored is None else loads(stored)

    def _save(self, number: int, content: Any) -> None:
        assert self._store is not None
        if content:
            self._store.put(self._where(number), dumps(content))
        else:
            self._store.remove(self._where(number))

    def _where(self, number: int) -> bytes:
        return b"l" + keys.encode((self._address, number))


class PagedList(Paged):
    """Behaves as a list that can be appended to and iterated over."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        self.__setstate__((0, list(values)))

    def __getstate__(self) -> tuple[int, list[Any]]:
        return self._pages, self._rest

    def __setstate__(self, state: tuple[int, list[Any]]) -> None:
        self._pages, self._rest = state
        #: What the pages hold, once it was read.
        self._read: list[Any] | None = None if self._pages else []

    def copy(self) -> Self:
        return type(self)(self)

    def append(self, value: Any) -> None:
        self._rest.append(value)

    def extend(self, values: Iterable[Any]) -> None:
        self._rest.extend(values)

    def __len__(self) -> int:
        return self._pages * PAGE_LENGTH + len(self._rest)

    def __iter__(self) -> Iterator[Any]:
        if self._read is None:
            self._read = [value for number in range(self._pages) for value in self._load(number)]
        return iter(self._read + self._rest)

    def write_pages(self) -> None:
        while len(self._rest) >= PAGE_LENGTH:
            full, self._rest = self._rest[:PAGE_LENGTH], self._rest[PAGE_LENGTH:]
            self._save(self._pages, full)
            self._pages += 1
            if self._read is not None:
                self._read += full

    def drop(self) -> None:
        for number in range(self._pages):
            self._save(number, None)
        self.__setstate__((0, []))


class PagedMap(Paged, MutableMapping[Any, Any]):
    """A dict. Its order is that of insertion while it is small, and the same in every process."""

    def __init__(self, content: Mapping[Any, Any] | None = None) -> None:
        self.__setstate__((0, 0, {}))
        self.update(content or {})

    def __getstate__(self) -> tuple[int, int, dict[Any, Any]]:
        small = self._buckets[0] if self._count == 0 else {}
        return self._size, self._count, small

    def __setstate__(self, state: tuple[int, int, dict[Any, Any]]) -> None:
        """`_count`: of buckets in pages; 0 while all is in one that is not."""
        self._size, self._count, small = state
        self._buckets: dict[int, dict[Any, Any]] = {} if self._count else {0: small}
        self._dirty: set[int] = set()

    def copy(self) -> Self:
        return type(self)(self)

    def __getitem__(self, key: Any) -> Any:
        return self._bucket(self._number(key))[key]

    def __contains__(self, key: Any) -> bool:
        return key in self._bucket(self._number(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        number = self._number(key)
        bucket = self._bucket(number)
        if key not in bucket:
            self._size += 1
        bucket[key] = value
        self._dirty.add(number)

    def __delitem__(self, key: Any) -> None:
        number = self._number(key)
        del self._bucket(number)[key]
        self._size -= 1
        self._dirty.add(number)

    def __iter__(self) -> Iterator[Any]:
        for number in range(max(1, self._count)):
            yield from list(self._bucket(number))

    def __len__(self) -> int:
        return self._size

    def write_pages(self) -> None:
        if self._size > PAGE_LENGTH * max(1, self._count):
            self._grow()
        if self._count:
            for number in sorted(self._dirty):
                self._save(number, self._bucket(number))
        self._dirty.clear()

    def drop(self) -> None:
        for number in range(self._count):
            self._save(number, None)
        self.__setstate__((0, 0, {}))

    def _grow(self) -> None:
        """To four times as many buckets as are needed now, so that it happens rarely."""
        content = dict(self)
        self._count = 4 * -(-self._size // PAGE_LENGTH)
        self._buckets = {number: {} for number in range(self._count)}
        for key, value in content.items():
            self._buckets[self._number(key)][key] = value
        self._dirty = set(range(self._count))

    def _bucket(self, number: int) -> dict[Any, Any]:
        bucket = self._buckets.get(number)
        if bucket is None:
            bucket = self._buckets[number] = self._load(number) or {}
        return bucket

    def _number(self, key: Any) -> int:
        return _hash(key) % self._count if self._count else 0


def grown(content: Any) -> Any:
    """The list or dict itself, as the many are in state that are small, or else in pages."""
    if len(content) < PAGE_LENGTH:
        return content
    if isinstance(content, list):
        return PagedList(content)
    return PagedMap(content) if isinstance(content, dict) else content


def _hash(key: Any) -> int:
    """The same in every process, and for keys that are equal."""
    if isinstance(key, int | float):  # of different types, and equal; their hash has no seed
        return hash(key) if key == key else 0
    try:
        return zlib.crc32(keys.encode(key))
    except TypeError:
        return 0  # a key that has no bytes of its own, as a frozenset: all in one bucket
