"""Rows as ORC; PyFlink's `pyflink.datastream.formats.orc`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import orc

from headrace.common.configuration import Configuration
from headrace.common.typeinfo import TypeInformation
from headrace.connectors.files.formats import ROWS_AT_A_TIME, Format, PartWriter
from headrace.datastream.formats.columns import arrow_row, arrow_schema
from headrace.datastream.formats.csv_rows import row_type as row_type_of

__all__ = ["OrcBulkWriters"]


class OrcBulkWriters:
    """For `FileSink.for_bulk_format`."""

    @staticmethod
    def for_row_type(
        row_type: TypeInformation,
        writer_properties: Configuration | None = None,
        hadoop_config: Configuration | None = None,
    ) -> Format:
        """`row_type` as of ParquetBulkWriters. Raises TypeError for types without a column type."""
        for given in (writer_properties, hadoop_config):
            if given is not None and given.key_set():
                raise NotImplementedError("ORC is written without properties of Java's writer")
        kind = row_type_of(row_type)
        return OrcFormat(arrow_schema(kind), arrow_row(kind))


@dataclass(frozen=True)
class OrcFormat:
    """Rows of a schema; `row` makes the tuple of columns of a value."""

    schema: pa.Schema
    row: Callable[[Any], Sequence[Any]]
    suffix: str = ".orc"

    def open(self, path: Path) -> PartWriter:
        return _Part(path, self)


class _Part:
    def __init__(self, path: Path, format_: OrcFormat) -> None:
        self._file = path.open("xb")
        self._writer = orc.ORCWriter(self._file)
        self._format = format_
        self._rows: list[Sequence[Any]] = []
        #: A file has the schema of what is written to it, be it no row.
        self._write_rows()

    def write(self, value: Any) -> None:
        self._rows.append(self._format.row(value))
        if len(self._rows) >= ROWS_AT_A_TIME:
            self._write_rows()

    def size(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        if self._rows:
            self._write_rows()
        self._writer.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def _write_rows(self) -> None:
        schema = self._format.schema
        columns = zip(*self._rows, strict=True) if self._rows else [()] * len(schema)
        arrays = [pa.array(c, field.type) for c, field in zip(columns, schema, strict=True)]
        self._writer.write(pa.Table.from_arrays(arrays, schema=schema))
        self._rows = []
