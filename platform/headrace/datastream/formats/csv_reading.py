"""Files of CSV, row by row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from headrace.common.type_base import TypeMismatch
from headrace.common.typeinfo import RowTypeInfo, TypeInformation
from headrace.common.types import Row
from headrace.datastream.connectors.file_source import StreamFormat, open_binary
from headrace.datastream.formats import text_values
from headrace.datastream.formats.csv_schema import CsvSchema


class _TableRow(RowTypeInfo):
    """What PyFlink reads of CSV are rows of tables, which print in a form of their own."""

    def printed(self, value: Any) -> str:
        pairs = zip(self.field_types, value, strict=True)
        return f"{value.get_row_kind()}({','.join(kind.format(v) for kind, v in pairs)})"


class CsvReaderFormat(StreamFormat):
    """Rows of the schema's columns. A row that does not fit fails the job, naming file and line."""

    def __init__(self, schema: CsvSchema) -> None:
        self._schema = schema

    @staticmethod
    def for_schema(schema: CsvSchema) -> CsvReaderFormat:
        return CsvReaderFormat(schema)

    @property
    def produced_type(self) -> TypeInformation:  # type: ignore[override]
        return _TableRow(tuple(self._schema.types), tuple(self._schema.columns))

    def read(self, path: str) -> Iterator[Row]:
        schema = self._schema
        names = schema.columns
        reads = [
            text_values.reader(kind, schema.null, schema.separator_of(name))
            for name, kind in zip(names, schema.types, strict=True)
        ]
        with open_binary(path) as file:
            lines = csv.reader(_text(file, schema), **_dialect(schema))
            try:
                for cells in self._data(lines, path):
                    if len(cells) != len(names):
                        raise ValueError(f"{len(cells)} fields, not {len(names)}")
                    values = zip(reads, cells, names, strict=True)
                    yield Row._named(names, [read(c, f"field {name}") for read, c, name in values])
            except (ValueError, TypeMismatch, csv.Error) as error:
                raise ValueError(f"{path}, line {lines.line_num}: {error}") from error

    def _data(self, lines: Any, path: str) -> Iterator[list[str]]:
        if self._schema.header:
            head = next(lines, None)
            if self._schema.strict_headers and tuple(head or ()) != self._schema.columns:
                raise ValueError(f"the columns are {head}, not {list(self._schema.columns)}")
        if self._schema.skip_first:
            next(lines, None)
        for cells in lines:
            if cells:  # not an empty line
                yield cells


def _text(file: Any, schema: CsvSchema) -> Iterator[str]:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    if not schema.comments:
        return text
    return (line for line in text if not line.startswith("#"))


def _dialect(schema: CsvSchema) -> dict[str, Any]:
    return {
        "delimiter": schema.separator,
        "quotechar": schema.quote,
        "quoting": csv.QUOTE_NONE if schema.quote is None else csv.QUOTE_MINIMAL,
        "escapechar": schema.escape,
        "strict": True,
    }
