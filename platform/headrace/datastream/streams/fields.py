"""Fields of values, by position or name: as keys and projections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from headrace.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation
from headrace.common.types import Row
from headrace.datastream.streams.refusals import refuse
from headrace.runtime.operators.operator import method


def selector(key: Any) -> Callable[[Any], Any]:
    """Of a function, a KeySelector, a field, or several fields."""
    if isinstance(key, int | str):
        return _field(key)
    if isinstance(key, list | tuple):
        parts = [selector(part) for part in key]
        return lambda value: tuple(part(value) for part in parts)
    select: Callable[[Any], Any] = method(key, "get_key")
    if not callable(select):
        raise TypeError(f"a key selector is a function, a KeySelector or a field, not {key!r:.80}")
    return select


def projection(positions: Sequence[int]) -> Callable[[Any], tuple[Any, ...]]:
    if not positions:
        refuse("a projection needs a field")
    return lambda value: tuple(value[position] for position in positions)


def refuse_no_field(declared: TypeInformation | None, field: int | str) -> None:
    """Raises GraphError where values of the declared type have no such field."""
    if isinstance(declared, RowTypeInfo):
        known: Sequence[object] = declared.field_names
    elif isinstance(declared, TupleTypeInfo) and isinstance(field, int):
        known = range(len(declared.field_types))
    else:
        return
    if not -len(known) <= field < len(known) if isinstance(field, int) else field not in known:
        refuse(f"there is no field {field!r}; the fields are {', '.join(map(str, known))}")


def _field(field: int | str) -> Callable[[Any], Any]:
    if isinstance(field, int):
        return itemgetter(field)

    def select(value: Any) -> Any:
        if isinstance(value, Row | dict):
            return value[field]
        if isinstance(value, tuple | list) and not hasattr(value, field):
            return value[int(field.removeprefix("f"))]  # Flink's names of a tuple's fields
        return getattr(value, field)

    return select
