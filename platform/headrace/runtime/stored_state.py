"""What is in the entries of a key group, for those who read state offline.

The inverse of how `state`, `keys` and `timers` address what they keep.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import pyarrow as pa

from headrace.runtime import bound_state, decoded_keys, timers, ttl
from headrace.runtime.entry_pages import stored_entries
from headrace.runtime.frames import loads
from headrace.runtime.operators import tumbling, window
from headrace.runtime.paged import PagedMap
from headrace.runtime.state import Entries

Span = tuple[int | None, int | None]


class Group:
    """The entries of one key group, as a store that is only read."""

    def __init__(self) -> None:
        self.entries: dict[bytes, bytes] = {}

    def head(self) -> bytes | None:
        return None

    def get(self, key: bytes) -> bytes | None:
        return self.entries.get(key)

    def set_head(self, value: bytes) -> None:
        raise NotImplementedError("state is read offline, not written")

    def put(self, key: bytes, value: bytes) -> None:
        raise NotImplementedError("state is read offline, not written")

    def remove(self, key: bytes) -> None:
        raise NotImplementedError("state is read offline, not written")

    def owners(self) -> Iterator[tuple[Owner, bytes]]:
        """Each with its states as they are stored."""
        for key, value in self.entries.items():
            for address, stored in stored_entries(key, value):
                yield Owner.of(address), stored

    def of(self, uid: str) -> list[Owner]:
        return [owner for owner, _ in self.owners() if owner.uid == uid]

    @cached_property
    def _states(self) -> Entries:
        return Entries(self)

    def read(self, owner: Owner, name: str) -> Any:
        """Without times to live; None: there is none."""
        return ttl.plain(self._states.entry(owner.address).values.get(name))

    def timers(self) -> Iterator[tuple[str, int, timers.Owner]]:
        """(domain, timestamp, owner)."""
        domains = {timers.EVENT_TIME: "EVENT_TIME", timers.PROCESSING_TIME: "PROCESSING_TIME"}
        for entry, page in self.entries.items():
            domain = domains.get(entry[:1])
            if domain is not None:
                for timestamp, owners in loads(page).items():
                    for owner in owners.values():
                        yield domain, timestamp, owner


@dataclass(frozen=True)
class Owner:
    """Who an entry belongs to. `namespace` is None, the (start, end) of a window of time, or what
    tells another one; `keyed` is whether it belongs to a key at all."""

    address: bytes
    uid: str
    key: Any = None
    namespace: Any = None
    keyed: bool = True

    @classmethod
    def of(cls, address: bytes) -> Owner:
        parts = decoded_keys.parts(address[1:])
        if len(parts) == 2:  # ("group", uid)
            return cls(address, decoded_keys.decode(parts[1]), keyed=False)
        uid, key, where = map(decoded_keys.decode, parts)
        return cls(address, uid, decoded_keys.decode(key), decoded_keys.decode(where))


def groups(batches: Iterable[pa.RecordBatch]) -> Iterator[Group]:
    """Of rows (kg, entry, value) that are in order of their key groups."""
    number, group = None, Group()
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in ("kg", "entry", "value"))
        for kg, entry, value in zip(*columns, strict=True):
            if kg != number and number is not None:
                yield group
                group = Group()
            number = kg
            group.entries[entry] = value
    yield group


class Reading(Protocol):
    """What is wanted of a key group."""

    def rows(self, group: Group) -> Iterable[tuple[Any, ...]]: ...


@dataclass(frozen=True)
class Names:
    """(uid, name, kind) for each key and window."""

    def rows(self, group: Group) -> Iterator[tuple[Any, ...]]:
        for owner, stored in group.owners():
            states: Mapping[str, Any] = loads(stored)
            for name, value in states.items():
                yield owner.uid, *_named(name, value)
        for _, _, (uid, _, _) in group.timers():
            yield uid, "timers", "timers"


@dataclass(frozen=True)
class Keyed:
    """(key, value)."""

    uid: str
    name: str

    def rows(self, group: Group) -> Iterator[tuple[Any, ...]]:
        for owner in group.of(self.uid):
            if owner.keyed and owner.namespace is None:
                value = group.read(owner, bound_state.USER + self.name)
                if value is not None:
                    yield owner.key, _plain(value)


@dataclass(frozen=True)
class Broadcast:
    """(key, value) of the entries."""

    uid: str
    name: str

    def rows(self, group: Group) -> Iterator[tuple[Any, ...]]:
        for owner in group.of(self.uid):
            if not owner.keyed:
                yield from (group.read(owner, bound_state.BROADCAST + self.name) or {}).items()


@dataclass(frozen=True)
class Windows:
    """(key, start, end, content)."""

    uid: str

    def rows(self, group: Group) -> Iterator[tuple[Any, ...]]:
        owners = [owner for owner in group.of(self.uid) if owner.keyed]
        merged: defaultdict[Any, dict[Any, Any]] = defaultdict(dict)
        for owner in owners:
            mapping = group.read(owner, window.MERGING) if owner.namespace is None else None
            for result, kept_under in (mapping or {}).items():
                merged[_same(owner.key)][kept_under.start, kept_under.end] = result
        for owner in owners:
            content = group.read(owner, tumbling.CONTENT)
            if content is not None:
                result = merged[_same(owner.key)].get(owner.namespace)
                span = _span(owner.namespace) if result is None else (result.start, result.end)
                yield owner.key, *span, _plain(content)


@dataclass(frozen=True)
class WaitingTimers:
    """(key, time, domain, start, end)."""

    uid: str

    def rows(self, group: Group) -> Iterator[tuple[Any, ...]]:
        for domain, timestamp, (uid, key, namespace) in group.timers():
            if uid == self.uid:
                span = getattr(namespace, "start", None), getattr(namespace, "end", None)
                yield key, timestamp, domain, *span


def _named(name: str, value: Any) -> tuple[str, str]:
    if name.startswith(bound_state.BROADCAST):
        return name.removeprefix(bound_state.BROADCAST), "broadcast"
    if name.startswith(bound_state.USER):
        return name.removeprefix(bound_state.USER), _kind(value)
    return name, "window" if name == tumbling.CONTENT else "internal"


def _kind(value: Any) -> str:
    if isinstance(value, dict | PagedMap):
        return "map"
    is_list = isinstance(value, list | ttl.StampedList) or type(value).__name__ == "PagedList"
    return "list" if is_list else "value"


def _plain(value: Any) -> Any:
    if isinstance(value, PagedMap):
        return dict(value)
    return list(value) if type(value).__name__ == "PagedList" else value


def _span(namespace: Any) -> Span:
    is_span = isinstance(namespace, tuple) and len(namespace) == 2 and isinstance(namespace[0], int)
    return (namespace[0], namespace[1]) if is_span else (None, None)


def _same(key: Any) -> bytes:
    """Something to find a key by that may not be hashable."""
    return pickle.dumps(key)
