"""State a function can hold; PyFlink's `pyflink.datastream.state`."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from headrace.common.typeinfo import TypeInformation
from headrace.datastream.borrowed import borrowed
from headrace.datastream.state_ttl import StateTtlConfig as StateTtlConfig

__getattr__ = borrowed(__name__, "headrace.common")

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
IN = TypeVar("IN")
OUT = TypeVar("OUT")


class StateDescriptor:
    """Names one state of a function; the name is what a restored job finds it by."""

    def __init__(self, name: str, type_info: TypeInformation | None = None) -> None:
        if not name:
            raise ValueError("a state needs a name")
        self.name = name
        self.type_info = type_info
        #: None, or how long the state lives.
        self.ttl: StateTtlConfig | None = None

    def get_name(self) -> str:
        return self.name

    def enable_time_to_live(self, ttl_config: StateTtlConfig) -> None:
        """Before the state is asked for. May be switched on, changed and off while there is
        state: what was stored without counts as used at its first reading."""
        self.ttl = ttl_config if ttl_config.is_enabled() else None


class ValueStateDescriptor(StateDescriptor):
    """One value per key."""

    def __init__(self, name: str, value_type_info: TypeInformation | None = None) -> None:
        super().__init__(name, value_type_info)


class ListStateDescriptor(StateDescriptor):
    """A list per key."""

    def __init__(self, name: str, elem_type_info: TypeInformation | None = None) -> None:
        super().__init__(name, elem_type_info)


class MapStateDescriptor(StateDescriptor):
    """A map per key."""

    def __init__(
        self,
        name: str,
        key_type_info: TypeInformation | None = None,
        value_type_info: TypeInformation | None = None,
    ) -> None:
        super().__init__(name, value_type_info)
        self.key_type_info = key_type_info


class ReducingStateDescriptor(StateDescriptor):
    """A value per key into which each added one is reduced."""

    def __init__(
        self, name: str, reduce_function: Any, type_info: TypeInformation | None = None
    ) -> None:
        super().__init__(name, type_info)
        self._reduce_function = reduce_function
        self.reduce: Callable[[Any, Any], Any] = getattr(reduce_function, "reduce", reduce_function)
        if not callable(self.reduce):
            raise TypeError(f"not a ReduceFunction or a callable: {reduce_function!r}")

    def get_reduce_function(self) -> Any:
        return self._reduce_function


class AggregatingStateDescriptor(StateDescriptor):
    """An accumulator per key, to which values are added, and its result."""

    def __init__(
        self, name: str, agg_function: Any, state_type_info: TypeInformation | None = None
    ) -> None:
        super().__init__(name, state_type_info)
        if not hasattr(agg_function, "create_accumulator"):
            raise TypeError(f"not an AggregateFunction: {agg_function!r}")
        self._agg_function = agg_function

    def get_agg_function(self) -> Any:
        return self._agg_function


class State(abc.ABC):
    """Belongs to the key of the current record or timer."""

    @abc.abstractmethod
    def clear(self) -> None: ...


class ValueState(State, Generic[T]):
    """One value of the current key."""

    @abc.abstractmethod
    def value(self) -> Any:
        """The value, or None when there is none."""

    @abc.abstractmethod
    def update(self, value: Any) -> None:
        """Replace the value; None clears it."""


class AppendingState(State, Generic[IN, OUT]):
    """State that grows by what is added."""

    @abc.abstractmethod
    def get(self) -> Any: ...

    @abc.abstractmethod
    def add(self, value: Any) -> None: ...


class MergingState(AppendingState[IN, OUT]):
    """Of which several become one when windows merge."""


class ListState(MergingState[T, Iterable[T]]):
    """A list of the current key."""

    @abc.abstractmethod
    def get(self) -> Iterator[Any]: ...

    @abc.abstractmethod
    def add_all(self, values: Iterable[Any]) -> None: ...

    @abc.abstractmethod
    def update(self, values: Iterable[Any]) -> None:
        """Replace the whole list."""

    def __iter__(self) -> Iterator[Any]:
        return iter(self.get())


class ReducingState(MergingState[T, T]):
    """One value of the current key into which each added one is reduced; None when empty."""


class AggregatingState(MergingState[IN, OUT]):
    """What was added, aggregated; `get` gives the result, None when nothing was added."""


class _ReadableMap(State, Generic[K, V]):
    @abc.abstractmethod
    def get(self, key: Any) -> Any:
        """None for a key that is not there."""

    @abc.abstractmethod
    def contains(self, key: Any) -> bool: ...

    @abc.abstractmethod
    def items(self) -> Iterator[tuple[Any, Any]]: ...

    @abc.abstractmethod
    def keys(self) -> Iterator[Any]: ...

    @abc.abstractmethod
    def values(self) -> Iterator[Any]: ...

    @abc.abstractmethod
    def is_empty(self) -> bool: ...

    def __getitem__(self, key: Any) -> Any:
        return self.get(key)

    def __contains__(self, key: Any) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())


class _WritableMap(_ReadableMap[K, V]):
    @abc.abstractmethod
    def put(self, key: Any, value: Any) -> None: ...

    @abc.abstractmethod
    def put_all(self, dict_value: dict[Any, Any]) -> None: ...

    @abc.abstractmethod
    def remove(self, key: Any) -> None:
        """Nothing happens for a key that is not there."""

    def __setitem__(self, key: Any, value: Any) -> None:
        self.put(key, value)

    def __delitem__(self, key: Any) -> None:
        self.remove(key)


class MapState(_WritableMap[K, V]):
    """A map of the current key. Iterators see the map as it was when they were made."""


class ReadOnlyBroadcastState(_ReadableMap[K, V]):
    """Broadcast state as the records of the other stream see it. Do not change what it gives."""


class BroadcastState(ReadOnlyBroadcastState[K, V], _WritableMap[K, V]):
    """A map that belongs to no key: every key group has a copy of its own, and the function has
    to bring all copies to the same content, from the broadcast elements alone."""


class OperatorStateStore(abc.ABC):
    """State without a key."""

    @abc.abstractmethod
    def get_broadcast_state(
        self, state_descriptor: MapStateDescriptor
    ) -> BroadcastState[Any, Any]: ...
