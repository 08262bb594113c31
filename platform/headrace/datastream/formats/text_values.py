"""Values of declared types as plain text, in files and records of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.common.basic_types import BasicTypeInfo
from headrace.common.composite_types import (
    BasicArrayTypeInfo,
    ListTypeInfo,
    NotNullTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
)
from headrace.common.type_base import TypeInformation, TypeMismatch, shown

Read = Callable[[str], Any]

_WHOLE = ("BYTE", "SHORT", "INT", "LONG", "BIG_INT")
_REAL = ("FLOAT", "DOUBLE")
_ELEMENTS = (ListTypeInfo, BasicArrayTypeInfo, ObjectArrayTypeInfo, PrimitiveArrayTypeInfo)


def reader(kind: TypeInformation, null: str, separator: str) -> Callable[[str, str], Any]:
    """(text, where) -> the value. `separator` stands between the elements of a list or row.
    TypeMismatch, naming `where`, for text that is no such value."""
    read = _read(kind, null, separator)

    def value(text: str, where: str) -> Any:
        try:
            parsed = read(text)
        except TypeMismatch:
            raise
        except (ValueError, ArithmeticError):
            raise TypeMismatch(f"{where} is {shown(text)}, which is no {kind}") from None
        return kind.check(parsed, where)

    return value


def writer(kind: TypeInformation, null: str, separator: str) -> Callable[[Any], str]:
    """A value that fits the type -> its text."""
    inner = _inner(kind)
    if isinstance(inner, _ELEMENTS):
        write = writer(inner.elem_type, null, separator)
        return lambda value: null if value is None else separator.join(map(write, value))
    if isinstance(inner, RowTypeInfo | TupleTypeInfo):
        writes = [writer(each, null, separator) for each in inner.field_types]

        def joined(value: Any) -> str:
            pairs = zip(writes, value, strict=True)
            return separator.join(write(each) for write, each in pairs)

        return lambda value: null if value is None else joined(value)
    return lambda value: null if value is None else inner.format(value)


def _inner(kind: TypeInformation) -> TypeInformation:
    return kind.type_info if isinstance(kind, NotNullTypeInfo) else kind


def _read(kind: TypeInformation, null: str, separator: str) -> Read:
    inner = _inner(kind)
    if isinstance(inner, _ELEMENTS):
        read = _read(inner.elem_type, null, separator)
        return lambda text: None if text == null else [read(part) for part in text.split(separator)]
    if isinstance(inner, RowTypeInfo | TupleTypeInfo):
        reads = [_read(each, null, separator) for each in inner.field_types]

        def parts(text: str) -> Any:
            pairs = zip(reads, text.split(separator), strict=True)
            return tuple(read(part) for read, part in pairs)

        return lambda text: None if text == null else parts(text)
    convert = _converter(inner)
    return lambda text: None if text == null else convert(text)


def _converter(kind: TypeInformation) -> Read:
    if not isinstance(kind, BasicTypeInfo):
        raise TypeError(f"{kind} has no form in text")
    if kind.name in _WHOLE:
        return lambda text: int(text.strip())
    if kind.name in _REAL:
        return lambda text: float(text.strip())
    if kind.name == "BOOLEAN":
        return lambda text: text.strip().lower() == "true"
    if kind.name in ("STRING", "CHAR"):
        return str
    return str.strip  # the type itself reads the text of times and decimals
