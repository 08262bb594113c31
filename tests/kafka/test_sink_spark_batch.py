"""`df.write.format("headrace-kafka")`: a batch without a checkpoint."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.readwriter import DataFrameWriter

from headrace.connectors.kafka.datasource import KafkaSink
from tests.kafka import brokers


@pytest.fixture
def numbers(spark: SparkSession) -> DataFrame:
    spark.dataSource.register(KafkaSink)
    return spark.range(5).selectExpr("CAST(id AS STRING) AS value", "CAST(1 AS INT) AS partition")


def to_kafka(frame: DataFrame, servers: str, topic: str) -> DataFrameWriter:
    return (
        frame.write.format("headrace-kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("kafka.sasl.password", "hunter2")
        .option("topic", topic)
        .mode("append")
    )


def test_a_batch_is_written_at_least_once(numbers: DataFrame, kafka: str) -> None:
    topic = brokers.new_topic(kafka, 2)
    to_kafka(numbers, kafka, topic).option("deliveryGuarantee", "at-least-once").save()
    assert brokers.read(kafka, topic) == ["0", "1", "2", "3", "4"]


def test_a_batch_that_is_to_be_exactly_once_is_refused(numbers: DataFrame, kafka: str) -> None:
    with pytest.raises(AnalysisException, match="so it cannot be exactly-once") as refused:
        to_kafka(numbers, kafka, "nowhere").save()
    assert "hunter2" not in str(refused.value)
