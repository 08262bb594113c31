"""Where a Kafka source starts and ends, and what of it is lost, as a real broker has it."""

from __future__ import annotations

import json
import time
import uuid
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from headrace.common import SimpleStringSchema
from headrace.datastream.connectors.kafka import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaSource,
    KafkaSourceBuilder,
    KafkaTopicPartition,
)
from headrace.runtime import kafka_bounds, kafka_topics
from headrace.runtime.errors import JobFailed, UnknownTopic
from headrace.runtime.group_commits import FAILED, SUCCEEDED, GroupCommits
from headrace.runtime.kafka_brokers import Brokers
from headrace.runtime.kafka_losses import DataLost
from tests.kafka.feeding import Administrator, produce, transact
from tests.unit.runtime.kafka_checkpoints import first_start

WAIT_SECONDS = 180.0
FROM = KafkaOffsetsInitializer
RESET = KafkaOffsetResetStrategy


@pytest.fixture
def admin(kafka: str) -> Administrator:
    return Administrator(kafka)


def name() -> str:
    return f"source-{uuid.uuid4().hex[:10]}"


def source(servers: str) -> KafkaSourceBuilder:
    return (
        KafkaSource.builder()
        .set_bootstrap_servers(servers)
        .set_value_only_deserializer(SimpleStringSchema())
    )


def commit(servers: str, group: str, topic: str, *offsets: int) -> None:
    """Offset of partition 0, 1, ..."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": group})
    where = [TopicPartition(topic, number, offset) for number, offset in enumerate(offsets)]
    consumer.commit(offsets=where, asynchronous=False)
    consumer.close()


def committed(servers: str, group: str, topic: str, partitions: int = 1) -> dict[str, int]:
    brokers = Brokers(servers, {})
    return brokers.committed(group, {topic: list(range(partitions))}).get(topic, {})


def test_starts_and_ends_are_found(kafka: str, admin: Administrator) -> None:
    topic, group = name(), name()
    admin.create(topic, partitions=2)
    now = int(time.time() * 1000)
    produce(kafka, topic, map(str, range(10)), timestamp=now)
    produce(kafka, topic, map(str, range(4)), partition=1, timestamp=now)
    aborted = transact(kafka, topic, ["aborted"])
    aborted.abort_transaction()  # offset 10, its marker 11
    opened = transact(kafka, topic, ["open"])  # offset 12
    commit(kafka, group, topic, 6)
    both = source(kafka).set_topics(topic).set_group_id(group)

    def at(where: KafkaOffsetsInitializer, *, end: bool = False) -> dict[str, int]:
        built = both.set_starting_offsets(where).build()
        brokers = Brokers.of(built)
        partitions = kafka_topics.partitions(built, brokers)
        if end:
            built = source(kafka).set_topics(topic).set_group_id(group).set_bounded(where).build()
            found = kafka_bounds.end(built, partitions, brokers)
            assert found is not None
            return found[topic]
        return kafka_bounds.start(built, partitions, brokers)[topic]

    first, second = KafkaTopicPartition(topic, 0), KafkaTopicPartition(topic, 1)
    assert at(FROM.earliest()) == {"0": 0, "1": 0}
    assert at(FROM.latest()) == {"0": 12, "1": 4}  # not beyond the open transaction
    assert at(FROM.latest(), end=True) == {"0": 12, "1": 4}
    assert at(FROM.timestamp(now + 3)) == {"0": 3, "1": 3}
    assert at(FROM.timestamp(now + 5), end=True) == {"0": 5, "1": 4}  # none so late: the end
    assert at(FROM.committed_offsets(RESET.EARLIEST)) == {"0": 6, "1": 0}
    assert at(FROM.committed_offsets(RESET.LATEST), end=True) == {"0": 6, "1": 4}
    assert at(FROM.offsets({second: 2})) == {"0": 6, "1": 2}  # the group's for the other
    assert at(FROM.offsets({first: 99}, RESET.LATEST)) == {"0": 12, "1": 4}
    assert at(FROM.offsets({first: 99, second: 7}), end=True) == {"0": 99, "1": 7}
    with pytest.raises(JobFailed) as refused:
        at(FROM.committed_offsets())
    assert f"group {group!r} has none that counts for {topic}-1" in str(refused.value)
    assert f"{topic}-0" not in str(refused.value)
    assert not refused.value.restartable
    admin.delete_records(topic, 8)
    with pytest.raises(JobFailed, match=r"it has 6, Kafka holds 8 to 13"):
        at(FROM.committed_offsets())
    assert at(FROM.committed_offsets(RESET.EARLIEST)) == {"0": 8, "1": 0}
    with pytest.raises(UnknownTopic, match=f"offsets.. names {topic}-7, which does not exist"):
        at(FROM.offsets({KafkaTopicPartition(topic, 7): 0}))
    opened.abort_transaction()


def test_what_is_to_be_read_must_be_there(kafka: str, admin: Administrator) -> None:
    topic = name()
    admin.create(topic, f"{topic}.more", f"x{topic}", partitions=2)

    def read(builder: KafkaSourceBuilder) -> dict[str, list[int]]:
        built = builder.build()
        return kafka_topics.partitions(built, Brokers.of(built))

    pattern = source(kafka).set_topic_pattern(rf"{topic}(\..*)?")
    assert read(pattern) == {topic: [0, 1], f"{topic}.more": [0, 1]}
    assert not [t for t in read(source(kafka).set_topic_pattern(".*")) if t.startswith("__")]
    assert read(source(kafka).set_partitions({KafkaTopicPartition(topic, 1)})) == {topic: [1]}
    with pytest.raises(UnknownTopic, match=f"partition {topic}-2 does not exist.* has 2"):
        read(source(kafka).set_partitions({KafkaTopicPartition(topic, 2)}))
    with pytest.raises(UnknownTopic, match="'no-such-topic' does not exist"):
        read(source(kafka).set_topics("no-such-topic", topic))


def going_on(builder: KafkaSourceBuilder) -> KafkaSource:
    return builder.set_property("failOnDataLoss", "false").build()


def test_a_lost_range_stops_the_job_or_is_counted(
    kafka: str, admin: Administrator, tmp_path: Path
) -> None:
    topic = name()
    admin.create(topic)
    produce(kafka, topic, map(str, range(10)))
    builder = source(kafka).set_topics(topic)
    checkpoint = first_start(tmp_path, builder.build())
    checkpoint.completed(0, {topic: {"0": 3}})
    checkpoint.planned(1, {topic: {"0": 6}})
    assert checkpoint.open(builder.build()).position == {topic: {"0": 3}}
    admin.delete_records(topic, 8)
    with pytest.raises(DataLost) as lost:
        checkpoint.open(builder.build())
    assert f"{topic}-0 offsets 3 to 7 were deleted" in str(lost.value)
    assert "failOnDataLoss" in str(lost.value)
    assert not lost.value.restartable
    goes_on = checkpoint.open(going_on(builder))
    assert (goes_on.lost, goes_on.position) == (5, {topic: {"0": 8}})
    # the planned batch is empty now, and Spark's checksums are not of what was there before
    assert (tmp_path / "spark/offsets/1").read_text().splitlines()[
        2
    ] == f'{{"{topic}": {{"0": 8}}}}'
    assert not list(tmp_path.glob("spark/offsets/.*.crc"))
    assert checkpoint.open(builder.build()).lost == 0


def test_a_deleted_topic_is_a_loss(kafka: str, admin: Administrator, tmp_path: Path) -> None:
    topic = name()
    admin.create(topic)
    produce(kafka, topic, map(str, range(3)))
    builder = source(kafka).set_topics(topic)
    checkpoint = first_start(tmp_path, builder.build())
    checkpoint.completed(0, {topic: {"0": 3}})
    running = checkpoint.open(builder.build())
    assert not running.watch_ids()
    admin.delete(topic)
    assert not running.watch_ids()  # it may be back in a moment
    assert running.watch_ids()
    with pytest.raises(DataLost, match=f"{topic}-0 was deleted, what stood from offset 3 on"):
        checkpoint.open(builder.build())
    with pytest.raises(UnknownTopic):
        checkpoint.open(going_on(builder))


@pytest.mark.parametrize("deleted", [False, True])
def test_a_topic_that_was_replaced(
    kafka: str, admin: Administrator, tmp_path: Path, deleted: bool
) -> None:
    topic = name()
    admin.create(topic)
    produce(kafka, topic, map(str, range(3)))
    builder = source(kafka).set_topic_pattern(f"{topic}.*")
    checkpoint = first_start(tmp_path, builder.build())
    checkpoint.completed(0, {topic: {"0": 3}})
    admin.delete(topic)
    if not deleted:
        admin.create(topic)
        produce(kafka, topic, map(str, range(9)))  # beyond the old offset: Spark sees nothing
    with pytest.raises(DataLost, match=f"{topic}-0 was deleted"):
        checkpoint.open(builder.build())
    goes_on = checkpoint.open(going_on(builder))
    assert goes_on.position == ({} if deleted else {topic: {"0": 0}})
    assert not goes_on.watch_ids()
    assert checkpoint.open(source(kafka).set_topic_pattern(f"{topic}.*").build()).losses() == []


def test_a_changed_subscription_loses_nothing(
    kafka: str, admin: Administrator, tmp_path: Path
) -> None:
    old, new = name(), name()
    admin.create(old, new)
    produce(kafka, old, map(str, range(3)))
    produce(kafka, new, map(str, range(9)))
    admin.delete_records(new, 4)
    checkpoint = first_start(tmp_path, source(kafka).set_topics(old).build())
    checkpoint.completed(0, {old: {"0": 2}})
    both = checkpoint.open(source(kafka).set_topics(old, new).build())
    assert both.position == {old: {"0": 2}, new: {"0": 4}}
    other = checkpoint.open(source(kafka).set_topics(new).build())
    assert other.position == {new: {"0": 4}}
    assert other.splits == (f"{old}-0",)  # as at the first start
    assert other.ended_splits == [f"{old}-0"]  # it holds event time back no more
    admin.add_partitions(new, 2)
    produce(kafka, new, map(str, range(5)), partition=1)
    admin.delete_records(new, 2, partition=1)
    with pytest.raises(DataLost, match=f"{new}-1 offsets 0 to 1 were deleted"):
        checkpoint.open(source(kafka).set_topics(new).build())


def test_what_was_found_at_the_first_start_stays(
    kafka: str, admin: Administrator, tmp_path: Path
) -> None:
    topic, group = name(), name()
    admin.create(topic)
    produce(kafka, topic, map(str, range(5)))
    commit(kafka, group, topic, 2)
    built = (
        source(kafka)
        .set_topics(topic)
        .set_group_id(group)
        .set_starting_offsets(FROM.committed_offsets())
        .set_bounded(FROM.latest())
        .build()
    )
    checkpoint = first_start(tmp_path, built)
    before = checkpoint.open(built)
    assert json.loads(before.options()["startingOffsets"]) == {topic: {"0": 2}}
    checkpoint.completed(0, {topic: {"0": 4}})
    produce(kafka, topic, map(str, range(5)))
    admin.add_partitions(topic, 2)
    admin.delete_group(group)  # the start does not count any more
    restored = checkpoint.open(built)
    assert restored.kept.ends == {topic: {"0": 5}}
    assert json.loads(restored.options()["assign"]) == {topic: [0]}
    assert restored.has_more()
    assert not restored.ended
    checkpoint.completed(1, {topic: {"0": 7}})
    assert not restored.has_more()
    assert restored.ended


def test_group_offsets_are_committed_and_failures_counted(kafka: str, admin: Administrator) -> None:
    topic, group = name(), name()
    admin.create(topic, partitions=2)
    produce(kafka, topic, map(str, range(5)))
    commits = GroupCommits(kafka, group, {}, every_ms=None)
    counted: dict[str, int] = {}

    def until(counter: str, n: int) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while counted.get(counter, 0) < n:
            assert time.monotonic() < deadline, counted
            for each, more in commits.take_counts().items():
                counted[each] = counted.get(each, 0) + more
            time.sleep(0.02)

    commits.offer({topic: {"0": 2, "1": 0}})
    until(SUCCEEDED, 1)
    assert committed(kafka, group, topic, 2) == {"0": 2, "1": 0} == commits.committed[topic]
    member = Consumer({"bootstrap.servers": kafka, "group.id": group})
    member.subscribe([topic])
    while not member.assignment():
        member.poll(0.1)
    commits.offer({topic: {"0": 3, "1": 0}})  # a group with members of its own refuses
    until(FAILED, 1)
    member.close()
    commits.offer({topic: {"0": 4, "1": 0}})
    commits.close()  # commits what waits, though the pause after a failure is not over
    until(SUCCEEDED, 2)
    assert committed(kafka, group, topic, 2) == {"0": 4, "1": 0}


def test_periodic_commits_leave_out_what_is_between(kafka: str, admin: Administrator) -> None:
    topic, group = name(), name()
    admin.create(topic)
    produce(kafka, topic, map(str, range(9)))
    commits = GroupCommits(kafka, group, {}, every_ms=3_600_000)
    for offset in range(1, 9):
        commits.offer({topic: {"0": offset}})
    commits.close()
    assert committed(kafka, group, topic) == {"0": 8}
    assert commits.take_counts()[SUCCEEDED] <= 2
