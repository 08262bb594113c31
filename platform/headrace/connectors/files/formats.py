"""What is in a part file: rows one after the other, or columns in bulk."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from headrace.common.serialization import SerializationSchema

#: Rows of a Parquet file that are turned into columns together.
ROWS_AT_A_TIME = 10_000


class PartWriter(Protocol):
    """One open file."""

    def write(self, value: Any) -> None: ...

    def size(self) -> int:
        """Bytes so far, as far as is known."""

    def close(self) -> None:
        """Everything is on disk when this returns."""


class Format(Protocol):
    """Picklable."""

    @property
    def suffix(self) -> str:
        """Ends file names that nobody gave another."""

    def open(self, path: Path) -> PartWriter: ...


@dataclass(frozen=True)
class RowFormat:
    """One line a value, as the encoder writes it."""

    encoder: SerializationSchema
    suffix: str = ""

    def open(self, path: Path) -> PartWriter:
        return _Lines(path, self.encoder.serialize)


@dataclass(frozen=True)
class ParquetFormat:
    """Rows of a schema; `row` makes the tuple of columns of a value."""

    schema: pa.Schema
    row: Callable[[Any], Sequence[Any]]
    suffix: str = ".parquet"

    def open(self, path: Path) -> PartWriter:
        return _Parquet(path, self.schema, self.row)


@dataclass(frozen=True)
class CsvFormat:
    """Lines of text: `line` makes that of a value, with its end."""

    line: Callable[[Any], str]
    header: str = ""
    suffix: str = ".csv"

    def open(self, path: Path) -> PartWriter:
        return _Csv(path, self)


class _Lines:
    def __init__(self, path: Path, encode: Callable[[Any], bytes | None]) -> None:
        self._file = path.open("xb", buffering=1 << 18)
        self._encode = encode
        self._size = 0

    def write(self, value: Any) -> None:
        line = (self._encode(value) or b"") + b"\n"
        self._size += len(line)
        self._file.write(line)

    def size(self) -> int:
        return self._size

    def close(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()


class _Parquet:
    def __init__(self, path: Path, schema: pa.Schema, row: Callable[[Any], Sequence[Any]]) -> None:
        self._file = path.open("xb")
        self._writer = pq.ParquetWriter(self._file, schema)
        self._schema = schema
        self._row = row
        self._rows: list[Sequence[Any]] = []

    def write(self, value: Any) -> None:
        self._rows.append(self._row(value))
        if len(self._rows) >= ROWS_AT_A_TIME:
            self._write_rows()

    def size(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        self._write_rows()
        self._writer.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def _write_rows(self) -> None:
        if not self._rows:
            return
        columns = zip(*self._rows, strict=True)
        arrays = [
            pa.array(column, field.type)
            for column, field in zip(columns, self._schema, strict=True)
        ]
        self._rows = []
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))


class _Csv:
    def __init__(self, path: Path, format_: CsvFormat) -> None:
        self._file: TextIO = path.open("x", encoding="utf-8", newline="")
        self._line = format_.line
        self._file.write(format_.header)

    def write(self, value: Any) -> None:
        self._file.write(self._line(value))

    def size(self) -> int:
        return self._file.buffer.tell()

    def close(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
