"""Rows as lines of CSV, one a record; PyFlink's schemas of `pyflink.datastream.formats.csv`."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

from headrace.common.serialization import (
    DeserializationError,
    DeserializationSchema,
    SerializationSchema,
)
from headrace.common.type_base import TypeInformation, TypeMismatch
from headrace.common.type_hints import type_of
from headrace.common.typeinfo import DataclassTypeInfo, NotNullTypeInfo, RowTypeInfo
from headrace.common.types import Row
from headrace.datastream.formats import text_values

S = TypeVar("S", bound="_Builder")

#: Jackson, which writes Flink's CSV, puts longer texts in quotes without looking at them.
_LONG = 24


@dataclass(frozen=True)
class Layout:
    """How a line is made of cells."""

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    null: str = ""
    array_delimiter: str = ";"
    line_end: str = "\n"
    comments: bool = False
    ignore_errors: bool = False


def row_type(type_info: object) -> RowTypeInfo:
    """Also of a dataclass. Raises TypeError."""
    found = type_of(type_info)
    if isinstance(found, NotNullTypeInfo):
        found = found.type_info
    if isinstance(found, DataclassTypeInfo):
        return found.row_type()
    if not isinstance(found, RowTypeInfo):
        raise TypeError("the type of rows is Types.ROW, Types.ROW_NAMED or a dataclass")
    return found


class _Builder:
    """What both schemas can be told."""

    def __init__(self, type_info: TypeInformation) -> None:
        self._type = row_type(type_info)
        self._layout = Layout()

    def set_array_element_delimiter(self, delimiter: str) -> Self:
        return self._with(array_delimiter=delimiter)

    def set_quote_character(self, c: str) -> Self:
        return self._with(quote=_one(c))

    def set_escape_character(self, c: str) -> Self:
        return self._with(escape=_one(c))

    def _with(self, **changes: Any) -> Self:
        self._layout = replace(self._layout, **changes)
        return self


class CsvRowDeserializationSchema(DeserializationSchema):
    """A line to a Row of the declared type."""

    def __init__(self, type_info: RowTypeInfo, layout: Layout) -> None:
        self._type = type_info
        self._layout = layout
        self._reads = [
            text_values.reader(kind, layout.null, layout.array_delimiter)
            for kind in type_info.field_types
        ]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._type, self._layout)

    @property
    def produced_type(self) -> TypeInformation:
        return self._type

    class Builder(_Builder):
        def set_field_delimiter(self, delimiter: str) -> Self:
            return self._with(delimiter=_one(delimiter))

        def set_null_literal(self, null_literal: str) -> Self:
            return self._with(null=null_literal)

        def set_allow_comments(self, allow_comments: bool) -> Self:
            """Records that begin with `#` are left out."""
            return self._with(comments=allow_comments)

        def set_ignore_parse_errors(self, ignore_parse_errors: bool) -> Self:
            """A field that cannot be read is None, and so is a record with too few or too many."""
            return self._with(ignore_errors=ignore_parse_errors)

        def build(self) -> CsvRowDeserializationSchema:
            return CsvRowDeserializationSchema(self._type, self._layout)

    def deserialize(self, data: bytes | None) -> Row | None:
        if data is None:
            raise DeserializationError("the record has no value")
        try:
            return self._row(data.decode())
        except (ValueError, TypeMismatch, csv.Error) as error:
            if self._layout.ignore_errors:
                return None
            raise DeserializationError(f"no line of CSV: {error}") from error

    def _row(self, line: str) -> Row | None:
        if self._layout.comments and line.startswith("#"):
            return None
        cells = next(csv.reader(io.StringIO(line, newline=""), **dialect(self._layout)), [])
        names = self._type.field_names
        if len(cells) != len(names):
            raise ValueError(f"{len(cells)} fields, not {len(names)}")
        triples = zip(self._reads, cells, names, strict=True)
        return Row._named(names, [self._cell(*each) for each in triples])

    def _cell(self, read: Any, cell: str, name: str) -> Any:
        try:
            return read(cell, f"field {name}")
        except TypeMismatch:
            if self._layout.ignore_errors:
                return None
            raise


class CsvRowSerializationSchema(SerializationSchema):
    """A Row (or tuple) of the declared type to a line with its end. Texts are quoted where Flink's
    are: those with a character up to the delimiter's or quote's, and those that are long."""

    def __init__(self, type_info: RowTypeInfo, layout: Layout) -> None:
        self._type = type_info
        self._layout = layout
        self._writes = [
            text_values.writer(kind, layout.null, layout.array_delimiter)
            for kind in type_info.field_types
        ]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._type, self._layout)

    class Builder(_Builder):
        def set_field_delimiter(self, c: str) -> Self:
            return self._with(delimiter=_one(c))

        def set_null_literal(self, s: str) -> Self:
            return self._with(null=s)

        def set_line_delimiter(self, delimiter: str) -> Self:
            """`\\n`, `\\r`, `\\r\\n`, or nothing."""
            if delimiter not in ("\n", "\r", "\r\n", ""):
                raise ValueError(f"no line delimiter: {delimiter!r}")
            return self._with(line_end=delimiter)

        def disable_quote_character(self) -> Self:
            return self._with(quote=None)

        def build(self) -> CsvRowSerializationSchema:
            return CsvRowSerializationSchema(self._type, self._layout)

    def serialize(self, value: Any) -> bytes:
        if value is None:
            raise TypeMismatch("the value is None, no row")
        row = self._type.check(value)
        triples = zip(self._writes, row, self._type.field_types, strict=True)
        cells = [self._quoted(write(each), each, kind) for write, each, kind in triples]
        return (self._layout.delimiter.join(cells) + self._layout.line_end).encode()

    def _quoted(self, text: str, value: Any, kind: TypeInformation) -> str:
        quote, escape = self._layout.quote, self._layout.escape
        if quote is None or value is None or isinstance(value, bool | int | float):
            return text
        highest = max(self._layout.delimiter, quote, escape or "")
        if len(text) <= _LONG and not any(c <= highest for c in text):
            return text
        return f"{quote}{text.replace(quote, (escape or quote) + quote)}{quote}"


def dialect(layout: Layout) -> dict[str, Any]:
    """For the csv module."""
    return {
        "delimiter": layout.delimiter,
        "quotechar": layout.quote,
        "quoting": csv.QUOTE_NONE if layout.quote is None else csv.QUOTE_MINIMAL,
        "escapechar": layout.escape,
        "doublequote": True,
        "strict": True,
    }


def _one(character: str) -> str:
    if len(character) != 1:
        raise ValueError(f"one character, not {character!r}")
    return character
