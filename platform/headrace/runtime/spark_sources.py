"""The API's sources as streaming DataFrames, and how their rows are decoded."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

import cloudpickle
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from headrace.common.serialization import DeserializationError, DeserializationSchema
from headrace.connectors.kafka import security
from headrace.datastream.connectors.file_system import FileSource
from headrace.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaSource
from headrace.runtime import kafka_topics, python_sources
from headrace.runtime.errors import JobFailed
from headrace.runtime.ingest import TIME_COLUMN, Decoder
from headrace.runtime.operators.operator import Element, OperatorError
from headrace.runtime.sources import DEAD_LETTERS, CollectionSource, DeadLetter, SocketSource
from headrace.wire import rundir

#: Records a micro-batch takes at most from one source, so that a backlog is worked off in
#: batches that end soon; `source.max-records-per-batch` in the job's configuration moves it.
MAX_RECORDS_PER_BATCH = 50_000


@dataclass
class Part:
    """Decoded rows of one split; see `ingest.Decoded`."""

    split: str
    elements: list[Element] = field(default_factory=list)
    rejected: dict[str, list[Element]] = field(default_factory=dict)
    arrived: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class SparkSource:
    """A source made ready: its rows, their decoder, and the splits known now."""

    rows: DataFrame
    decode: Decoder
    splits: tuple[str, ...]
    bounded: bool


def prepare(
    spark: SparkSession, source: Any, number: int, state_dir: Path, configuration: dict[str, str]
) -> SparkSource:
    """`state_dir` outlives the run. Raises UnknownTopic, JobFailed (Kafka does not answer)."""
    if isinstance(source, KafkaSource):
        return _kafka(spark, source, number, state_dir, configuration)
    if isinstance(source, FileSource):
        return _text(spark, source)
    if isinstance(source, CollectionSource):
        options = {"path": str(_kept_values(source, state_dir / f"collection-{number}.pickle"))}
        return _python(spark, python_sources.CollectionData, options, bounded=True)
    if isinstance(source, SocketSource):
        options = {"host": source.host, "port": str(source.port)}
        return _python(spark, python_sources.SocketData, options, bounded=False)
    raise TypeError(f"no way to read a {type(source).__name__} on Spark")


def control_rows(spark: SparkSession, path: Path) -> DataFrame:
    """(ended boolean, batch_time long): see `python_sources.ControlData`."""
    spark.dataSource.register(python_sources.ControlData)
    name = python_sources.ControlData.name()
    return _timed(spark.readStream.format(name).option("path", str(path)).load())


def _timed(rows: DataFrame) -> DataFrame:
    # Spark keeps a batch's timestamp in its offset log: a batch run again sees the same one
    return rows.withColumn(TIME_COLUMN, F.unix_millis(F.current_timestamp()))


def _python(
    spark: SparkSession, kind: Any, options: dict[str, str], *, bounded: bool
) -> SparkSource:
    spark.dataSource.register(kind)
    rows = spark.readStream.format(kind.name()).options(**options).load()
    return SparkSource(_timed(rows), _decode_pickled, ("0",), bounded)


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
        _timed(reduce(DataFrame.unionByName, rows)), _decode_text, ("0",), bounded=True
    )


def _lines(spark: SparkSession, path: str) -> DataFrame:
    reader = spark.readStream.format("text")
    if "://" in path or any(sign in path for sign in "*?["):
        return reader.load(path)
    local = Path(path).absolute()
    if not local.exists():
        raise JobFailed(f"the file source's path {path} does not exist", restartable=False)
    return reader.load(str(local) if local.is_dir() else _as_pattern(local))


def _as_pattern(file: Path) -> str:
    """A pattern that only this file matches: Spark takes a plain path for a folder's."""
    escaped = re.sub(r"([*?\[\]{}\\])", r"\\\1", str(file))
    return escaped[:-1] + f"[{escaped[-1]}]"


def _decode_text(batch: pa.RecordBatch) -> Iterator[Part]:
    yield Part("0", [(None, line) for line in batch.column("value").to_pylist()])


# --- Kafka


def _kafka(
    spark: SparkSession,
    source: KafkaSource,
    number: int,
    state_dir: Path,
    configuration: dict[str, str],
) -> SparkSource:
    partitions = kafka_topics.partitions(source)
    options = _kafka_options(source, partitions, configuration)
    rows = spark.readStream.format("kafka").options(**options).load()
    columns: list[Column | str] = [
        "key",
        "value",
        "topic",
        "partition",
        "offset",
        F.unix_millis("timestamp").alias("timestamp"),
    ]
    ends = _ends(source, partitions, state_dir / f"bounds-{number}.json")
    dead = None if source.on_error is None else source.on_error.topic is not None
    decode = _KafkaDecoder(source.deserializer, ends, dead_letters=dead)
    splits = tuple(f"{topic}-{p}" for topic, found in partitions.items() for p in found)
    return SparkSource(_timed(rows.select(*columns)), decode, splits, ends is not None)


def _kafka_options(
    source: KafkaSource, partitions: kafka_topics.Partitions, configuration: dict[str, str]
) -> dict[str, str]:
    options = {
        "kafka.bootstrap.servers": source.bootstrap_servers,
        "startingOffsets": "earliest",
        "failOnDataLoss": "true",
        "maxOffsetsPerTrigger": configuration.get(
            "source.max-records-per-batch", str(MAX_RECORDS_PER_BATCH)
        ),
        "kafka.isolation.level": "read_committed",
        **{f"kafka.{name}": value for name, value in _java_properties(source).items()},
        **_start(source.start, partitions),
    }
    if source.group_id:
        options["groupIdPrefix"] = source.group_id
    if source.topic_pattern is not None:
        options["subscribePattern"] = source.topic_pattern
    else:
        options["subscribe"] = ",".join(source.topics)
    return options


def _java_properties(source: KafkaSource) -> dict[str, str]:
    try:
        return security.for_java(source.properties)
    except ValueError as error:
        raise JobFailed(f"Source {source.described}: {error}", restartable=False) from error


def _start(start: KafkaOffsetsInitializer, partitions: dict[str, list[int]]) -> dict[str, str]:
    if start.mode in ("earliest", "latest"):
        return {"startingOffsets": start.mode}
    if start.mode == "timestamp":
        return {
            "startingTimestamp": str(start.timestamp_ms),
            "startingOffsetsByTimestampStrategy": "latest",
        }
    named = {(tp.topic, tp.partition): offset for tp, offset in start.partition_offsets}
    offsets = {
        topic: {str(p): named.get((topic, p), -2) for p in found}
        for topic, found in partitions.items()
    }
    return {"startingOffsets": json.dumps(offsets)}


def _ends(
    source: KafkaSource, partitions: dict[str, list[int]], kept: Path
) -> dict[str, dict[str, int]] | None:
    """Where a bounded source ends, as found at the job's first start."""
    if source.stop is None:
        return None
    if not kept.exists():
        rundir.write_atomically(kept, json.dumps(kafka_topics.ends(source, partitions)).encode())
    ends: dict[str, dict[str, int]] = json.loads(kept.read_text())
    return ends


class _KafkaDecoder:
    """Rows of a Kafka source, split by split; unreadable ones as the source was told. A
    partition that `ends` does not know appeared after a bounded job's start: none of it is read."""

    def __init__(
        self,
        schema: DeserializationSchema,
        ends: dict[str, dict[str, int]] | None,
        *,
        dead_letters: bool | None,
    ) -> None:
        self._schema = schema
        self._ends = ends
        #: None: fail; True: to the side output; False: drop.
        self._dead_letters = dead_letters

    def __call__(self, batch: pa.RecordBatch) -> Iterable[Part]:
        columns = [batch.column(i).to_pylist() for i in range(6)]
        parts: dict[tuple[str, int], Part] = {}
        for key, value, topic, partition, offset, timestamp in zip(*columns, strict=True):
            part = parts.get((topic, partition))
            if part is None:
                part = parts[topic, partition] = Part(f"{topic}-{partition}")
            if self._ends is None or offset < self._ends.get(topic, {}).get(str(partition), 0):
                part.arrived.append(timestamp)
                self._decode(part, key, value, topic, partition, offset, timestamp)
        return parts.values()

    def _decode(
        self,
        part: Part,
        key: bytes | None,
        value: bytes | None,
        topic: str,
        partition: int,
        offset: int,
        timestamp: int,
    ) -> None:
        try:
            decoded = self._schema.deserialize(value)
        except DeserializationError as error:
            if self._dead_letters is None:
                raise OperatorError(
                    f"Source: {topic}", value, f"{topic}-{partition} offset {offset}: {error}"
                ) from error
            letter = DeadLetter(key, value, str(error), topic, partition, offset)
            part.rejected.setdefault(DEAD_LETTERS, []).append((None, letter))
        else:
            if decoded is not None:
                part.elements.append((timestamp, decoded))
