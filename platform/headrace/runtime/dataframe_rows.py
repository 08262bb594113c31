"""A DataFrame as a source: its rows on Spark, and how they are decoded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceStreamReader

from headrace.common.typeinfo import RowTypeInfo
from headrace.datastream.dataframes import DataFrameSource
from headrace.runtime import data_sources
from headrace.runtime.arrow_rows import ColumnsToRows
from headrace.runtime.parts import Part
from headrace.runtime.python_sources import _Reader

#: The one column that a DataFrame's own are in, whatever their names.
VALUE = "value"
SPLIT = "0"


def rows(spark: SparkSession, source: DataFrameSource) -> DataFrame:
    """A streaming DataFrame with one column. A static one is read once: in the batch that finds
    it new, and again when that batch is run again."""
    frame = source.dataframe
    if not frame.isStreaming:
        frame = frame.crossJoin(F.broadcast(once(spark)))
    return frame.select(F.struct(*[F.col(_quoted(name)) for name in source.columns]).alias(VALUE))


def count(source: DataFrameSource) -> int:
    """How many sources Spark sees of it."""
    leaves = source.dataframe._jdf.queryExecution().analyzed().collectLeaves().distinct()
    return sum(leaves.apply(at).isStreaming() for at in range(leaves.size())) or 1


def decoder(kind: RowTypeInfo) -> Callable[[pa.RecordBatch], Iterator[Part]]:
    to_rows: list[ColumnsToRows] = []

    def decode(batch: pa.RecordBatch) -> Iterator[Part]:
        if not to_rows:
            to_rows.append(ColumnsToRows(kind))
        values = to_rows[0].rows(batch.column(VALUE).flatten())
        yield Part(SPLIT, [(None, value) for value in values])

    return decode


def session_of(sources: Iterable[Any]) -> SparkSession | None:
    """Of the DataFrames among the sources. Raises ValueError for those of several."""
    found = [s.dataframe.sparkSession for s in sources if isinstance(s, DataFrameSource)]
    if any(each.sparkContext is not found[0].sparkContext for each in found):
        raise ValueError("the DataFrames of a job are of one SparkSession")
    return found[0] if found else None


def once(spark: SparkSession) -> DataFrame:
    """One row (`once_` boolean), in a query's first batch."""
    data_sources.register(spark, OnceData)
    return spark.readStream.format(OnceData.name()).load()


def ticks(spark: SparkSession, millis: int) -> DataFrame:
    """One row (`once_` boolean) in a batch, which there is every so many milliseconds."""
    data_sources.register(spark, TickData)
    return spark.readStream.format(TickData.name()).option("millis", str(millis)).load()


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


class OnceData(DataSource):
    @classmethod
    def name(cls) -> str:
        return "headrace-once"

    def schema(self) -> str:
        return "once_ boolean"

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        return _OnceReader()


class TickData(OnceData):
    """Option `millis`."""

    @classmethod
    def name(cls) -> str:
        return "headrace-ticks"

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        return _TickReader(int(self.options["millis"]))


class _OnceReader(_Reader):
    def position(self, start: int) -> int:
        return 1

    def rows(self, start: int, end: int) -> list[tuple[Any, ...]]:
        return [(True,)] if end > start else []


class _TickReader(_OnceReader):
    def __init__(self, millis: int) -> None:
        self._millis = millis

    def position(self, start: int) -> int:
        return int(time.time() * 1000) // self._millis
