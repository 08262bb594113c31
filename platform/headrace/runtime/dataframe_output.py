"""A stream as a DataFrame: the operators that lead to it are part of the DataFrame's own plan."""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from headrace.common.typeinfo import RowTypeInfo
from headrace.datastream.connectors.base import Sink
from headrace.datastream.dataframes import DataFrameSource
from headrace.runtime import (
    dataframe_rows,
    frames,
    spark_plan,
    spark_session,
    spark_sources,
    spark_types,
)
from headrace.runtime.arrow_rows import RowsToColumns
from headrace.runtime.operators.operator import OperatorError
from headrace.runtime.program import PackedProgram, Program
from headrace.runtime.sources import CollectionSource
from headrace.runtime.transformations import (
    GraphError,
    SourceTransformation,
    Transformation,
    upstream,
)


@dataclass(frozen=True)
class DataFrameSink(Sink):
    """Where the stream goes on as a DataFrame of these columns."""

    kind: RowTypeInfo

    @property
    def described(self) -> str:
        return "dataframe"


#: What sources keep for the queries of this process.
_kept: list[tempfile.TemporaryDirectory[str]] = []


def session(ends: list[Transformation]) -> SparkSession:
    """Of the DataFrames that lead there, else the active one, else a new one."""
    sources = [node.source for node in upstream(ends) if isinstance(node, SourceTransformation)]
    found = dataframe_rows.session_of(sources)
    return found or SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def dataframe(
    spark: SparkSession, program: Program, schema: StructType, ticks: int | None
) -> DataFrame:
    """Of a program whose one sink is a DataFrameSink. Raises GraphError, NotImplementedError."""
    _refuse_sources(program)
    spark_session.prepare(spark)
    _kept.append(tempfile.TemporaryDirectory(prefix="headrace-"))
    folder = Path(_kept[-1].name)
    prepared = spark_plan.prepare(spark, program, folder, {}, {})
    bounded = spark_plan.bounded(prepared)
    _refuse_mix(program, prepared)
    control = None
    if bounded:
        control = dataframe_rows.once(spark)
    elif ticks:
        control = dataframe_rows.ticks(spark, ticks)
    if control is not None:
        told = F.lit(bounded).alias("ended"), F.lit("[]").alias("splits")
        control = spark_sources.timed(control.select(*told))
    packed, plan = spark_plan.frames_of(spark, program, prepared, control)
    [(number, sink)] = program.sinks.items()
    name = program.nodes[number].name
    unpack = _unpack(packed, number, name, sink, to_arrow_schema(schema, timezone="UTC"))
    return plan.where(F.col("op") == number).select("frame").mapInArrow(unpack, schema)


def _unpack(
    packed: PackedProgram, number: int, name: str, sink: DataFrameSink, schema: pa.Schema
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        packed.unpack()  # classes of the program's script, which values may be of
        columns = RowsToColumns(sink.kind, schema, spark_types.into_columns(sink.kind))
        for batch in batches:
            for frame in batch.column("frame"):
                values = [value for _, _, value in frames.unpack(frame.as_py())]
                try:
                    yield columns.batch(values)
                except Exception as error:
                    what = f"one of {len(values)} values, the first of them {values[0]!r:.150}"
                    raise OperatorError(name, what, traceback.format_exc()) from error

    return run


def _refuse_mix(program: Program, prepared: spark_plan.Prepared) -> None:
    """Nobody sees where a source of such a query ends."""
    ending = [number for number, source in prepared.items() if source.bounded]
    timed = any(g.strategy.assigner and not g.strategy.silent for g in program.generators.values())
    if timed and ending and len(ending) < len(prepared):
        names = ", ".join(program.sources[number].described for number in ending)
        raise GraphError(
            f"the stream has event time, and sources that end ({names}) beside sources that do "
            "not: in a stream that becomes a DataFrame event time would wait for them for ever. "
            "Make all sources bounded, or none, or end the stream in a sink"
        )


def _refuse_sources(program: Program) -> None:
    for number, source in program.sources.items():
        if not isinstance(source, DataFrameSource | CollectionSource):
            raise NotImplementedError(
                f"{program.nodes[number].name!r} cannot be read by a stream that becomes a "
                "DataFrame: its positions are kept beside a job's checkpoint, and this is a query "
                "with a checkpoint of its own. Read it by Spark (spark.readStream) and "
                "env.from_dataframe, or end the stream in a sink"
            )
