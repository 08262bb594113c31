"""Values of declared types as plain text, in files and records of text."""

from __future__ import annotations

import base64
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from headrace.common.basic_types import BasicTypeInfo, basic
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

_ELEMENTS = (ListTypeInfo, BasicArrayTypeInfo, ObjectArrayTypeInfo, PrimitiveArrayTypeInfo)
_BYTES = PrimitiveArrayTypeInfo(basic("BYTE"))


def reader(
    kind: TypeInformation, null: str | None, separator: str, lenient: bool = False
) -> Callable[[str, str], Any]:
    """(text, where) -> the value. `separator` stands between the elements of a list or row; parts
    of these that cannot be read are None if `lenient`. An empty text is None, but where a text or
    a list may be empty. TypeMismatch, naming `where`, for text that is no such value."""
    read = _read(kind, null, separator, lenient)

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
    if inner == _BYTES:
        return lambda value: null if value is None else base64.b64encode(bytes(value)).decode()
    if inner == basic("INSTANT"):
        return lambda value: null if value is None else _instant(inner.format(value))
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


def _instant(text: str) -> str:
    """A space in place of the T, and no zeros at the end of a fraction."""
    moment = text.removesuffix("Z").replace("T", " ")
    return f"{moment.rstrip('0') if '.' in moment else moment}Z"


def _inner(kind: TypeInformation) -> TypeInformation:
    return kind.type_info if isinstance(kind, NotNullTypeInfo) else kind


def _read(kind: TypeInformation, null: str | None, separator: str, lenient: bool) -> Read:
    inner = _inner(kind)
    if inner == _BYTES:
        convert: Read = _base64
    elif isinstance(inner, _ELEMENTS):
        convert = _listed(_part(inner.elem_type, null, separator, lenient), separator)
    elif isinstance(inner, RowTypeInfo | TupleTypeInfo):
        convert = _parts(inner, null, separator, lenient)
    else:
        convert = _converter(inner)
    return lambda text: None if text == null else convert(text)


def _part(kind: TypeInformation, null: str | None, separator: str, lenient: bool) -> Read:
    read = _read(kind, null, separator, lenient)
    if not lenient or isinstance(kind, NotNullTypeInfo):
        return read

    def soft(text: str) -> Any:
        try:
            return kind.check(read(text))
        except (TypeMismatch, ValueError, ArithmeticError):
            return None

    return soft


def _listed(read: Read, separator: str) -> Read:
    return lambda text: [read(part) for part in text.split(separator)] if text else []


def _parts(
    kind: RowTypeInfo | TupleTypeInfo, null: str | None, separator: str, lenient: bool
) -> Read:
    reads = [_part(each, null, separator, lenient) for each in kind.field_types]

    def convert(text: str) -> Any:
        if not text:
            return None
        parts = text.split(separator)
        found = [read(part) for read, part in zip(reads, parts, strict=not lenient)]
        return tuple(found + [None] * (len(reads) - len(found)))

    return convert


def _converter(kind: TypeInformation) -> Read:
    if not isinstance(kind, BasicTypeInfo):
        raise TypeError(f"{kind} has no form in text")
    if kind.name in ("STRING", "CHAR"):
        return str
    convert = _CONVERT.get(kind.name, str.strip)
    return lambda text: convert(text) if text else None


def _number(convert: Read) -> Read:
    def number(text: str) -> Any:
        if "_" in text:  # Python would take it
            raise ValueError("no number")
        return convert(text.strip())

    return number


def _decimal(text: str) -> Decimal:
    number = Decimal(text.strip())
    if not number.is_finite() or "_" in text:
        raise ValueError("no number")
    return number


def _base64(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


#: Types of times read their text themselves.
_CONVERT: dict[str, Read] = {
    **dict.fromkeys(("BYTE", "SHORT", "INT", "LONG", "BIG_INT"), _number(int)),
    **dict.fromkeys(("FLOAT", "DOUBLE"), _number(float)),
    "BOOLEAN": lambda text: text.strip().lower() == "true",
    "BIG_DEC": _decimal,
}
