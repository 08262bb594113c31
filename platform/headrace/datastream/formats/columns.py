"""Declared types as Arrow's, and rows as their columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from headrace.common.time import Instant
from headrace.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    NotNullTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
)

_ARRAYS = (ListTypeInfo, BasicArrayTypeInfo, ObjectArrayTypeInfo, PrimitiveArrayTypeInfo)
_BASIC: dict[str, pa.DataType] = {
    "STRING": pa.string(),
    "CHAR": pa.string(),
    "BOOLEAN": pa.bool_(),
    "BYTE": pa.int8(),
    "SHORT": pa.int16(),
    "INT": pa.int32(),
    "LONG": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "BIG_INT": pa.decimal128(38, 0),
    "BIG_DEC": pa.decimal128(38, 18),
    "INSTANT": pa.timestamp("us", "UTC"),
    "SQL_DATE": pa.date32(),
    "SQL_TIME": pa.time64("us"),
    "SQL_TIMESTAMP": pa.timestamp("us"),
}


def arrow_schema(type_info: RowTypeInfo) -> pa.Schema:
    """One column a field. Raises TypeError for types without a form in columns."""
    return pa.schema(_fields(type_info.field_names, type_info.field_types))


def arrow_row(type_info: RowTypeInfo) -> Callable[[Any], tuple[Any, ...]]:
    """Turns a Row, tuple or dict of this type into the values of its columns; TypeMismatch for
    what does not fit."""

    def row(value: Any) -> tuple[Any, ...]:
        if value is None:
            raise TypeError("the value is None, no row")
        return tuple(map(_plain, type_info.check(value)))

    return row


def _fields(names: tuple[str, ...], kinds: tuple[TypeInformation, ...]) -> list[pa.Field]:
    return [
        pa.field(name, _arrow_type(kind), nullable=not isinstance(kind, NotNullTypeInfo))
        for name, kind in zip(names, kinds, strict=True)
    ]


def _arrow_type(kind: TypeInformation) -> pa.DataType:
    if isinstance(kind, NotNullTypeInfo):
        return _arrow_type(kind.type_info)
    if isinstance(kind, BasicTypeInfo) and kind.name in _BASIC:
        return _BASIC[kind.name]
    if isinstance(kind, RowTypeInfo):
        return pa.struct(_fields(kind.field_names, kind.field_types))
    if isinstance(kind, TupleTypeInfo):
        names = tuple(f"f{i}" for i in range(len(kind.field_types)))
        return pa.struct(_fields(names, kind.field_types))
    if kind == Types.PRIMITIVE_ARRAY(Types.BYTE()):
        return pa.binary()
    if isinstance(kind, _ARRAYS):
        return pa.list_(_arrow_type(kind.elem_type))
    if isinstance(kind, MapTypeInfo):
        return pa.map_(_arrow_type(kind.key_type), _arrow_type(kind.value_type))
    raise TypeError(f"{kind} has no form in columns")


def _plain(value: Any) -> Any:
    if isinstance(value, Instant):
        return value.seconds * 1_000_000 + value.nanos // 1000
    if hasattr(value, "as_dict"):
        return {name: _plain(each) for name, each in value.as_dict().items()}
    if isinstance(value, tuple):
        return {f"f{i}": _plain(each) for i, each in enumerate(value)}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return [(_plain(key), _plain(each)) for key, each in value.items()]
    return value
