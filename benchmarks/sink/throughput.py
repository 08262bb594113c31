"""A preloaded topic, read in batches of one size and written by each sink in turn."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from benchmarks.sink.contenders import Contender

TIMEOUT_SECONDS = 900
#: Of a query: the JVM plans, workers and producers start.
WARM_UP_BATCHES = 3
#: With Kafka's 500 the last records before a pause wait for nothing, in Spark's source.
FETCH_WAIT_MS = "20"


@dataclass(frozen=True)
class Run:
    """One query, from its start to the end of the topic."""

    records: int
    seconds: float
    cpu_seconds: float
    #: Duration of each batch after the first few, ms, and records of all those together.
    batches_ms: list[int]
    batch_records: int

    @property
    def per_second(self) -> float:
        """Records per second, without the first batches."""
        return self.batch_records / (sum(self.batches_ms) / 1000)

    @property
    def cpu_per_million(self) -> float:
        """CPU seconds of driver, JVM and Python workers per million records, the query's start
        included; not Kafka's."""
        return self.cpu_seconds / self.records * 1e6


def source(spark: SparkSession, servers: str, topic: str, per_batch: int | None) -> DataFrame:
    reader = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", topic)
        .option("kafka.fetch.max.wait.ms", FETCH_WAIT_MS)
        .option("startingOffsets", "latest" if per_batch is None else "earliest")
    )
    if per_batch is not None:
        reader = reader.option("maxOffsetsPerTrigger", per_batch)
    return reader.load().select("key", "value")


def run(contender: Contender, frame: DataFrame, target: str, cpu: Callable[[], float]) -> Run:
    """Copy what the frame's topic holds to `target`. Raises when the query fails, or hangs."""
    cpu_before, started = cpu(), time.monotonic()
    query = contender.writer(frame, target).trigger(availableNow=True).start()
    if not query.awaitTermination(TIMEOUT_SECONDS):
        query.stop()
        raise TimeoutError(f"{contender.name}: not at the end after {TIMEOUT_SECONDS} s")
    seconds, cpu_seconds = time.monotonic() - started, cpu() - cpu_before
    done = [each for each in query.recentProgress if each.numInputRows]
    counted = done[WARM_UP_BATCHES:] or done
    return Run(
        records=sum(each.numInputRows for each in done),
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        batches_ms=[each.durationMs["triggerExecution"] for each in counted],
        batch_records=sum(each.numInputRows for each in counted),
    )
