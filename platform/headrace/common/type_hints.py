"""Python's own types as declared ones."""

from __future__ import annotations

import types
import typing
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from headrace.common.basic_types import basic
from headrace.common.composite_types import (
    DataclassTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    NotNullTypeInfo,
    PrimitiveArrayTypeInfo,
    TupleTypeInfo,
)
from headrace.common.time import Instant
from headrace.common.type_base import TypeInformation

_BASIC: dict[object, TypeInformation] = {
    str: basic("STRING"),
    bool: basic("BOOLEAN"),
    int: basic("LONG"),
    float: basic("DOUBLE"),
    Decimal: basic("BIG_DEC"),
    Instant: basic("INSTANT"),
    date: basic("SQL_DATE"),
    time: basic("SQL_TIME"),
    datetime: basic("SQL_TIMESTAMP"),
    bytes: PrimitiveArrayTypeInfo(basic("BYTE")),
    Any: basic("PICKLED_BYTE_ARRAY"),
}


def type_of(hint: object) -> TypeInformation | None:
    """The declared type that a hint stands for: a TypeInformation stands for itself, None for
    none. Raises TypeError for what no type is known for."""
    if hint is None or isinstance(hint, TypeInformation):
        return hint
    if hasattr(hint, "to_type_info"):  # a table's column type
        return hint.to_type_info()  # type: ignore[no-any-return]
    return _inner(hint)


def _inner(hint: Any) -> TypeInformation:
    """A field's or element's type: what may be None says so."""
    if isinstance(hint, TypeInformation):
        return hint
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        marks = [each for each in arguments[1:] if isinstance(each, TypeInformation)]
        return marks[0] if marks else _inner(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return _optional(hint, arguments)
    if hint is Any:
        return _BASIC[Any]
    return NotNullTypeInfo(_plain(hint, origin, arguments))


def _plain(hint: Any, origin: Any, arguments: tuple[Any, ...]) -> TypeInformation:
    if hint in _BASIC:
        return _BASIC[hint]
    if origin is tuple and Ellipsis not in arguments:
        return TupleTypeInfo(tuple(map(_inner, arguments)))
    if origin in (list, tuple):
        return ListTypeInfo(_inner(arguments[0]))
    if origin is dict:
        return MapTypeInfo(_inner(arguments[0]), _inner(arguments[1]))
    if isinstance(hint, type) and is_dataclass(hint):
        hints = typing.get_type_hints(hint, include_extras=True)
        return DataclassTypeInfo(hint, tuple(_inner(hints[f.name]) for f in fields(hint)))
    if isinstance(hint, type):
        raise TypeError(
            f"{hint.__name__} has no declared type; use a dataclass, or leave the type out"
        )
    raise TypeError(f"{hint!r} has no declared type; leave it out for any Python value")


def _optional(hint: Any, arguments: tuple[Any, ...]) -> TypeInformation:
    present = [each for each in arguments if each is not type(None)]
    if len(present) != 1:
        raise TypeError(f"{hint} has no declared type: only one type or None")
    found = _inner(present[0])
    return found.type_info if isinstance(found, NotNullTypeInfo) else found
