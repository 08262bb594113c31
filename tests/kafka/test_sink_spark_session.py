"""The stand-alone sink in one Spark session: queries that are stopped and started again."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from confluent_kafka import Producer
from pyspark import TaskContext
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from headrace.connectors.kafka.datasource import KafkaSink, sink_settings
from headrace.connectors.kafka.messages import Resume, TaskIdentity
from headrace.connectors.kafka.writer import open_writer
from headrace.connectors.twophase import commitlog
from headrace.connectors.twophase.ownership import OwnerStore
from tests.kafka import brokers

SECONDS = 400


class Copy:
    """A query that copies `source` to `target`, as often as it is started."""

    def __init__(self, spark: SparkSession, servers: str, home: Path) -> None:
        spark.dataSource.register(KafkaSink)
        self.spark = spark
        self.servers = servers
        self.source = brokers.new_topic(servers, 2)
        self.target = brokers.new_topic(servers, 2)
        self.checkpoint = home / "checkpoint"
        #: While this file is there, every task but the first waits with its records.
        self.gate = home / "gate"
        self.written: list[str] = []
        self.options = {
            "kafka.bootstrap.servers": servers,
            "topic": self.target,
            "transactionalIdPrefix": f"query-{uuid.uuid4().hex[:8]}",
            "checkpointLocation": str(self.checkpoint),
        }

    def feed(self, count: int) -> None:
        producer = Producer({"bootstrap.servers": self.servers})
        new = [f"{len(self.written) + i:04d}" for i in range(count)]
        for number, value in enumerate(new):
            producer.produce(self.source, value, key=value, partition=number % 2)
        assert producer.flush(20) == 0
        self.written += new

    def start(self, **options: str) -> StreamingQuery:
        return (
            self.frame()
            .writeStream.format("headrace-kafka")
            .options(**{**self.options, **options})
            .trigger(availableNow=True)
            .start()
        )

    def run(self, **options: str) -> None:
        assert self.start(**options).awaitTermination(SECONDS)

    def frame(self) -> DataFrame:
        gate = str(self.gate)

        def wait_at_gate(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            context = TaskContext.get()
            while context is not None and context.partitionId() > 0 and Path(gate).exists():
                time.sleep(0.1)
            yield from batches

        read = (
            self.spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self.servers)
            .option("subscribe", self.source)
            .option("startingOffsets", "earliest")
            .load()
        )
        return read.select("key", "value").mapInArrow(wait_at_gate, "key binary, value binary")

    def check_exactly_once(self) -> None:
        assert brokers.read(self.servers, self.target) == self.written
        brokers.wait_until_none_open(sink_settings(self.options), 5)


@pytest.fixture
def copy(spark: SparkSession, kafka: str, tmp_path: Path) -> Iterator[Copy]:
    copy = Copy(spark, kafka, tmp_path)
    yield copy
    copy.gate.unlink(missing_ok=True)
    for query in spark.streams.active:
        query.stop()


def wait_for_open_transactions(copy: Copy) -> None:
    deadline = time.monotonic() + SECONDS
    while not brokers.open_ids(sink_settings(copy.options)):
        assert time.monotonic() < deadline, "no task began a transaction"
        time.sleep(0.1)


def stop_within_the_second_batch(copy: Copy) -> None:
    copy.feed(10)
    copy.run()
    copy.gate.touch()
    copy.feed(10)
    query = copy.start()
    wait_for_open_transactions(copy)
    query.stop()
    copy.gate.unlink()


def test_a_query_that_is_started_again_goes_on(copy: Copy) -> None:
    for _ in range(3):
        copy.feed(10)
        copy.run()
    copy.check_exactly_once()
    assert OwnerStore(copy.checkpoint).newest() == 1, "one recovery does for a session's runs"


def test_a_query_that_is_stopped_within_a_batch(copy: Copy) -> None:
    stop_within_the_second_batch(copy)

    copy.run()

    copy.check_exactly_once()


def test_a_transaction_that_a_stopped_query_lost_sight_of_is_aborted(copy: Copy) -> None:
    stop_within_the_second_batch(copy)
    # what a task leaves that had prepared, and whose message Spark dropped
    settings = sink_settings(copy.options)
    epoch = OwnerStore(copy.checkpoint).newest()
    writer = open_writer(settings, TaskIdentity(1, 0), Resume(epoch=epoch))
    writer.write([{"value": b"never to be seen"}])
    assert writer.prepare() is not None

    copy.run()

    copy.check_exactly_once()


def test_a_query_whose_job_was_taken_over_stops_and_may_start_again(copy: Copy) -> None:
    copy.gate.touch()
    copy.feed(10)
    query = copy.start()
    wait_for_open_transactions(copy)
    OwnerStore(copy.checkpoint).claim()
    copy.gate.unlink()
    with pytest.raises(StreamingQueryException, match="Another driver has taken over this job"):
        query.awaitTermination(SECONDS)
    assert commitlog.newest(copy.checkpoint) is None

    copy.run()

    copy.check_exactly_once()


def test_at_least_once_needs_no_prefix(copy: Copy) -> None:
    copy.feed(10)
    copy.run(deliveryGuarantee="at-least-once", transactionalIdPrefix="")
    assert brokers.read(copy.servers, copy.target) == copy.written
    assert not (copy.checkpoint / "headrace").exists()


def test_a_timeout_above_the_maximum_is_said_before_anything_is_written(copy: Copy) -> None:
    copy.feed(10)
    with pytest.raises(StreamingQueryException, match=r"transaction\.max\.timeout\.ms"):
        copy.run(transactionTimeoutMs="3600000")
    assert brokers.read(copy.servers, copy.target, "read_uncommitted") == []
