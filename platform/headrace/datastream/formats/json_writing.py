"""Values of declared types -> JSON, byte for byte as Flink writes it."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

from headrace.common import java_text
from headrace.common.basic_types import BasicTypeInfo
from headrace.common.composite_types import (
    BasicArrayTypeInfo,
    DataclassTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    NotNullTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
)
from headrace.common.type_base import TypeInformation
from headrace.common.types import Row

#: A value that fits the type and is not None -> its JSON.
Write = Callable[[Any], str]

_ELEMENTS = (ListTypeInfo, BasicArrayTypeInfo, ObjectArrayTypeInfo, PrimitiveArrayTypeInfo)


def writer(kind: TypeInformation) -> Write:
    match kind:
        case NotNullTypeInfo() | ExternalTypeInfo():
            return writer(kind.type_info)
        case RowTypeInfo():
            return _fields(kind.field_names, kind.field_types, list)
        case DataclassTypeInfo():
            names = kind.field_names
            return _fields(names, kind.field_types, lambda v: [getattr(v, n) for n in names])
        case TupleTypeInfo():
            return _tuple(kind)
        case MapTypeInfo():
            return _map(kind)
        case _ if isinstance(kind, _ELEMENTS):
            return _elements(writer(kind.elem_type))
        case BasicTypeInfo() if kind.name in _BASIC:
            return _BASIC[kind.name]
    return _anything


def _fields(
    names: Sequence[str], kinds: Sequence[TypeInformation], take: Callable[[Any], Sequence[Any]]
) -> Write:
    heads = [f"{encode_basestring(name)}:" for name in names]
    fields = list(zip(heads, map(writer, kinds), strict=True))

    def write(value: Any) -> str:
        texts = [
            f"{head}null" if each is None else head + text(each)
            for (head, text), each in zip(fields, take(value), strict=True)
        ]
        return f"{{{','.join(texts)}}}"

    return write


def _tuple(kind: TupleTypeInfo) -> Write:
    """What Jackson finds in Flink's class of tuples."""
    count = len(kind.field_types)
    write = _fields([f"f{at}" for at in range(count)], kind.field_types, tuple)
    return lambda value: f'{write(value)[:-1]},"arity":{count}}}'


def _elements(each: Write) -> Write:
    def write(value: Any) -> str:
        if isinstance(value, bytes):
            return f'"{base64.b64encode(value).decode()}"'
        return f"[{','.join(['null' if v is None else each(v) for v in value])}]"

    return write


def _map(kind: MapTypeInfo) -> Write:
    key, each = kind.key_type.format, writer(kind.value_type)

    def write(value: Any) -> str:
        pairs = [
            f"{encode_basestring(key(k))}:{'null' if v is None else each(v)}"
            for k, v in value.items()
        ]
        return f"{{{','.join(pairs)}}}"

    return write


def _real(text: Callable[[float], str]) -> Write:
    def write(value: float) -> str:
        return text(value) if math.isfinite(value) else f'"{text(value)}"'

    return write


def _double(value: float) -> str:
    if 1e-3 <= value < 1e7:  # Python's form is Java's
        return repr(value)
    return _other_double(value)


_other_double = _real(java_text.double)


def _decimal(value: Decimal) -> str:
    if not value.is_finite():
        raise ValueError(f"{value} is no number of JSON")
    return str(value)


def _timestamp(value: datetime) -> str:
    return f'"{_without_zeros(value.isoformat())}Z"'


def _time(value: time) -> str:
    return f'"{_without_zeros(value.isoformat())}Z"'


def _without_zeros(text: str) -> str:
    return text.rstrip("0") if "." in text else text


def _anything(value: Any) -> str:
    return json.dumps(
        value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain
    )


def _plain(value: Any) -> Any:
    """What JSON has no form for, where no type says what it is."""
    if isinstance(value, Row):
        return value.as_dict(recursive=True)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, date | time):
        return value.isoformat()
    raise TypeError(f"a {type(value).__name__} has no form in JSON")


_BASIC: dict[str, Write] = {
    "STRING": encode_basestring,
    "CHAR": encode_basestring,
    "BOOLEAN": lambda value: "true" if value else "false",
    "BYTE": str,
    "SHORT": str,
    "INT": str,
    "LONG": str,
    "BIG_INT": str,
    "FLOAT": _real(java_text.single),
    "DOUBLE": _double,
    "BIG_DEC": _decimal,
    "INSTANT": lambda value: f'"{java_text.instant(value)}"',
    "SQL_DATE": lambda value: f'"{value.isoformat()}"',
    "SQL_TIME": _time,
    "SQL_TIMESTAMP": _timestamp,
}
