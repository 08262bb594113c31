"""Rows as CSV; PyFlink's `pyflink.datastream.formats.csv`."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from headrace.common.typeinfo import TypeInformation, Types
from headrace.common.types import Row
from headrace.connectors.files.formats import CsvFormat, Format
from headrace.datastream.formats.csv_layout import quoted
from headrace.datastream.formats.csv_reading import CsvReaderFormat
from headrace.datastream.formats.csv_rows import (
    CsvRowDeserializationSchema,
    CsvRowSerializationSchema,
)
from headrace.datastream.formats.csv_schema import CsvSchema, CsvSchemaBuilder

__all__ = [
    "CsvBulkWriters",
    "CsvReaderFormat",
    "CsvRowDeserializationSchema",
    "CsvRowSerializationSchema",
    "CsvSchema",
    "CsvSchemaBuilder",
]


@dataclass(frozen=True)
class _Line:
    """A value -> its line, with its end."""

    schema: CsvSchema

    def __call__(self, value: Any) -> str:
        schema = self.schema
        cells = self._fields(value)
        if len(cells) != len(schema.columns):
            raise ValueError(f"{len(cells)} fields for {len(schema.columns)} columns")
        triples = zip(schema.columns, schema.types, cells, strict=True)
        return schema.separator.join([self._cell(*each) for each in triples]) + schema.line_end

    def _fields(self, value: Any) -> list[Any]:
        if isinstance(value, dict):
            return [value.get(name) for name in self.schema.columns]
        return list(value) if isinstance(value, Row | tuple | list) else [value]

    def _cell(self, name: str, kind: TypeInformation, value: Any) -> str:
        if isinstance(value, list | tuple):
            inner = getattr(kind, "elem_type", kind)
            parts = [self._plain(inner, each) for each in value]
            return self._quoted(self.schema.separator_of(name).join(parts))
        text = self._plain(kind, value)
        return text if value is None or isinstance(value, _PLAIN) else self._quoted(text)

    def _plain(self, kind: TypeInformation, value: Any) -> str:
        """Numbers as Java writes them. What does not have the column's type is written as it is."""
        if value is None:
            return self.schema.null
        if isinstance(value, float):
            return (kind if kind in _REAL else Types.DOUBLE()).format(value)
        return str(value).lower() if isinstance(value, bool) else str(value)

    def _quoted(self, text: str) -> str:
        layout = self.schema.layout
        if layout.quote is None and any(c in text for c in (layout.delimiter, "\n", "\r")):
            raise ValueError(f"{text!r:.80} needs quotes, and the schema has none")
        return quoted(text, layout)


_PLAIN = (bool, int, float, Decimal)
_REAL = (Types.FLOAT(), Types.DOUBLE())


class CsvBulkWriters:
    """For `FileSink.for_bulk_format`."""

    @staticmethod
    def for_schema(schema: CsvSchema) -> Format:
        """Rows, tuples, lists or dicts with the schema's columns. Texts are in quotes where Flink
        puts them there."""
        names = [quoted(name, schema.layout) for name in schema.columns]
        header = schema.separator.join(names) + schema.line_end if schema.header else ""
        return CsvFormat(_Line(schema), header)
