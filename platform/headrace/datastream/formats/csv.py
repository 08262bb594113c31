"""Rows as CSV; PyFlink's `pyflink.datastream.formats.csv`."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headrace.common.types import Row
from headrace.connectors.files.formats import CsvFormat, Format
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
class _Cells:
    schema: CsvSchema

    def __call__(self, value: Any) -> Sequence[Any]:
        cells = self._fields(value)
        if len(cells) != len(self.schema.columns):
            raise ValueError(f"{len(cells)} fields for {len(self.schema.columns)} columns")
        pairs = zip(self.schema.columns, cells, strict=True)
        return [self._cell(name, each) for name, each in pairs]

    def _fields(self, value: Any) -> list[Any]:
        if isinstance(value, dict):
            return [value.get(name) for name in self.schema.columns]
        return list(value) if isinstance(value, Row | tuple | list) else [value]

    def _cell(self, name: str, value: Any) -> Any:
        if value is None:
            return self.schema.null
        if isinstance(value, list | tuple):
            return self.schema.separator_of(name).join(str(self._cell(name, v)) for v in value)
        return str(value).lower() if isinstance(value, bool) else value


class CsvBulkWriters:
    """For `FileSink.for_bulk_format`."""

    @staticmethod
    def for_schema(schema: CsvSchema) -> Format:
        """Rows, tuples, lists or dicts with the schema's columns."""
        options = {
            "delimiter": schema.separator,
            "quotechar": schema.quote,
            "quoting": csv.QUOTE_NONE if schema.quote is None else csv.QUOTE_MINIMAL,
            "lineterminator": schema.line_end,
        }
        return CsvFormat(schema.columns, _Cells(schema), options, schema.header)
