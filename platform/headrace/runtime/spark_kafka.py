"""A Kafka source as rows of Spark, and how they are decoded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from headrace.common.serialization import (
    DeserializationError,
    DeserializationSchema,
    SimpleStringSchema,
)
from headrace.datastream.connectors.kafka import KafkaSource
from headrace.runtime.errors import JobFailed
from headrace.runtime.kafka_brokers import Offsets, each
from headrace.runtime.kafka_input import KafkaInput, client_options
from headrace.runtime.operators.operator import OperatorError
from headrace.runtime.parts import Part
from headrace.runtime.sources import DEAD_LETTERS, DeadLetter

_NO_CONNECTOR = (
    "Spark's Kafka connector is not on the class path. The platform brings it; without it, name "
    "its jars in HEADRACE_SPARK_JARS, or set spark.jars.packages to "
    "org.apache.spark:spark-sql-kafka-0-10_2.13 of version"
)

#: A task whose partition gets nothing newer waits this long for an answer without records; Kafka's
#: own default is 500 ms, for each partition of a batch. Measured in docs/performance.md.
_FETCH_WAIT_MS = "20"


def rows(spark: SparkSession, kafka: KafkaInput, limits: dict[str, str]) -> DataFrame:
    """(key, value, topic, partition, offset, timestamp in ms), up to where the source ends.
    Raises JobFailed."""
    columns: list[Column | str] = ["key", "value", "topic", "partition", "offset"]
    options = {**consumer(kafka.source), **kafka.options(), **limits}
    try:
        read = spark.readStream.format("kafka").options(**options).load()
    except AnalysisException as error:
        if "find data source: kafka" not in str(error):
            raise
        raise JobFailed(f"{_NO_CONNECTOR} {spark.version}", restartable=False) from None
    chosen = read.select(*columns, F.unix_millis("timestamp").alias("timestamp"))
    return chosen if kafka.kept.ends is None else chosen.where(_before(kafka.kept.ends))


def consumer(source: KafkaSource) -> dict[str, str]:
    """Options of Spark's source that do not say what to read. Spark never passes over a loss: what
    a source that goes on leaves out is worked out and counted before (`kafka_losses`)."""
    prefix = {"groupIdPrefix": source.group_id} if source.group_id else {}
    return {
        "kafka.bootstrap.servers": source.bootstrap_servers,
        "kafka.isolation.level": "read_committed",
        "kafka.fetch.max.wait.ms": _FETCH_WAIT_MS,
        **{f"kafka.{name}": value for name, value in client_options(source).items()},
        "failOnDataLoss": "true",
        **prefix,
    }


def decoder(source: KafkaSource) -> KafkaDecoder:
    dead = None if source.on_error is None else source.on_error.topic is not None
    return KafkaDecoder(source.deserializer, dead_letters=dead)


def _before(ends: Offsets) -> Column:
    known = [(f"{partition} {topic}", end) for topic, partition, end in each(ends)]
    if not known:
        return F.lit(False)
    pairs = [F.lit(value) for pair in known for value in pair]
    return F.col("offset") < F.create_map(*pairs)[F.concat_ws(" ", "partition", "topic")]


class KafkaDecoder:
    """Rows of a Kafka source, split by split; unreadable ones as the source was told."""

    def __init__(self, schema: DeserializationSchema, *, dead_letters: bool | None) -> None:
        self._schema = schema
        #: None: fail; True: to the side output; False: drop.
        self._dead_letters = dead_letters

    def __call__(self, batch: pa.RecordBatch) -> Iterable[Part]:
        topics, partitions = batch.column("topic"), batch.column("partition").to_numpy()
        if (partitions == partitions[0]).all() and len(topics.unique()) == 1:
            return [self._part(batch, f"{topics[0].as_py()}-{partitions[0]}")]
        splits = sorted(set(zip(topics.to_pylist(), partitions.tolist(), strict=True)))
        return [
            self._part(
                batch.filter(pc.and_(pc.equal(topics, topic), pa.array(partitions == partition))),
                f"{topic}-{partition}",
            )
            for topic, partition in splits
        ]

    def _part(self, batch: pa.RecordBatch, split: str) -> Part:
        arrived = batch.column("timestamp").to_numpy()
        part = Part(split, arrived=arrived)
        values = batch.column("value")
        texts = _texts(values) if type(self._schema) is SimpleStringSchema else None
        if texts is not None:
            part.elements = list(zip(arrived.tolist(), texts, strict=True))
        else:
            self._decode(batch, values.to_numpy(zero_copy_only=False), part)
        return part

    def _decode(self, batch: pa.RecordBatch, values: Iterable[bytes | None], part: Part) -> None:
        send, deserialize = part.elements.append, self._schema.deserialize
        rows = enumerate(zip(part.arrived.tolist(), values, strict=True))
        row, ended = 0, False
        while not ended:
            try:
                for row, (timestamp, value) in rows:  # noqa: B007 - the one that failed
                    decoded = deserialize(value)
                    if decoded is not None:
                        send((timestamp, decoded))
                ended = True
            except DeserializationError as error:
                self._reject(batch.slice(row, 1).to_pylist()[0], error, part)

    def _reject(self, row: dict[str, Any], error: DeserializationError, part: Part) -> None:
        topic, partition, offset = row["topic"], row["partition"], row["offset"]
        if self._dead_letters is None:
            raise OperatorError(
                f"Source: {topic}", row["value"], f"{topic}-{partition} offset {offset}: {error}"
            ) from error
        letter = DeadLetter(row["key"], row["value"], str(error), topic, partition, offset)
        part.rejected.setdefault(DEAD_LETTERS, []).append((None, letter))


def _texts(values: pa.Array) -> list[str] | None:
    """All at once; None where one of them is no text in UTF-8."""
    if values.null_count:
        return None
    try:
        texts: list[str] = values.cast(pa.string()).to_numpy(zero_copy_only=False).tolist()
    except pa.ArrowInvalid:
        return None
    return texts
