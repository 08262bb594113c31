"""Spark reads a topic of the embedded broker with the locked jars."""

from __future__ import annotations

from confluent_kafka import Producer
from pyspark.sql import SparkSession

from workers.embedded.kafka import ensure_topics


def test_spark_reads_what_is_in_the_topic(spark: SparkSession, kafka: str) -> None:
    ensure_topics(kafka, {"connector": 2})
    producer = Producer({"bootstrap.servers": kafka})
    for number in range(10):
        producer.produce("connector", value=str(number), partition=number % 2)
    producer.flush(10)

    rows = (
        spark.read.format("kafka")
        .option("kafka.bootstrap.servers", kafka)
        .option("subscribe", "connector")
        .load()
        .selectExpr("CAST(value AS STRING) AS value", "partition")
        .collect()
    )

    assert sorted((int(row.value), row.partition) for row in rows) == [
        (number, number % 2) for number in range(10)
    ]
