"""A plain PySpark program that copies a topic with the sink: no platform, no job.

query.py <jars> <servers> <from topic> <to topic> <prefix> <timeout, ms> <checkpoint> <stop file>

Ends when the stop file appears, or with the error that ended the query.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from headrace.connectors.kafka.datasource import KafkaSink


def main() -> None:
    jars, servers, source, target, prefix, timeout_ms, checkpoint, stop = sys.argv[1:]
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local[2,4]")
        .config("spark.jars", jars)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("WARN")
    spark.dataSource.register(KafkaSink)
    query = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", source)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", 5000)
        .load()
        .selectExpr("key", "value")
        .writeStream.format("headrace-kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("topic", target)
        .option("transactionalIdPrefix", prefix)
        .option("transactionTimeoutMs", timeout_ms)
        .option("checkpointLocation", checkpoint)
        .trigger(processingTime="200 milliseconds")
        .start()
    )
    while not query.awaitTermination(1):
        if Path(stop).exists():
            query.stop()


if __name__ == "__main__":
    main()
