"""Which partition a record lands in, and that a wrong one is refused before anything is visible."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions

from headrace.connectors.kafka import errors, partitioners
from headrace.connectors.kafka.committer import Committer
from headrace.connectors.kafka.messages import TaskIdentity
from headrace.connectors.kafka.partitioners import Partitioner
from headrace.connectors.kafka.settings import DeliveryGuarantee, SinkSettings
from headrace.connectors.kafka.writer import open_writer
from tests.kafka import brokers

#: What `org.apache.kafka.common.utils.Utils.murmur2` answers, from Kafka's own test of it.
MURMUR2 = {
    "21": -973932308,
    "foobar": -790332482,
    "a-little-bit-long-string": -985981536,
    "a-little-bit-longer-string": -1486304829,
    "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    "abc": 479470107,
}
BOTH = [DeliveryGuarantee.AT_LEAST_ONCE, DeliveryGuarantee.EXACTLY_ONCE]


def by_first_letter(key: bytes, value: bytes, topic: str, partitions: list[int]) -> int:
    return value[0] % len(partitions)


def out_of_range(key: bytes, value: bytes, topic: str, partitions: list[int]) -> int:
    return len(partitions)


def failing(key: bytes, value: bytes, topic: str, partitions: list[int]) -> int:
    raise LookupError("no such customer")


def sink(servers: str, topic: str, **more: Any) -> SinkSettings:
    return SinkSettings(
        "out",
        servers,
        topic,
        **{
            "guarantee": DeliveryGuarantee.EXACTLY_ONCE,
            "transactional_id_prefix": f"job-{uuid.uuid4().hex[:8]}",
            **more,
        },
    )


def write(
    settings: SinkSettings, directory: Path, records: list[dict[str, Any]], task: int = 0
) -> None:
    """One batch of one partition, in two calls as from two Arrow batches."""
    committer = Committer([settings], directory)
    resume = committer.recover().resume
    batch = 0 if resume.batch_id is None else resume.batch_id + 1
    writer = open_writer(settings, TaskIdentity(batch, task), resume)
    writer.write(records[:3])
    writer.write(records[3:])
    committer.commit(batch, [writer.prepare()])


def placed(servers: str, topic: str, count: int) -> dict[str, int]:
    """Where each value is."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": uuid.uuid4().hex})
    numbers = consumer.list_topics(topic, timeout=60).topics[topic].partitions
    consumer.assign([TopicPartition(topic, number, 0) for number in numbers])
    found = consumer.consume(count, 15)
    consumer.close()
    assert len(found) == count
    return {(each.value() or b"").decode(): each.partition() or 0 for each in found}


def values(*texts: str) -> list[dict[str, Any]]:
    return [{"key": b"k", "value": text.encode()} for text in texts]


def test_a_key_goes_where_javas_producers_put_it(kafka: str, tmp_path: Path) -> None:
    topic = brokers.new_topic(kafka, 7)
    records = [{"key": key.encode(), "value": key.encode()} for key in MURMUR2]
    write(sink(kafka, topic), tmp_path, records)
    expected = {key: (number & 0x7FFFFFFF) % 7 for key, number in MURMUR2.items()}
    assert placed(kafka, topic, len(MURMUR2)) == expected


def test_the_user_may_have_librdkafkas_own_way(kafka: str, tmp_path: Path) -> None:
    topic = brokers.new_topic(kafka, 7)
    records = [{"key": key.encode(), "value": key.encode()} for key in MURMUR2]
    write(sink(kafka, topic, options={"partitioner": "consistent"}), tmp_path, records)
    java = {key: (number & 0x7FFFFFFF) % 7 for key, number in MURMUR2.items()}
    assert placed(kafka, topic, len(MURMUR2)) != java


@pytest.mark.parametrize("guarantee", BOTH)
def test_round_robin_is_the_same_when_a_batch_is_run_again(
    kafka: str, tmp_path: Path, guarantee: DeliveryGuarantee
) -> None:
    texts = [f"{number}" for number in range(8)]
    found = []
    for run in range(2):
        topic = brokers.new_topic(kafka, 4)
        settings = sink(kafka, topic, guarantee=guarantee, partitioner=partitioners.ROUND_ROBIN)
        write(settings, tmp_path / str(run), values(*texts), task=1)
        found.append(placed(kafka, topic, 8))
    assert found[0] == found[1] == {text: (1 + int(text)) % 4 for text in texts}


def test_fixed_keeps_a_task_in_one_partition(kafka: str, tmp_path: Path) -> None:
    topic = brokers.new_topic(kafka, 4)
    settings = sink(kafka, topic, partitioner=partitioners.FIXED)
    write(settings, tmp_path, values("a", "b", "c", "d"), task=6)
    assert set(placed(kafka, topic, 4).values()) == {2}


@pytest.mark.parametrize(
    "partitioner",
    [
        partitioners.custom(by_first_letter),
        partitioners.custom(lambda key, value, topic, partitions: value[0] % len(partitions)),
        partitioners.named("tests.kafka.test_sink_partitions:by_first_letter"),
    ],
)
def test_a_function_chooses(kafka: str, tmp_path: Path, partitioner: Partitioner) -> None:
    topic = brokers.new_topic(kafka, 4)
    write(sink(kafka, topic, partitioner=partitioner), tmp_path, values("a", "b", "c", "d", "e"))
    expected = {text: ord(text) % 4 for text in "abcde"}
    assert placed(kafka, topic, 5) == expected


def test_a_record_that_names_its_partition_gets_it(kafka: str, tmp_path: Path) -> None:
    topic = brokers.new_topic(kafka, 4)
    records = values("a", "b", "c", "d")
    for number, record in enumerate(records):
        record["partition"] = number
    records[3]["headers"] = [("one", b"by one")]
    write(sink(kafka, topic, partitioner=partitioners.ROUND_ROBIN), tmp_path, records)
    assert placed(kafka, topic, 4) == {"a": 0, "b": 1, "c": 2, "d": 3}


def test_records_of_a_partition_keep_their_order(kafka: str, tmp_path: Path) -> None:
    """Also where some name it and others come to it by their key."""
    topic = brokers.new_topic(kafka, 1)
    texts = [f"{number:03d}" for number in range(300)]
    records = values(*texts)
    for record in records[::2]:
        record["partition"] = 0
    write(sink(kafka, topic), tmp_path, records)
    assert list(placed(kafka, topic, 300)) == texts


@pytest.mark.parametrize(
    ("partitioner", "record", "complaint"),
    [
        (partitioners.DEFAULT, {"partition": 4}, "partition 4 of topic .*, which has 0 to 3"),
        (partitioners.DEFAULT, {"partition": -1}, "-1 is no partition"),
        (partitioners.DEFAULT, {"partition": 4, "headers": [("h", b"")]}, "which has 0 to 3"),
        (partitioners.custom(out_of_range), {}, "out_of_range answered 4; .* partitions 0 to 3"),
        (partitioners.custom(failing), {}, "failing raised LookupError: no such customer"),
        (partitioners.named("no.such:thing"), {}, "cannot be imported where the tasks run"),
        (partitioners.DEFAULT, {"value": 5}, "must be|expected"),
        (partitioners.DEFAULT, {"topic": 5}, "topic is 5, not a string"),
    ],
)
def test_what_cannot_be_written_is_refused(
    kafka: str,
    tmp_path: Path,
    partitioner: Partitioner,
    record: dict[str, Any],
    complaint: str,
) -> None:
    topic = brokers.new_topic(kafka, 4)
    plain = DeliveryGuarantee.AT_LEAST_ONCE
    settings = sink(kafka, topic, guarantee=plain, partitioner=partitioner)
    with pytest.raises((errors.InvalidRecord, errors.InvalidSettings), match=complaint):
        write(settings, tmp_path, [{"value": b"bad", **record}])


def test_a_wrong_partition_leaves_nothing_of_its_task(kafka: str, tmp_path: Path) -> None:
    """Many times: the abort meets the first request of the transaction in every order."""
    topic = brokers.new_topic(kafka, 4)
    for attempt in range(12):
        settings = sink(kafka, topic)
        with pytest.raises(errors.InvalidRecord, match="which has 0 to 3"):
            bad = [*values("a", "b", "c"), {"value": b"bad", "partition": 4}]
            write(settings, tmp_path / str(attempt), bad)
        brokers.wait_until_none_open(settings, 60)
    assert brokers.read(kafka, topic) == []


def test_partitions_that_are_new_are_noticed(kafka: str, tmp_path: Path) -> None:
    topic = brokers.new_topic(kafka, 2)
    settings = sink(kafka, topic)
    write(settings, tmp_path, [{"value": b"old", "partition": 1}])
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.create_partitions([NewPartitions(topic, 3)])[topic].result()
    write(settings, tmp_path, [{"value": b"new", "partition": 2}])
    assert placed(kafka, topic, 2) == {"old": 1, "new": 2}


def test_a_partitioner_that_means_nothing() -> None:
    with pytest.raises(errors.InvalidSettings, match="default, fixed, round-robin or module"):
        partitioners.named("by chance")
    with pytest.raises(errors.InvalidSettings, match="for the default partitioner only"):
        sink("broker", "t", partitioner=partitioners.FIXED, options={"partitioner": "random"})
