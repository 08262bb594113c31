"""Rows as Parquet; PyFlink's `pyflink.datastream.formats.parquet`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from headrace.common.typeinfo import TypeInformation
from headrace.common.types import Row
from headrace.connectors.files.formats import Format, ParquetFormat
from headrace.datastream.connectors.file_source import BulkFormat
from headrace.datastream.formats.columns import arrow_row, arrow_schema
from headrace.datastream.formats.csv_rows import row_type as row_type_of

__all__ = ["ParquetBulkWriters", "ParquetColumnarRowInputFormat"]


class ParquetBulkWriters:
    """For `FileSink.for_bulk_format`."""

    @staticmethod
    def for_row_type(
        row_type: TypeInformation, hadoop_config: Any = None, utc_timestamp: bool = True
    ) -> Format:
        """`row_type` is Types.ROW_NAMED, a dataclass, or PyFlink's DataTypes.ROW. Instants become
        timestamps of microseconds in UTC. Raises TypeError for types without a column type."""
        row_type = row_type_of(row_type)
        if hadoop_config is not None or not utc_timestamp:
            raise NotImplementedError("no Hadoop configuration, and timestamps in UTC only")
        return ParquetFormat(arrow_schema(row_type), arrow_row(row_type))


class ParquetColumnarRowInputFormat(BulkFormat):
    """Rows of these columns of Parquet files, for `FileSource.for_bulk_file_format`. A column that
    a file does not have is None in its rows."""

    def __init__(
        self,
        row_type: Any,
        hadoop_config: Any = None,
        batch_size: int = 2048,
        is_utc_timestamp: bool = True,
        is_case_sensitive: bool = True,
    ) -> None:
        if hadoop_config is not None or not is_utc_timestamp:
            raise NotImplementedError("no Hadoop configuration, and timestamps in UTC only")
        self._type = row_type_of(row_type)
        self._batch_size = batch_size
        self._case_sensitive = is_case_sensitive

    @property
    def produced_type(self) -> TypeInformation:  # type: ignore[override]
        return self._type

    def read(self, path: str) -> Iterator[Row]:
        with Path(path).open("rb") as opened:
            file = pq.ParquetFile(opened)
            there = {self._folded(name): name for name in file.schema_arrow.names}
            found = {n: there.get(self._folded(n)) for n in self._type.field_names}
            columns = [name for name in found.values() if name is not None]
            for batch in file.iter_batches(self._batch_size, columns=columns):
                for values in batch.to_pylist(maps_as_pydicts="strict"):
                    given = {name: values.get(column) for name, column in found.items()}
                    yield self._type.check(given, path)

    def _folded(self, name: str) -> str:
        return name if self._case_sensitive else name.lower()
