"""Keyed state: entries of (operator, key, namespace) in a store.

Within a micro-batch entries live in a write-back cache, so a key touched a thousand times costs
one read and one write of the store.
"""

from __future__ import annotations

from typing import Any, Protocol

from headrace.datastream.windowing.windows import TimeWindow, Window
from headrace.runtime import keys
from headrace.runtime.entry_pages import EntryPages
from headrace.runtime.frames import dumps, loads
from headrace.runtime.paged import Paged
from headrace.runtime.ttl import Stamped


class Store(Protocol):
    """The state of one key group, as Spark's state store or a dict holds it."""

    def head(self) -> bytes | None:
        """What the host keeps for itself: watermarks and the index of timers."""

    def set_head(self, value: bytes) -> None: ...
    def get(self, key: bytes) -> bytes | None: ...
    def put(self, key: bytes, value: bytes) -> None: ...
    def remove(self, key: bytes) -> None: ...


class Entry:
    """What an owner (`owner_bytes`) has: state name -> value."""

    __slots__ = ("changed", "owner", "values")

    def __init__(self, owner: bytes, values: dict[str, Any]) -> None:
        self.owner = owner
        self.values = values
        self.changed = False


class Entries:
    """The entries of one key group in a micro-batch."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pages = EntryPages(store)
        self._entries: dict[bytes, Entry] = {}
        self._changed: list[Entry] = []

    def entry(self, owner: bytes) -> Entry:
        """Always the same object for the same owner; an empty one where there is none."""
        entry = self._entries.get(owner)
        if entry is None:
            stored = self._pages.get(owner)
            values = {} if stored is None else loads(stored)
            entry = self._entries[owner] = Entry(owner, values)
            for name, value in values.items():
                if isinstance(value, Paged):
                    value.attached(self._store, _page_address(owner, name))
        return entry

    def set(self, entry: Entry, name: str, value: Any) -> None:
        """None removes."""
        values = entry.values
        before = values.get(name)
        if before is not value:
            if isinstance(value, Paged):
                value = value.attached(self._store, _page_address(entry.owner, name))
            if isinstance(before, Paged):
                before.drop()
        if value is None:
            values.pop(name, None)
        else:
            values[name] = value
        if not entry.changed:
            entry.changed = True
            self._changed.append(entry)

    def clear(self, entry: Entry) -> None:
        """Remove all states of an owner."""
        for name in list(entry.values):
            self.set(entry, name, None)

    def drop_expired(self, entry: Entry, name: str, used_before: int) -> None:
        """Of a state with a time to live, what was last used then or earlier."""
        stored = entry.values.get(name)
        if isinstance(stored, Stamped):
            self.set(entry, name, None if stored.drop_unused(used_before) else stored)

    def flush(self) -> None:
        for entry in self._changed:
            entry.changed = False
            if entry.values:
                for value in entry.values.values():
                    if isinstance(value, Paged):
                        value.write_pages()
                self._pages.put(entry.owner, dumps(entry.values))
            else:
                self._pages.remove(entry.owner)
        self._changed.clear()
        self._pages.flush()


def _page_address(owner: bytes, name: str) -> bytes:
    return keys.encode((owner, name))


def owner_bytes(uid: str, key: bytes, namespace: Any) -> bytes:
    """What identifies an operator's key (as `keys.encode` gives it) and namespace: bytes, because
    Python takes 1, 1.0 and True for the same and the store does not."""
    # as keys.encode((uid, key, where)) does it, in one step: this is done for every record
    name, where = uid.encode("utf-8", "surrogatepass"), _namespace_bytes(namespace)
    parts = len(name) + 1, name, len(key) + 1, key, len(where) + 1, where
    return b"t%d:s%b%d:b%b%d:b%b" % parts


def group_bytes(uid: str) -> bytes:
    """What identifies the state that an operator keeps without a key."""
    return keys.encode(("group", uid))


def _namespace_bytes(namespace: Any) -> bytes:
    if namespace is None:
        return _NO_NAMESPACE
    if type(namespace) is TimeWindow:
        start, end = b"i%d" % namespace.start, b"i%d" % namespace.end
        return b"t%d:%b%d:%b" % (len(start), start, len(end), end)
    if isinstance(namespace, Window):  # by what it holds: its class may be the job's script's
        span = (namespace.start, namespace.end) if isinstance(namespace, TimeWindow) else ()
        fields = sorted(getattr(namespace, "__dict__", {}).items())
        return keys.encode((type(namespace).__qualname__, *span, *fields))
    return keys.encode(namespace)


_NO_NAMESPACE = keys.encode(None)
