"""State with a time to live: values carry the time they were last used.

Lists keep it per element, maps per entry. A value that was stored without a time counts as used
when it is first read; a state whose time to live was switched off is read without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from headrace.common.time import to_millis
from headrace.datastream import state as api
from headrace.datastream.state_ttl import StateTtlConfig
from headrace.runtime.paged import PagedMap


class Stamped:
    """What is stored of a state with a time to live."""

    def plain(self) -> Any:
        """As the state holds it without a time to live."""
        raise NotImplementedError

    def drop_unused(self, used_before: int) -> bool:
        """Forget what was last used then or earlier; whether nothing is left."""
        raise NotImplementedError


class StampedValue(Stamped):
    def __init__(self, value: Any, used: int) -> None:
        self.value = value
        self.used = used

    def plain(self) -> Any:
        return self.value

    def drop_unused(self, used_before: int) -> bool:
        return self.used <= used_before


class StampedList(Stamped):
    """`parts`: (value, when it was last used)."""

    def __init__(self, parts: Iterable[tuple[Any, int]] = ()) -> None:
        self.parts = list(parts)

    def plain(self) -> list[Any]:
        return [value for value, _ in self.parts]

    def drop_unused(self, used_before: int) -> bool:
        self.parts = [part for part in self.parts if part[1] > used_before]
        return not self.parts


class StampedMap(PagedMap, Stamped):
    """key -> (value, when it was last used)."""

    def plain(self) -> PagedMap:
        return PagedMap({key: value for key, (value, _) in self.items()})

    def drop_unused(self, used_before: int) -> bool:
        for key, (_, used) in list(self.items()):
            if used <= used_before:
                del self[key]
        return not self


def plain(stored: Any) -> Any:
    """What a state without a time to live reads."""
    return stored.plain() if isinstance(stored, Stamped) else stored


class Clock(Protocol):
    """The part of a KeyedContext that is needed here."""

    processing_time: int

    def expire_later(self, name: str, namespace: Any, ttl: int) -> None: ...


class Lifetime:
    """The settings of one state, and the clock they go by."""

    def __init__(
        self,
        config: StateTtlConfig,
        clock: Clock,
        name: str,
        namespace: Callable[[], Any],
    ) -> None:
        self._ttl = to_millis(config.get_ttl())
        self._clock = clock
        self._name = name
        self._namespace = namespace
        self.renews_on_read = config.get_update_type() is StateTtlConfig.UpdateType.OnReadAndWrite
        self.shows_expired = (
            config.get_state_visibility()
            is StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp
        )
        self._cleans_up = config.get_cleanup_strategies().removes_unread()

    def now(self) -> int:
        return self._clock.processing_time

    def has_expired(self, used: int) -> bool:
        return used + self._ttl <= self.now()

    def use(self) -> int:
        """The stamp of what is used now; sees to it that it goes some time after it expires."""
        if self._cleans_up:
            self._clock.expire_later(self._name, self._namespace(), self._ttl)
        return self.now()


class RawSlot(Protocol):
    def read_stored(self) -> Any: ...
    def write(self, value: Any) -> None: ...


class WholeSlot:
    """A slot whose one value expires as a whole."""

    def __init__(self, slot: RawSlot, lifetime: Lifetime) -> None:
        self._slot = slot
        self._lifetime = lifetime

    def read(self) -> Any:
        stored = self._slot.read_stored()
        if stored is None:
            return None
        if not isinstance(stored, StampedValue):
            self.write(plain(stored))
            return plain(stored)
        if self._lifetime.has_expired(stored.used):
            self._slot.write(None)
            return stored.value if self._lifetime.shows_expired else None
        if self._lifetime.renews_on_read:
            self.write(stored.value)
        return stored.value

    def write(self, value: Any) -> None:
        self._slot.write(None if value is None else StampedValue(value, self._lifetime.use()))


class TtlList(api.ListState[Any]):
    """A list whose elements expire one by one."""

    def __init__(self, slot: RawSlot, lifetime: Lifetime) -> None:
        self.slot = self
        self._slot = slot
        self._lifetime = lifetime

    def read(self) -> list[Any] | None:
        """What is there, as a slot of a list without a time to live gives it."""
        return list(self.get()) or None

    def get(self) -> Iterator[Any]:
        stored = self._stored()
        life = self._lifetime
        kept = [part for part in stored.parts if not life.has_expired(part[1])]
        shown = [value for value, _ in (stored.parts if life.shows_expired else kept)]
        if life.renews_on_read and kept:
            used = life.use()
            kept = [(value, used) for value, _ in kept]
        if kept != stored.parts:
            self._write(kept)
        return iter(shown)

    def add(self, value: Any) -> None:
        self.add_all((value,))

    def add_all(self, values: Iterable[Any]) -> None:
        used = self._lifetime.use()
        self._write([*self._stored().parts, *((value, used) for value in values)])

    def update(self, values: Iterable[Any]) -> None:
        used = self._lifetime.use()
        self._write([(value, used) for value in values])

    def merge(self, other: Any) -> None:
        if other is not None:
            self.add_all(other)

    def clear(self) -> None:
        self._slot.write(None)

    def _stored(self) -> StampedList:
        stored = self._slot.read_stored()
        if stored is None:
            return StampedList()
        if isinstance(stored, StampedList):
            return stored
        used = self._lifetime.use()
        stored = StampedList((value, used) for value in plain(stored))
        self._slot.write(stored)
        return stored

    def _write(self, parts: list[tuple[Any, int]]) -> None:
        self._slot.write(StampedList(parts) if parts else None)


class TtlMap(api.MapState[Any, Any]):
    """A map whose entries expire one by one."""

    def __init__(self, slot: RawSlot, lifetime: Lifetime) -> None:
        self._slot = slot
        self._lifetime = lifetime

    def get(self, key: Any) -> Any:
        return self._use(key)[1]

    def contains(self, key: Any) -> bool:
        return self._use(key)[0]

    def put(self, key: Any, value: Any) -> None:
        self.put_all({key: value})

    def put_all(self, dict_value: dict[Any, Any]) -> None:
        stored = self._stored()
        used = self._lifetime.use()
        stored.update((key, (value, used)) for key, value in dict(dict_value).items())
        self._write(stored)

    def remove(self, key: Any) -> None:
        stored = self._stored()
        if stored.pop(key, None) is not None:
            self._write(stored)

    def items(self) -> Iterator[tuple[Any, Any]]:
        found = [(key, *self._use(key)) for key in list(self._stored())]
        return iter([(key, value) for key, there, value in found if there])

    def keys(self) -> Iterator[Any]:
        return iter([key for key, _ in self.items()])

    def values(self) -> Iterator[Any]:
        return iter([value for _, value in self.items()])

    def is_empty(self) -> bool:
        return not any(True for _ in self.items())

    def clear(self) -> None:
        self._slot.write(None)

    def _use(self, key: Any) -> tuple[bool, Any]:
        """Read an entry: (whether it is there, its value)."""
        stored, life = self._stored(), self._lifetime
        if key not in stored:
            return False, None
        value, used = stored[key]
        if life.has_expired(used):
            del stored[key]
            self._write(stored)
            return (True, value) if life.shows_expired else (False, None)
        if life.renews_on_read:
            stored[key] = value, life.use()
            self._write(stored)
        return True, value

    def _stored(self) -> StampedMap:
        stored = self._slot.read_stored()
        if stored is None:
            return StampedMap()
        if isinstance(stored, StampedMap):
            return stored
        used = self._lifetime.use()
        stored = StampedMap({key: (value, used) for key, value in plain(stored).items()})
        self._slot.write(stored)
        return stored

    def _write(self, stored: StampedMap) -> None:
        self._slot.write(stored or None)
