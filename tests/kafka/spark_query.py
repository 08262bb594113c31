"""A PySpark program that copies a topic with the sink, as a user without the platform writes it.

python -m tests.kafka.spark_query <jars> <servers> <from topic> <to topic> <prefix> <checkpoint>
"""

from __future__ import annotations

import os
import sys

from pyspark.sql import SparkSession

from headrace.connectors.kafka.datasource import KafkaSink


def main() -> None:
    jars, servers, source, target, prefix, checkpoint = sys.argv[1:]
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", jars)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    spark.dataSource.register(KafkaSink)
    read = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", source)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", 300)
        .load()
    )
    query = (
        read.selectExpr("key", "value")
        .writeStream.format("headrace-kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("topic", target)
        .option("transactionalIdPrefix", prefix)
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


if __name__ == "__main__":
    main()
