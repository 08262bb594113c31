"""Kafka sources in real drivers: each run checks much, because each starts Spark."""

from __future__ import annotations

import json
import time
import uuid
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from headrace.runtime.kafka_brokers import Brokers
from headrace.wire import events
from tests.driving import DrivenJob, drive
from tests.kafka import brokers
from tests.kafka.feeding import Administrator, produce, transact

__all__ = ["drive"]

BOUNDED = """
import sys

from headrace.common import Row, SimpleStringSchema, Types, WatermarkStrategy
from headrace.datastream import DeliveryGuarantee, StreamExecutionEnvironment
from headrace.datastream.connectors.kafka import (
    KafkaOffsetsInitializer, KafkaRecordSerializationSchema, KafkaSink, KafkaSource,
    KafkaTopicPartition, OnDeserializationError,
)
from headrace.datastream.formats.json import JsonRowDeserializationSchema

at = KafkaOffsetsInitializer
name, moment = sys.argv[1], int(sys.argv[2])
env = StreamExecutionEnvironment.get_execution_environment()
env.enable_checkpointing(200)


def read(builder, schema=None):
    source = builder.set_value_only_deserializer(schema or SimpleStringSchema()).build()
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "in")


def numbers(topic):
    row = Types.ROW_NAMED(["n"], [Types.NOT_NULL(Types.INT())])
    schema = JsonRowDeserializationSchema.builder().type_info(row).build()
    return KafkaSource.builder().set_topics(topic).set_bounded(at.latest()), schema


grouped = read(
    KafkaSource.builder().set_topics(name + ".group").set_group_id(name)
    .set_starting_offsets(at.committed_offsets()).set_bounded(at.latest())
).map(lambda value: "group " + value)
first, second = KafkaTopicPartition(name + ".ahead", 0), KafkaTopicPartition(name + ".ahead", 1)
ahead = read(
    KafkaSource.builder().set_partitions({second})
    .set_starting_offsets(at.offsets({second: 3})).set_bounded(at.offsets({second: 8}))
).map(lambda value: "ahead " + value)
timed = read(
    KafkaSource.builder().set_topics(name + ".timed")
    .set_starting_offsets(at.timestamp(moment + 2)).set_bounded(at.timestamp(moment + 5))
).map(lambda value: "timed " + value)
source, schema = numbers(name + ".drop")
dropping = read(source.on_deserialization_error(OnDeserializationError.drop()), schema).map(
    lambda row: f"drop {row.n}")
source, schema = numbers(name + ".keep")
keeping = read(
    source.on_deserialization_error(OnDeserializationError.dead_letter(name + ".dead")), schema
).map(lambda row: f"keep {row.n}")
sink = (
    KafkaSink.builder().set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    .set_transactional_id_prefix(name)
    .set_record_serializer(
        KafkaRecordSerializationSchema.builder().set_topic(name + ".out")
        .set_value_serialization_schema(SimpleStringSchema()).build())
    .build()
)
grouped.union(ahead, timed, dropping, keeping).sink_to(sink)
env.execute()
"""


@pytest.fixture
def admin(kafka: str) -> Administrator:
    return Administrator(kafka)


def out(kafka: str, name: str) -> list[str]:
    """So far: the job may be in the middle of a transaction."""
    return brokers.visible(kafka, f"{name}.out")


def numbers(*values: int) -> list[str]:
    return [json.dumps({"n": value}) for value in values]


@pytest.mark.timeout(1200)
def test_sources_end_where_they_are_told(
    drive: Callable[..., DrivenJob], kafka: str, admin: Administrator
) -> None:
    name, moment = f"b{uuid.uuid4().hex[:8]}", int(time.time() * 1000)
    topics = ("group", "timed", "drop", "keep", "dead", "out")
    admin.create(*(f"{name}.{topic}" for topic in topics))
    admin.create(f"{name}.ahead", partitions=2)
    everything = [str(n) for n in range(6)]
    for topic in ("group", "timed"):
        produce(kafka, f"{name}.{topic}", everything, timestamp=moment)
    for partition in (0, 1):
        produce(kafka, f"{name}.ahead", everything, partition=partition)
    produce(kafka, f"{name}.drop", [*numbers(1, 2), "no json"])
    transact(kafka, f"{name}.drop", numbers(98)).abort_transaction()
    produce(kafka, f"{name}.drop", numbers(3))
    left_open = transact(kafka, f"{name}.drop", numbers(99))
    produce(kafka, f"{name}.keep", [*numbers(1), "nor this", *numbers(2)])
    commit(kafka, name, f"{name}.group", 4)

    job = drive(BOUNDED, name, str(moment), kafka=kafka, parallelism=1)
    job.start()
    before = ["ahead 3", "ahead 4", "ahead 5", "drop 1", "drop 2", "drop 3"]
    before += ["group 4", "group 5", "keep 1", "keep 2", "timed 2", "timed 3", "timed 4"]
    job.until(lambda: bool(job.events(events.CheckpointCompleted)))
    assert out(kafka, name) == before
    # one source's end lies ahead of its topic's: the job waits for it, and no other goes on
    for topic in ("group", "timed"):
        produce(kafka, f"{name}.{topic}", ["beyond"])
    produce(kafka, f"{name}.ahead", ["6", "7", "beyond"], partition=1)
    assert job.wait() == 0
    after = sorted([*before, "ahead 6", "ahead 7"])
    assert brokers.read(kafka, f"{name}.out") == after
    assert job.events()[-1] == events.Stopped("finished")
    assert brokers.read(kafka, f"{name}.dead") == ["nor this"]
    last = job.events(events.CheckpointCompleted)[-1]
    assert last.counters["deserializationErrors"] == 2
    assert last.offsets[f"{name}.ahead"] == {"1": 8}
    assert not any(lag for partitions in last.lag.values() for lag in partitions.values())
    assert group_offset(kafka, name, f"{name}.group") == 6
    left_open.abort_transaction()


def commit(kafka: str, group: str, topic: str, offset: int) -> None:
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": group})
    consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
    consumer.close()


def group_offset(kafka: str, group: str, topic: str) -> int | None:
    return Brokers(kafka, {}).committed(group, {topic: [0]}).get(topic, {}).get("0")


PATTERN = """
import sys

from headrace.common import Duration, SimpleStringSchema, Time, WatermarkStrategy
from headrace.datastream import (
    AggregateFunction, DeliveryGuarantee, StreamExecutionEnvironment, TumblingEventTimeWindows,
)
from headrace.datastream.connectors.kafka import (
    KafkaOffsetsInitializer, KafkaRecordSerializationSchema, KafkaSink, KafkaSource,
)

name, strict = sys.argv[1:]
env = StreamExecutionEnvironment.get_execution_environment()
env.enable_checkpointing(200)


def sink(topic):
    return (
        KafkaSink.builder().set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .set_transactional_id_prefix(f"{name}-{topic}")
        .set_record_serializer(
            KafkaRecordSerializationSchema.builder().set_topic(f"{name}.{topic}")
            .set_value_serialization_schema(SimpleStringSchema()).build())
        .build()
    )


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return str(accumulator)

    def merge(self, one, other):
        return one + other


source = (
    KafkaSource.builder().set_topic_pattern(name + "[.]in.*").set_group_id(name)
    .set_value_only_deserializer(SimpleStringSchema()).set_property("failOnDataLoss", strict)
    .build()
)
part = (
    KafkaSource.builder().set_topics(name + ".part").set_unbounded(KafkaOffsetsInitializer.latest())
    .set_value_only_deserializer(SimpleStringSchema()).build()
)
strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(0))
stream = env.from_source(source, strategy, "in").union(env.from_source(part, strategy, "part"))
stream.sink_to(sink("out"))
(stream.key_by(lambda value: 1).window(TumblingEventTimeWindows.of(Time.milliseconds(100)))
 .aggregate(Count()).sink_to(sink("windows")))
env.execute()
"""

#: Event time of the first records; the windows of 100 ms begin at it.
T0 = 1_770_000_000_000


class Found:
    """What has come out of the job under test, and what it has said of itself."""

    def __init__(self, kafka: str, name: str, job: DrivenJob) -> None:
        self._kafka, self._name, self._job = kafka, name, job

    def until(self, *values: str) -> None:
        """Exactly these, and what led to them, have come out."""
        self._job.until(lambda: len(out(self._kafka, self._name)) >= len(values))
        assert Counter(out(self._kafka, self._name)) == Counter(values)

    def windows(self) -> list[str]:
        return brokers.visible(self._kafka, f"{self._name}.windows")

    def last(self) -> Any:
        return self._job.events(events.CheckpointCompleted)[-1]


@pytest.mark.timeout(1500)
def test_new_partitions_and_topics_are_read_and_lost_records_told(
    drive: Callable[..., DrivenJob], kafka: str, admin: Administrator
) -> None:
    name = f"p{uuid.uuid4().hex[:8]}"
    one, two, part = f"{name}.in.one", f"{name}.in.two", f"{name}.part"
    admin.create(one, part, f"{name}.out", f"{name}.windows", f"not.{name}.in.one")
    produce(kafka, part, ["z"], timestamp=T0 + 5)
    produce(kafka, f"not.{name}.in.one", ["of another topic"])
    produce(kafka, one, ["a"], timestamp=T0)
    job = drive(PATTERN, name, "true", kafka=kafka, parallelism=1)
    job.start()
    found = Found(kafka, name, job)
    found.until("a", "z")
    produce(kafka, part, ["beyond the end"], timestamp=T0 + 5)
    admin.add_partitions(one, 2)
    produce(kafka, one, ["b"], partition=1, timestamp=T0 + 10)
    found.until("z", "a", "b")
    admin.create(two)
    produce(kafka, two, ["c"], timestamp=T0 + 20)
    found.until("z", "a", "b", "c")
    # the new partition and the new topic hold event time back like those of the start, and the
    # one that was read to its end does not
    produce(kafka, one, ["d"], timestamp=T0 + 500)
    produce(kafka, two, ["e"], timestamp=T0 + 500)
    found.until("z", "a", "b", "c", "d", "e")
    job.until(lambda: found.last().watermark == T0 + 10 - 1)
    assert found.windows() == []
    produce(kafka, one, ["f"], partition=1, timestamp=T0 + 500)
    found.until("z", "a", "b", "c", "d", "e", "f")
    job.until(lambda: found.windows() == ["4"])
    job.until(lambda: found.last().committed_offsets.get(one) is not None)
    assert found.last().counters["commitsSucceeded"] > 0
    assert found.last().offsets == {one: {"0": 2, "1": 2}, two: {"0": 2}, part: {"0": 1}}
    assert found.last().lag == {one: {"0": 0, "1": 0}, two: {"0": 0}, part: {"0": 0}}
    job.terminate()
    assert job.wait() == 0
    assert group_offset(kafka, name, one) == 2

    produce(kafka, one, ["lost", "lost too"], timestamp=T0 + 501)
    admin.delete_records(one, 4)
    assert job.run() == 1
    failed = job.events()[-1]
    assert f"{one}-0 offsets 2 to 3 were deleted" in failed.error
    assert not failed.restartable
    assert not job.events(events.Running)  # found before Spark was asked

    job.arguments[1] = "false"
    produce(kafka, one, ["g"], timestamp=T0 + 501)
    job.start()
    found.until("z", "a", "b", "c", "d", "e", "f", "g")
    job.until(lambda: found.last().counters["recordsLost"] == 2)
    # deleted before the job could read them: their transaction was open
    opened = transact(kafka, one, ["lost", "lost too", "h"])
    admin.delete_records(one, 7)
    opened.commit_transaction()
    found.until("z", "a", "b", "c", "d", "e", "f", "g", "h")
    job.until(lambda: found.last().counters["recordsLost"] == 4)
    # deleted and made again while the job runs, and beyond the offset it had read to
    admin.delete(two)
    admin.create(two)
    produce(kafka, two, ["i", "j", "k", "l"], timestamp=T0 + 502)
    job.until(lambda: {"i", "j", "k", "l"} <= set(out(kafka, name)))
    assert "goes on without: " + f"{two}-0 was deleted and made again" in job.log()
    job.terminate()
    assert job.wait() == 0


AHEAD = """
import sys

from headrace.common import SimpleStringSchema, WatermarkStrategy
from headrace.datastream import DeliveryGuarantee, StreamExecutionEnvironment
from headrace.datastream.connectors.kafka import (
    KafkaOffsetsInitializer, KafkaRecordSerializationSchema, KafkaSink, KafkaSource,
    KafkaTopicPartition,
)

[name] = sys.argv[1:]
env = StreamExecutionEnvironment.get_execution_environment()
env.enable_checkpointing(200)
ends = {KafkaTopicPartition(f"{name}.{topic}", 0): 4 for topic in ("stays", "goes")}
source = (
    KafkaSource.builder().set_topics(name + ".stays", name + ".goes")
    .set_bounded(KafkaOffsetsInitializer.offsets(ends))
    .set_value_only_deserializer(SimpleStringSchema()).set_property("failOnDataLoss", "false")
    .build()
)
sink = (
    KafkaSink.builder().set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    .set_transactional_id_prefix(name)
    .set_record_serializer(
        KafkaRecordSerializationSchema.builder().set_topic(name + ".out")
        .set_value_serialization_schema(SimpleStringSchema()).build())
    .build()
)
env.from_source(source, WatermarkStrategy.no_watermarks(), "in").sink_to(sink)
env.execute()
"""


@pytest.mark.timeout(1200)
def test_a_bounded_job_waits_for_no_topic_that_was_deleted(
    drive: Callable[..., DrivenJob], kafka: str, admin: Administrator
) -> None:
    name = f"a{uuid.uuid4().hex[:8]}"
    stays, goes = f"{name}.stays", f"{name}.goes"
    admin.create(stays, goes, f"{name}.out")
    produce(kafka, stays, ["a", "b"])
    produce(kafka, goes, ["c", "d"])
    job = drive(AHEAD, name, kafka=kafka, parallelism=1)
    job.start()
    job.until(lambda: out(kafka, name) == ["a", "b", "c", "d"])
    admin.delete(goes)
    job.until(lambda: f"goes on without: {goes}-0 was deleted" in job.log())
    produce(kafka, stays, ["e", "f", "beyond"])
    assert job.wait() == 0
    assert brokers.read(kafka, f"{name}.out") == ["a", "b", "c", "d", "e", "f"]
    assert job.events()[-1] == events.Stopped("finished")
