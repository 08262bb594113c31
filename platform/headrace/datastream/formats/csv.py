"""Rows as CSV; PyFlink's `pyflink.datastream.formats.csv`."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headrace.common.types import Row
from headrace.connectors.files.formats import CsvFormat, Format

__all__ = ["CsvBulkWriters", "CsvSchema"]


@dataclass(frozen=True)
class CsvSchema:
    """Columns, and how lines are made."""

    columns: tuple[str, ...]
    separator: str = ","
    quote: str | None = '"'
    line_end: str = "\n"
    null: str = ""
    header: bool = False

    @staticmethod
    def builder() -> CsvSchemaBuilder:
        return CsvSchemaBuilder()

    def size(self) -> int:
        return len(self.columns)


class CsvSchemaBuilder:
    """What a column holds is not checked: numbers, booleans and strings are all written plain."""

    def __init__(self) -> None:
        self._columns: list[str] = []
        self._options: dict[str, Any] = {}

    def add_string_column(self, name: str) -> CsvSchemaBuilder:
        self._columns.append(name)
        return self

    def add_number_column(self, name: str, number_type: Any = None) -> CsvSchemaBuilder:
        return self.add_string_column(name)

    def add_boolean_column(self, name: str) -> CsvSchemaBuilder:
        return self.add_string_column(name)

    def set_column_separator(self, char: str) -> CsvSchemaBuilder:
        self._options["separator"] = char
        return self

    def set_quote_char(self, char: str) -> CsvSchemaBuilder:
        self._options["quote"] = char
        return self

    def disable_quote_char(self) -> CsvSchemaBuilder:
        """A cell that would need quotes then fails the job."""
        self._options["quote"] = None
        return self

    def set_line_separator(self, separator: str) -> CsvSchemaBuilder:
        self._options["line_end"] = separator
        return self

    def set_null_value(self, null_value: str) -> CsvSchemaBuilder:
        self._options["null"] = null_value
        return self

    def set_use_header(self, use: bool = True) -> CsvSchemaBuilder:
        """A line of column names at the head of every file."""
        self._options["header"] = use
        return self

    def build(self) -> CsvSchema:
        if not self._columns:
            raise ValueError("a CsvSchema needs columns")
        return CsvSchema(tuple(self._columns), **self._options)


@dataclass(frozen=True)
class _Cells:
    schema: CsvSchema

    def __call__(self, value: Any) -> Sequence[Any]:
        cells = self._fields(value)
        if len(cells) != len(self.schema.columns):
            raise ValueError(f"{len(cells)} fields for {len(self.schema.columns)} columns")
        return [self._cell(each) for each in cells]

    def _fields(self, value: Any) -> list[Any]:
        if isinstance(value, dict):
            return [value.get(name) for name in self.schema.columns]
        return list(value) if isinstance(value, Row | tuple | list) else [value]

    def _cell(self, value: Any) -> Any:
        if value is None:
            return self.schema.null
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
