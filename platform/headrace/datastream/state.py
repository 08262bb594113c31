"""Keyed state a function can hold; PyFlink's `pyflink.datastream.state`."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from headrace.common.typeinfo import TypeInformation


class StateDescriptor:
    """Names one state of a function; the name is what a restored job finds it by."""

    def __init__(self, name: str, type_info: TypeInformation | None = None) -> None:
        if not name:
            raise ValueError("a state needs a name")
        self.name = name
        self.type_info = type_info

    def get_name(self) -> str:
        return self.name


class ValueStateDescriptor(StateDescriptor):
    """One value per key."""


class ListStateDescriptor(StateDescriptor):
    """A list per key."""


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
        self.reduce: Callable[[Any, Any], Any] = getattr(reduce_function, "reduce", reduce_function)


class ValueState(abc.ABC):
    """One value of the current key."""

    @abc.abstractmethod
    def value(self) -> Any:
        """The value, or None when there is none."""

    @abc.abstractmethod
    def update(self, value: Any) -> None:
        """Replace the value; None clears it."""

    @abc.abstractmethod
    def clear(self) -> None: ...


class ListState(abc.ABC):
    """A list of the current key."""

    @abc.abstractmethod
    def get(self) -> Iterator[Any]: ...

    @abc.abstractmethod
    def add(self, value: Any) -> None: ...

    @abc.abstractmethod
    def add_all(self, values: Iterable[Any]) -> None: ...

    @abc.abstractmethod
    def update(self, values: Iterable[Any]) -> None: ...

    @abc.abstractmethod
    def clear(self) -> None: ...


class MapState(abc.ABC):
    """A map of the current key."""

    @abc.abstractmethod
    def get(self, key: Any) -> Any: ...

    @abc.abstractmethod
    def put(self, key: Any, value: Any) -> None: ...

    @abc.abstractmethod
    def put_all(self, values: dict[Any, Any]) -> None: ...

    @abc.abstractmethod
    def contains(self, key: Any) -> bool: ...

    @abc.abstractmethod
    def remove(self, key: Any) -> None: ...

    @abc.abstractmethod
    def keys(self) -> Iterator[Any]: ...

    @abc.abstractmethod
    def values(self) -> Iterator[Any]: ...

    @abc.abstractmethod
    def items(self) -> Iterator[tuple[Any, Any]]: ...

    @abc.abstractmethod
    def is_empty(self) -> bool: ...

    @abc.abstractmethod
    def clear(self) -> None: ...


class ReducingState(abc.ABC):
    """One value of the current key into which each added one is reduced."""

    @abc.abstractmethod
    def get(self) -> Any: ...

    @abc.abstractmethod
    def add(self, value: Any) -> None: ...

    @abc.abstractmethod
    def clear(self) -> None: ...
