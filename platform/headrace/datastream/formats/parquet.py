"""Rows as Parquet; PyFlink's `pyflink.datastream.formats.parquet`."""

from __future__ import annotations

from typing import Any

from headrace.common.typeinfo import RowTypeInfo, TypeInformation
from headrace.connectors.files.formats import Format, ParquetFormat
from headrace.datastream.formats.columns import arrow_row, arrow_schema

__all__ = ["ParquetBulkWriters"]


class ParquetBulkWriters:
    """For `FileSink.for_bulk_format`."""

    @staticmethod
    def for_row_type(
        row_type: TypeInformation, hadoop_config: Any = None, utc_timestamp: bool = True
    ) -> Format:
        """`row_type` is Types.ROW_NAMED (PyFlink's is a table row type). Instants become
        timestamps of microseconds in UTC. Raises TypeError for types without a column type."""
        if not isinstance(row_type, RowTypeInfo):
            raise TypeError("the type of Parquet rows is Types.ROW or Types.ROW_NAMED")
        if hadoop_config is not None or not utc_timestamp:
            raise NotImplementedError("no Hadoop configuration, and timestamps in UTC only")
        return ParquetFormat(arrow_schema(row_type), arrow_row(row_type))
