"""A Kafka source as rows of Spark, and how they are decoded."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from headrace.common.serialization import DeserializationError, DeserializationSchema
from headrace.datastream.connectors.kafka import KafkaSource
from headrace.runtime.kafka_brokers import Offsets, each
from headrace.runtime.kafka_input import KafkaInput, client_options
from headrace.runtime.operators.operator import OperatorError
from headrace.runtime.parts import Part
from headrace.runtime.sources import DEAD_LETTERS, DeadLetter


def rows(spark: SparkSession, kafka: KafkaInput, limits: dict[str, str]) -> DataFrame:
    """(key, value, topic, partition, offset, timestamp in ms), up to where the source ends.
    Raises JobFailed."""
    columns: list[Column | str] = ["key", "value", "topic", "partition", "offset"]
    options = {**consumer(kafka.source), **kafka.options(), **limits}
    read = spark.readStream.format("kafka").options(**options).load()
    chosen = read.select(*columns, F.unix_millis("timestamp").alias("timestamp"))
    return chosen if kafka.kept.ends is None else chosen.where(_before(kafka.kept.ends))


def consumer(source: KafkaSource) -> dict[str, str]:
    """Options of Spark's source that do not say what to read. Spark never passes over a loss: what
    a source that goes on leaves out is worked out and counted before (`kafka_losses`)."""
    prefix = {"groupIdPrefix": source.group_id} if source.group_id else {}
    return {
        "kafka.bootstrap.servers": source.bootstrap_servers,
        "kafka.isolation.level": "read_committed",
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
        columns = [batch.column(i).to_pylist() for i in range(6)]
        parts: dict[tuple[str, int], Part] = {}
        for key, value, topic, partition, offset, timestamp in zip(*columns, strict=True):
            part = parts.get((topic, partition))
            if part is None:
                part = parts[topic, partition] = Part(f"{topic}-{partition}")
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
