"""Rows as lines of CSV, one a record; PyFlink's schemas of `pyflink.datastream.formats.csv`."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from decimal import Decimal
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
from headrace.datastream.formats.csv_layout import Layout, quoted

S = TypeVar("S", bound="_Builder")


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
            text_values.reader(kind, layout.null, layout.array_delimiter, layout.ignore_errors)
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
            """A field that cannot be read, or that is not there, is None (the record is left out
            where the field is NOT_NULL); a record with too many is left out."""
            return self._with(ignore_errors=ignore_parse_errors)

        def build(self) -> CsvRowDeserializationSchema:
            return CsvRowDeserializationSchema(self._type, self._layout)

    def deserialize(self, data: bytes | None) -> Row | None:
        try:
            if data is None:
                raise ValueError("the record has no value")
            return self._row(data.decode("utf-8-sig"))
        except (ValueError, TypeMismatch, csv.Error) as error:
            if self._layout.ignore_errors:
                return None
            raise DeserializationError(f"no line of CSV: {error}") from error

    def _row(self, line: str) -> Row | None:
        if self._layout.comments and line.startswith("#"):
            return None
        cells = next(csv.reader(io.StringIO(line, newline=""), **dialect(self._layout)), None)
        names = self._type.field_names
        if cells is None or len(cells) > len(names) or not (self._layout.ignore_errors or cells):
            raise ValueError(f"{len(cells or ())} fields, not {len(names)}")
        return Row._named(names, self._values(cells))

    def _values(self, cells: list[str]) -> list[Any]:
        types, names = self._type.field_types, self._type.field_names
        given: list[str | None] = [*(cells or [""]), *[None] * len(names)]
        fields = zip(self._reads, types, names, given, strict=False)
        return [self._cell(*field) for field in fields]

    def _cell(self, read: Any, kind: TypeInformation, name: str, cell: str | None) -> Any:
        try:
            if cell is None:
                raise TypeMismatch(f"there is no field {name}")
            return read(cell, f"field {name}")
        except TypeMismatch:
            if self._layout.ignore_errors and not isinstance(kind, NotNullTypeInfo):
                return None
            raise


class CsvRowSerializationSchema(SerializationSchema):
    """A Row (or tuple) of the declared type to a line with its end. Texts are quoted where Flink's
    are: those with a character up to the delimiter's or quote's or a backslash, and long ones."""

    def __init__(self, type_info: RowTypeInfo, layout: Layout) -> None:
        self._type = type_info
        self._layout = layout
        self._writes = [
            text_values.writer(kind, layout.null or "", layout.array_delimiter)
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
        if value is None or isinstance(value, bool | int | float | Decimal):
            return text
        return quoted(text, self._layout)


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
