"""The API's sources as streaming DataFrames, and how their rows are decoded."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import cloudpickle
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headrace.datastream.connectors.file_source import FileSource, TextLineFormat
from headrace.datastream.connectors.python_source import PythonSource
from headrace.datastream.dataframes import DataFrameSource
from headrace.runtime import (
    data_sources,
    dataframe_rows,
    python_sources,
    spark_kafka,
    spark_python_source,
)
from headrace.runtime.errors import JobFailed
from headrace.runtime.ingest import TIME_COLUMN, Decoder
from headrace.runtime.kafka_input import KafkaInput
from headrace.runtime.parts import Part
from headrace.runtime.sources import CollectionSource, SocketSource
from headrace.wire import rundir
from headrace.wire.failures import Cause

#: Records a micro-batch takes at most from one source, so that a backlog is worked off in
#: batches that end soon; `source.max-records-per-batch` in the job's configuration moves it.
MAX_RECORDS_PER_BATCH = 50_000


@dataclass(frozen=True)
class SparkSource:
    """A source made ready: its rows, their decoder, and the splits known now."""

    rows: DataFrame
    decode: Decoder
    splits: tuple[str, ...]
    bounded: bool


def count(source: Any) -> int:
    """How many sources Spark sees of one of the API's."""
    if isinstance(source, DataFrameSource):
        return dataframe_rows.count(source)
    lines = isinstance(source, FileSource) and source.format == TextLineFormat()
    return len(source.paths) if lines else 1


def prepare(
    spark: SparkSession,
    source: Any,
    number: int,
    state_dir: Path,
    configuration: dict[str, str],
    kafka: KafkaInput | None,
    parallelism: int,
) -> SparkSource:
    """`state_dir` outlives the run; `kafka` is a Kafka source made ready; `parallelism` is the
    job's: what a cluster offers at the moment may differ when a batch is run again. Raises
    JobFailed."""
    if kafka is not None:
        most = configuration.get("source.max-records-per-batch", str(MAX_RECORDS_PER_BATCH))
        rows = spark_kafka.rows(spark, kafka, {"maxOffsetsPerTrigger": most})
        decode = spark_kafka.decoder(kafka.source)
        return SparkSource(timed(rows), decode, kafka.splits, kafka.source.bounded)
    if isinstance(source, FileSource) and source.format == TextLineFormat():
        return _text(spark, source)
    if isinstance(source, FileSource):
        source = source.reading()
    if isinstance(source, PythonSource):
        return _custom(spark, source, state_dir / f"source-{number}.pickle", parallelism)
    if isinstance(source, DataFrameSource):
        rows = timed(dataframe_rows.rows(spark, source))
        to_rows = dataframe_rows.decoder(source.produced_type)
        return SparkSource(rows, to_rows, (dataframe_rows.SPLIT,), source.bounded)
    if isinstance(source, CollectionSource):
        options = {"path": str(_kept_values(source, state_dir / f"collection-{number}.pickle"))}
        return _python(spark, python_sources.CollectionData, options, bounded=True)
    if isinstance(source, SocketSource):
        options = {"host": source.host, "port": str(source.port)}
        options["closed"] = str(closed_socket(state_dir, number))
        return _python(spark, python_sources.SocketData, options, bounded=False)
    raise TypeError(f"no way to read a {type(source).__name__} on Spark")


def closed_socket(state_dir: Path, number: int) -> Path:
    """The file that says that the server behind a source closed the connection. It is of one
    attempt: another one connects again."""
    return state_dir / f"socket-{number}.closed"


def control_rows(spark: SparkSession, path: Path, pause_ms: int = 0) -> DataFrame:
    """(ended boolean, splits string, batch_time long): see `python_sources.ControlData`."""
    data_sources.register(spark, python_sources.ControlData)
    name = python_sources.ControlData.name()
    options = {"path": str(path), "pause": str(pause_ms)}
    return timed(spark.readStream.format(name).options(**options).load())


def timed(rows: DataFrame) -> DataFrame:
    """With the batch's time."""
    # Spark keeps a batch's timestamp in its offset log: a batch run again sees the same one
    return rows.withColumn(TIME_COLUMN, F.unix_millis(F.current_timestamp()))


def _python(
    spark: SparkSession, kind: Any, options: dict[str, str], *, bounded: bool
) -> SparkSource:
    data_sources.register(spark, kind)
    rows = spark.readStream.format(kind.name()).options(**options).load()
    return SparkSource(timed(rows), _decode_pickled, ("0",), bounded)


def _custom(spark: SparkSession, source: PythonSource, path: Path, parallelism: int) -> SparkSource:
    kind = spark_python_source.PythonSourceData
    data_sources.register(spark, kind)
    options = spark_python_source.options(source, path, parallelism)
    rows = spark.readStream.format(kind.name()).options(**options).load()
    splits = (spark_python_source.SPLIT,)
    return SparkSource(timed(rows), spark_python_source.decode, splits, source.bounded)


def _kept_values(source: CollectionSource, kept: Path) -> Path:
    """The values as they were at the job's first start: offsets are positions among them. Those
    of classes of the job's own script travel by value."""
    if not kept.exists():
        rundir.write_atomically(kept, cloudpickle.dumps(source.values, 5))
    return kept


def _decode_pickled(batch: pa.RecordBatch) -> Iterator[Part]:
    for chunk in batch.column("values"):
        yield Part("0", [(None, value) for value in pickle.loads(chunk.as_py())])


def _text(spark: SparkSession, source: FileSource) -> SparkSource:
    rows = [_lines(spark, path) for path in source.paths]
    return SparkSource(
        timed(reduce(DataFrame.unionByName, rows)), _decode_text, ("0",), source.bounded
    )


def _lines(spark: SparkSession, path: str) -> DataFrame:
    reader = spark.readStream.format("text").option("recursiveFileLookup", "true")
    if "://" in path or any(sign in path for sign in "*?["):
        return reader.load(path)
    local = Path(path).absolute()
    if not local.exists():
        raise JobFailed(f"the file source's path {path} does not exist", cause=Cause.MISSING)
    return reader.load(str(local) if local.is_dir() else _as_pattern(local))


def _as_pattern(file: Path) -> str:
    """A pattern that only this file matches: Spark takes a plain path for a folder's."""
    escaped = re.sub(r"([*?\[\]{}\\])", r"\\\1", str(file))
    return escaped[:-1] + f"[{escaped[-1]}]"


def _decode_text(batch: pa.RecordBatch) -> Iterator[Part]:
    yield Part("0", [(None, line) for line in batch.column("value").to_pylist()])
