"""Keyed state: entries of (operator, key, namespace) in a store, and the states functions hold.

Within a micro-batch entries live in a write-back cache, so a key touched a thousand times costs
one read and one write of the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from headrace.datastream import state as api
from headrace.datastream.windowing.windows import TimeWindow, Window
from headrace.runtime import keys
from headrace.runtime.frames import dumps, loads
from headrace.runtime.operators.operator import KeyedContext


class Store(Protocol):
    """The state of one key group, as Spark's state store or a dict holds it."""

    def head(self) -> bytes | None:
        """What the host keeps for itself: watermarks and the index of timers."""

    def set_head(self, value: bytes) -> None: ...
    def get(self, key: bytes) -> bytes | None: ...
    def put(self, key: bytes, value: bytes) -> None: ...
    def remove(self, key: bytes) -> None: ...


class Entries:
    """Entries of one key group, each a dict of state name -> value."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cache: dict[bytes, dict[str, Any]] = {}
        self._dirty: set[bytes] = set()

    def get(self, owner: bytes, name: str) -> Any:
        """`owner` as `owner_bytes` gives it."""
        return self._entry(owner).get(name)

    def set(self, owner: bytes, name: str, value: Any) -> None:
        """None removes."""
        entry = self._entry(owner)
        if value is None:
            entry.pop(name, None)
        else:
            entry[name] = value
        self._dirty.add(owner)

    def clear(self, owner: bytes) -> None:
        """Remove all states of an owner."""
        self._entry(owner).clear()
        self._dirty.add(owner)

    def flush(self) -> None:
        for owner in self._dirty:
            entry = self._cache[owner]
            if entry:
                self._store.put(_ENTRY + owner, dumps(entry))
            else:
                self._store.remove(_ENTRY + owner)
        self._dirty.clear()

    def _entry(self, owner: bytes) -> dict[str, Any]:
        entry = self._cache.get(owner)
        if entry is None:
            stored = self._store.get(_ENTRY + owner)
            entry = self._cache[owner] = loads(stored) if stored else {}
        return entry


_ENTRY = b"e"


def owner_bytes(uid: str, key: bytes, namespace: Any) -> bytes:
    """What identifies an operator's key (as `keys.encode` gives it) and namespace: bytes, because
    Python takes 1, 1.0 and True for the same and the store does not."""
    return keys.encode((uid, key, _namespace_bytes(namespace)))


def group_bytes(uid: str) -> bytes:
    """What identifies the state that an operator keeps without a key."""
    return keys.encode(("group", uid))


def _namespace_bytes(namespace: Any) -> bytes:
    if namespace is None:
        return _NO_NAMESPACE
    if type(namespace) is TimeWindow:
        return keys.encode((namespace.start, namespace.end))
    if isinstance(namespace, Window):  # by what it holds: its class may be the job's script's
        span = (namespace.start, namespace.end) if isinstance(namespace, TimeWindow) else ()
        fields = sorted(getattr(namespace, "__dict__", {}).items())
        return keys.encode((type(namespace).__qualname__, *span, *fields))
    return keys.encode(namespace)


_NO_NAMESPACE = keys.encode(None)


def bind(
    descriptor: api.StateDescriptor,
    context: KeyedContext,
    prefix: str = "user.",
    namespace: Callable[[], Any] = lambda: None,
) -> Any:
    """The state a descriptor names, of whichever key is current when it is used."""
    slot = _Slot(context, prefix + descriptor.name, namespace)
    if isinstance(descriptor, api.ValueStateDescriptor):
        return _Value(slot)
    if isinstance(descriptor, api.ListStateDescriptor):
        return _List(slot)
    if isinstance(descriptor, api.MapStateDescriptor):
        return _Map(slot)
    if isinstance(descriptor, api.ReducingStateDescriptor):
        return _Reducing(slot, descriptor.reduce)
    raise TypeError(f"no state for a {type(descriptor).__name__}")


class _Slot:
    """One named value of the current key and namespace."""

    def __init__(self, context: KeyedContext, name: str, namespace: Callable[[], Any]) -> None:
        self._context = context
        self._name = name
        self._namespace = namespace

    def read(self) -> Any:
        return self._context.state(self._name, self._namespace())

    def write(self, value: Any) -> None:
        self._context.set_state(self._name, value, self._namespace())

    def clear(self) -> None:
        self.write(None)


class _Value(api.ValueState):
    def __init__(self, slot: _Slot) -> None:
        self._slot = slot

    def value(self) -> Any:
        return self._slot.read()

    def update(self, value: Any) -> None:
        self._slot.write(value)

    def clear(self) -> None:
        self._slot.clear()


class _List(api.ListState):
    def __init__(self, slot: _Slot) -> None:
        self._slot = slot

    def get(self) -> Iterator[Any]:
        return iter(self._slot.read() or ())

    def add(self, value: Any) -> None:
        self.add_all((value,))

    def add_all(self, values: Iterable[Any]) -> None:
        self._slot.write([*(self._slot.read() or ()), *values] or None)

    def update(self, values: Iterable[Any]) -> None:
        self._slot.write(list(values) or None)

    def clear(self) -> None:
        self._slot.clear()


class _Map(api.MapState):
    def __init__(self, slot: _Slot) -> None:
        self._slot = slot

    def _read(self) -> dict[Any, Any]:
        return self._slot.read() or {}

    def get(self, key: Any) -> Any:
        return self._read().get(key)

    def put(self, key: Any, value: Any) -> None:
        self.put_all({key: value})

    def put_all(self, values: dict[Any, Any]) -> None:
        content = self._read()
        content.update(values)
        self._slot.write(content or None)

    def contains(self, key: Any) -> bool:
        return key in self._read()

    def remove(self, key: Any) -> None:
        content = self._read()
        content.pop(key, None)
        self._slot.write(content or None)

    def keys(self) -> Iterator[Any]:
        return iter(list(self._read()))

    def values(self) -> Iterator[Any]:
        return iter(list(self._read().values()))

    def items(self) -> Iterator[tuple[Any, Any]]:
        return iter(list(self._read().items()))

    def is_empty(self) -> bool:
        return not self._read()

    def clear(self) -> None:
        self._slot.clear()


class _Reducing(api.ReducingState):
    def __init__(self, slot: _Slot, reduce: Callable[[Any, Any], Any]) -> None:
        self._slot = slot
        self._reduce = reduce

    def get(self) -> Any:
        return self._slot.read()

    def add(self, value: Any) -> None:
        before = self._slot.read()
        self._slot.write(value if before is None else self._reduce(before, value))

    def clear(self) -> None:
        self._slot.clear()
