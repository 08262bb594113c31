"""The count of a key's records as Spark's own aggregate: no Python sees a record."""

from __future__ import annotations

import time
import uuid

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from benchmarks.dataflow.running import Machine, Mark, Run, context_of, mark
from headrace.runtime import spark_session

LOOK_SECONDS = 0.02


def run(machine: Machine, servers: str, topic: str, warm_up: int) -> Run:
    """As `running.run`, with the settings that every job has."""
    folder = machine.home / uuid.uuid4().hex
    folder.mkdir(parents=True)
    spark = spark_session.start(context_of("native count", machine, folder), machine.cores)
    try:
        writer = _counts(spark, servers, topic, machine.per_batch).writeStream
        query = (
            writer.outputMode("update")
            .format("noop")
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        return Run(_marks(query, machine), warm_up)
    finally:
        spark_session.stop(spark)


def _counts(spark: SparkSession, servers: str, topic: str, per_batch: int) -> DataFrame:
    lines = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", per_batch)
        .load()
        .select(F.col("value").cast("string").alias("line"))
    )
    return lines.groupBy(F.substring("line", 1, 7).alias("key")).count()


def _marks(query: StreamingQuery, machine: Machine) -> list[Mark]:
    marks: list[Mark] = []
    seen = -1
    active = True
    while active:
        active = query.isActive  # asked first: the last batch may end the query
        last = query.lastProgress
        if last is not None and last["batchId"] > seen and last["numInputRows"]:
            seen = last["batchId"]
            marks.append(mark(machine, marks, last["numInputRows"]))
        time.sleep(LOOK_SECONDS)
    failure = query.exception()
    if failure is not None:
        raise failure
    return marks
