"""The states functions hold: descriptors bound to the current key of an operator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Any, Protocol

from headrace.datastream import state as api
from headrace.runtime import ttl
from headrace.runtime.operators.operator import KeyedContext
from headrace.runtime.paged import grown


class Slot(Protocol):
    """One named value in the store; None where there is none."""

    def read(self) -> Any: ...
    def write(self, value: Any) -> None: ...


class KeySlot:
    """Of the current key and namespace."""

    def __init__(self, context: KeyedContext, name: str, namespace: Callable[[], Any]) -> None:
        self._context = context
        self._name = name
        self._namespace = namespace

    def read(self) -> Any:
        return ttl.plain(self.read_stored())

    def read_stored(self) -> Any:
        """With the times of a state that has a time to live."""
        return self._context.state(self._name, self._namespace())

    def write(self, value: Any) -> None:
        self._context.set_state(self._name, value, self._namespace())


class GroupSlot:
    """Of an operator in the current key group."""

    def __init__(self, context: KeyedContext, name: str) -> None:
        self._context = context
        self._name = name

    def read(self) -> Any:
        return self._context.group_state(self._name)

    def write(self, value: Any) -> None:
        self._context.set_group_state(self._name, value)


USER = "user."


def bind(
    descriptor: api.StateDescriptor,
    context: KeyedContext,
    prefix: str = USER,
    namespace: Callable[[], Any] = lambda: None,
) -> Any:
    """The state a descriptor names, of whichever key is current when it is used."""
    name = prefix + descriptor.name
    slot = KeySlot(context, name, namespace)
    if descriptor.ttl is None:
        return _bound(descriptor, slot)
    lifetime = ttl.Lifetime(descriptor.ttl, context, name, namespace)
    if isinstance(descriptor, api.ListStateDescriptor):
        return ttl.TtlList(slot, lifetime)
    if isinstance(descriptor, api.MapStateDescriptor):
        return ttl.TtlMap(slot, lifetime)
    return _bound(descriptor, ttl.WholeSlot(slot, lifetime))


def _bound(descriptor: api.StateDescriptor, slot: Slot) -> Any:
    if isinstance(descriptor, api.ValueStateDescriptor):
        return _Value(slot)
    if isinstance(descriptor, api.ListStateDescriptor):
        return _List(slot)
    if isinstance(descriptor, api.MapStateDescriptor):
        return _Map(slot)
    if isinstance(descriptor, api.ReducingStateDescriptor):
        return _Reducing(slot, descriptor.reduce)
    if isinstance(descriptor, api.AggregatingStateDescriptor):
        return _Aggregating(slot, descriptor.get_agg_function())
    raise TypeError(f"no state for a {type(descriptor).__name__}")


BROADCAST = "broadcast."


def bind_broadcast(
    descriptor: api.MapStateDescriptor, context: KeyedContext
) -> api.BroadcastState[Any, Any]:
    """The broadcast state a descriptor names, of whichever key group and operator is current."""
    return BroadcastMap(GroupSlot(context, BROADCAST + descriptor.name))


def bind_broadcast_read_only(
    descriptor: api.MapStateDescriptor, context: KeyedContext
) -> api.ReadOnlyBroadcastState[Any, Any]:
    return ReadOnlyBroadcastMap(GroupSlot(context, BROADCAST + descriptor.name))


def merge(
    descriptor: api.StateDescriptor,
    context: KeyedContext,
    prefix: str,
    target: Any,
    sources: Iterable[Any],
) -> None:
    """What the namespaces `sources` hold goes into that of `target`. TypeError for a state of
    which several cannot become one."""
    into = bind(descriptor, context, prefix, lambda: target)
    if not isinstance(into, _Merging | ttl.TtlList):
        raise TypeError(f"{descriptor.name!r} is no state that can merge")
    for source in sources:
        state = bind(descriptor, context, prefix, _constant(source))
        into.merge(state.slot.read())
        state.clear()


def _constant(value: Any) -> Callable[[], Any]:
    return lambda: value


class _Held:
    """The part all states have."""

    def __init__(self, slot: Slot) -> None:
        self.slot = slot

    def clear(self) -> None:
        self.slot.write(None)


class _Merging(_Held):
    def merge(self, other: Any) -> None:
        raise NotImplementedError


class _Value(_Held, api.ValueState[Any]):
    def value(self) -> Any:
        return self.slot.read()

    def update(self, value: Any) -> None:
        self.slot.write(value)


class _List(_Merging, api.ListState[Any]):
    def get(self) -> Iterator[Any]:
        return iter(list(self.slot.read() or ()))

    def add(self, value: Any) -> None:
        self.add_all((value,))

    def add_all(self, values: Iterable[Any]) -> None:
        content = self.slot.read()
        if content is None:
            content = []
        content.extend(values)
        self.slot.write(grown(content) or None)

    def update(self, values: Iterable[Any]) -> None:
        self.slot.write(grown(list(values)) or None)

    def merge(self, other: Any) -> None:
        if other is not None:
            self.add_all(other)


class _ReadMap(_Held):
    def _read(self) -> MutableMapping[Any, Any]:
        content: MutableMapping[Any, Any] | None = self.slot.read()
        return {} if content is None else content

    def get(self, key: Any) -> Any:
        return self._read().get(key)

    def contains(self, key: Any) -> bool:
        return key in self._read()

    def keys(self) -> Iterator[Any]:
        return iter(list(self._read()))

    def values(self) -> Iterator[Any]:
        return iter(list(self._read().values()))

    def items(self) -> Iterator[tuple[Any, Any]]:
        return iter(list(self._read().items()))

    def is_empty(self) -> bool:
        return not self._read()


class _WriteMap(_ReadMap):
    def put(self, key: Any, value: Any) -> None:
        self.put_all({key: value})

    def put_all(self, dict_value: dict[Any, Any]) -> None:
        content = self._read()
        content.update(dict_value)
        self.slot.write(grown(content) or None)

    def remove(self, key: Any) -> None:
        content = self._read()
        if key in content:
            del content[key]
            self.slot.write(content or None)


class _Map(_WriteMap, api.MapState[Any, Any]):
    pass


class BroadcastMap(_WriteMap, api.BroadcastState[Any, Any]):
    """As `bind_broadcast` gives it."""


class ReadOnlyBroadcastMap(_ReadMap, api.ReadOnlyBroadcastState[Any, Any]):
    """As `bind_broadcast_read_only` gives it."""

    def clear(self) -> None:
        raise RuntimeError("only the broadcast side may change broadcast state")


class _Reducing(_Merging, api.ReducingState[Any]):
    def __init__(self, slot: Slot, reduce: Callable[[Any, Any], Any]) -> None:
        super().__init__(slot)
        self._reduce = reduce

    def get(self) -> Any:
        return self.slot.read()

    def add(self, value: Any) -> None:
        before = self.slot.read()
        self.slot.write(value if before is None else self._reduce(before, value))

    def merge(self, other: Any) -> None:
        if other is not None:
            self.add(other)


class _Aggregating(_Merging, api.AggregatingState[Any, Any]):
    def __init__(self, slot: Slot, function: Any) -> None:
        super().__init__(slot)
        self._function = function

    def get(self) -> Any:
        accumulator = self.slot.read()
        return None if accumulator is None else self._function.get_result(accumulator)

    def add(self, value: Any) -> None:
        accumulator = self.slot.read()
        if accumulator is None:
            accumulator = self._function.create_accumulator()
        self.slot.write(self._function.add(value, accumulator))

    def merge(self, other: Any) -> None:
        if other is None:
            return
        before = self.slot.read()
        self.slot.write(other if before is None else self._function.merge(before, other))
