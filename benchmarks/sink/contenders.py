"""The sinks that are compared, each as a streaming writer of the same frame."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from headrace.connectors.kafka.datasource import FORMAT, KafkaSink


@dataclass(frozen=True)
class Contender:
    name: str
    #: A writer of this frame to this topic, to be given a trigger and started.
    writer: Callable[[DataFrame, str], DataStreamWriter]


def contenders(spark: SparkSession, servers: str, home: Path) -> list[Contender]:
    """Their checkpoints go under `home`, a new one each time."""
    spark.dataSource.register(KafkaSink)

    def headrace(guarantee: str) -> Callable[[DataFrame, str], DataStreamWriter]:
        def writer(frame: DataFrame, topic: str) -> DataStreamWriter:
            options = {
                "kafka.bootstrap.servers": servers,
                "topic": topic,
                "deliveryGuarantee": guarantee,
                "checkpointLocation": str(home / uuid.uuid4().hex),
            }
            if guarantee == "exactly-once":
                options["transactionalIdPrefix"] = f"bench-{uuid.uuid4().hex[:8]}"
            return frame.writeStream.format(FORMAT).options(**options)

        return writer

    def spark_own(frame: DataFrame, topic: str) -> DataStreamWriter:
        return (
            frame.writeStream.format("kafka")
            .option("kafka.bootstrap.servers", servers)
            .option("topic", topic)
            .option("checkpointLocation", str(home / uuid.uuid4().hex))
        )

    return [
        Contender("Headrace, exactly-once", headrace("exactly-once")),
        Contender("Headrace, at-least-once", headrace("at-least-once")),
        Contender("Spark's sink (at-least-once)", spark_own),
    ]
