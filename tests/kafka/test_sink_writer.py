"""What a task writes is what a consumer gets, with every guarantee."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Message, TopicPartition

from headrace.connectors.kafka import errors
from headrace.connectors.kafka.committer import Committer
from headrace.connectors.kafka.messages import PreparedTransaction, Resume, TaskIdentity, Written
from headrace.connectors.kafka.settings import DeliveryGuarantee, SinkSettings
from headrace.connectors.kafka.writer import open_writer
from tests.kafka import brokers

GUARANTEES = list(DeliveryGuarantee)


def sink(
    servers: str, guarantee: DeliveryGuarantee = DeliveryGuarantee.EXACTLY_ONCE, **more: Any
) -> SinkSettings:
    return SinkSettings(
        "out",
        servers,
        guarantee=guarantee,
        transactional_id_prefix=f"job-{uuid.uuid4().hex[:8]}",
        **more,
    )


def write(settings: SinkSettings, directory: Path, *parts: list[dict[str, Any]]) -> None:
    """One batch, one partition per part."""
    committer = Committer([settings], directory)
    resume = committer.recover().resume
    messages = []
    for partition, records in enumerate(parts):
        writer = open_writer(settings, TaskIdentity(0, partition), resume)
        writer.write(records)
        messages.append(writer.prepare())
    committer.commit(0, messages)


def messages_of(servers: str, topic: str, partition: int, count: int) -> list[Message]:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": uuid.uuid4().hex})
    consumer.assign([TopicPartition(topic, partition, 0)])
    found = consumer.consume(count, 10)
    consumer.close()
    return list(found)


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_keys_values_and_tombstones(
    kafka: str, tmp_path: Path, guarantee: DeliveryGuarantee
) -> None:
    topic = brokers.new_topic(kafka, 1)
    records: list[dict[str, Any]] = [
        {"key": b"a", "value": b"1"},
        {"key": b"a", "value": None},
        {"value": b"2"},
    ]

    write(sink(kafka, guarantee, topic=topic), tmp_path, records)

    found = messages_of(kafka, topic, 0, 3)
    assert [(each.key(), each.value()) for each in found] == [
        (b"a", b"1"),
        (b"a", None),
        (None, b"2"),
    ]


def test_headers_timestamps_and_partitions(kafka: str, tmp_path: Path) -> None:
    topic = brokers.new_topic(kafka, 3)
    record = {"key": b"k", "value": b"v", "partition": 2, "timestamp": 1_357_000_000_000}
    headers = [("origin", b"EWR"), ("empty", None)]

    write(sink(kafka, topic=topic), tmp_path, [{**record, "headers": headers}, {"value": b"plain"}])

    (found,) = messages_of(kafka, topic, 2, 1)
    assert found.headers() == headers
    assert found.timestamp()[1] == 1_357_000_000_000
    assert brokers.read(kafka, topic) == ["plain", "v"]


def test_a_topic_per_record(kafka: str, tmp_path: Path) -> None:
    left, right = brokers.new_topic(kafka), brokers.new_topic(kafka)
    records = [{"value": f"{i}".encode(), "topic": left if i % 2 else right} for i in range(10)]

    write(sink(kafka), tmp_path, records)

    assert brokers.read(kafka, left) == ["1", "3", "5", "7", "9"]
    assert brokers.read(kafka, right) == ["0", "2", "4", "6", "8"]


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_more_records_than_the_queue_holds(
    kafka: str, tmp_path: Path, guarantee: DeliveryGuarantee
) -> None:
    topic = brokers.new_topic(kafka, 1)
    options = {"queue.buffering.max.messages": "100"}
    records = [{"key": b"k", "value": f"{i:05d}".encode()} for i in range(5000)]

    write(sink(kafka, guarantee, topic=topic, options=options), tmp_path, records)

    values = [each.value() for each in messages_of(kafka, topic, 0, 5000)]
    assert values == [f"{i:05d}".encode() for i in range(5000)]


def test_nothing_is_visible_before_the_commit(kafka: str, tmp_path: Path) -> None:
    settings = sink(kafka, topic=brokers.new_topic(kafka, 1))
    topic = str(settings.topic)
    committer = Committer([settings], tmp_path)
    resume = committer.recover().resume
    writer = open_writer(settings, TaskIdentity(0, 0), resume)
    writer.write([{"value": b"1"}, {"value": b"2"}])
    prepared = writer.prepare()
    assert isinstance(prepared, PreparedTransaction)
    assert (prepared.count, prepared.partition, prepared.sink) == (2, 0, "out")

    consumer = Consumer({"bootstrap.servers": kafka, "group.id": uuid.uuid4().hex})
    consumer.assign([TopicPartition(topic, 0, 0)])
    assert consumer.consume(1, 1.0) == []
    committer.commit(0, [prepared], {"note": "first"})
    assert [each.value() for each in consumer.consume(2, 10)] == [b"1", b"2"]
    consumer.close()
    # Again: the driver of a batch does not know whether its first call got through.
    committer.commit(0, [prepared])
    assert brokers.read(kafka, topic) == ["1", "2"]


def test_a_partition_without_records_has_no_transaction(kafka: str, tmp_path: Path) -> None:
    settings = sink(kafka, topic=brokers.new_topic(kafka))
    committer = Committer([settings], tmp_path)
    resume = committer.recover().resume
    writer = open_writer(settings, TaskIdentity(0, 0), resume)
    writer.write([])
    assert writer.prepare() is None
    committer.commit(0, [None])
    brokers.wait_until_none_open(settings, 5)


def test_an_aborted_partition_stays_invisible(kafka: str, tmp_path: Path) -> None:
    settings = sink(kafka, topic=brokers.new_topic(kafka))
    committer = Committer([settings], tmp_path)
    resume = committer.recover().resume
    task, driver = (open_writer(settings, TaskIdentity(0, part), resume) for part in range(2))
    for writer in (task, driver):
        writer.write([{"value": b"no"}])
    prepared = [task.prepare(), driver.prepare()]

    task.abort()
    task.abort()
    committer.abort(0, prepared)

    brokers.wait_until_none_open(settings, 5)
    assert brokers.read(kafka, str(settings.topic)) == []


def test_leftovers_of_a_failed_task_are_aborted_with_the_next_commit(
    kafka: str, tmp_path: Path
) -> None:
    settings = sink(kafka, topic=brokers.new_topic(kafka))
    committer = Committer([settings], tmp_path)
    resume = committer.recover().resume
    died, lived = (open_writer(settings, TaskIdentity(0, 0, nth), resume) for nth in range(2))
    died.write([{"value": b"1"}])
    died.prepare()
    lived.write([{"value": b"1"}])

    committer.commit(0, [lived.prepare()])

    brokers.wait_until_none_open(settings, 5)
    assert brokers.read(kafka, str(settings.topic)) == ["1"]


@pytest.mark.parametrize("guarantee", [DeliveryGuarantee.EXACTLY_ONCE, GUARANTEES[1]])
@pytest.mark.parametrize(
    ("record", "complaint"),
    [
        ({"value": b"x" * 2_000_000}, "MSG_SIZE_TOO_LARGE"),
        ({"value": b"x", "partition": 99}, "partition 99 of topic .*, which has 0 to 2"),
        ({"value": b"x", "topic": ""}, "names no topic"),
    ],
)
def test_what_kafka_does_not_take_fails_the_task(
    kafka: str,
    tmp_path: Path,
    guarantee: DeliveryGuarantee,
    record: dict[str, Any],
    complaint: str,
) -> None:
    settings = sink(kafka, guarantee, topic=None if "topic" in record else brokers.new_topic(kafka))
    with pytest.raises(errors.WriteFailed, match=complaint):
        write(settings, tmp_path, [record])
    if settings.exactly_once:
        brokers.wait_until_none_open(settings, 5)


def test_a_topic_that_is_not_there_fails_the_task(kafka: str, tmp_path: Path) -> None:
    options = {"topic.metadata.propagation.max.ms": "500"}
    settings = sink(kafka, topic="nobody-made-it", options=options)
    with pytest.raises(errors.WriteFailed, match="UNKNOWN_TOPIC"):
        write(settings, tmp_path, [{"value": b"x"}])


def test_without_exactly_once_there_is_nothing_to_commit(kafka: str, tmp_path: Path) -> None:
    settings = sink(kafka, DeliveryGuarantee.AT_LEAST_ONCE, topic=brokers.new_topic(kafka))
    writer = open_writer(settings, TaskIdentity(0, 4), Resume())
    writer.write([{"value": b"1"}])
    assert writer.prepare() == Written("out", 4, 1)
    assert brokers.read(kafka, str(settings.topic)) == ["1"]
    Committer([settings], tmp_path).commit(0, [])
    assert list(tmp_path.iterdir()) == []


def test_a_producer_that_failed_is_not_used_again(kafka: str) -> None:
    settings = sink(kafka, DeliveryGuarantee.AT_LEAST_ONCE, topic=brokers.new_topic(kafka))
    failing = open_writer(settings, TaskIdentity(0, 0), Resume())
    with pytest.raises(errors.WriteFailed):
        failing.write([{"value": b"x", "partition": 99}])
    again = open_writer(settings, TaskIdentity(0, 0), Resume())
    assert again._client is not failing._client  # type: ignore[attr-defined]
    again.write([{"value": b"1"}])
    again.prepare()
    kept = open_writer(settings, TaskIdentity(1, 0), Resume())
    assert kept._client is again._client  # type: ignore[attr-defined]


def test_an_abort_never_raises(kafka: str, tmp_path: Path) -> None:
    """A producer that was fenced may answer anything by a SystemError."""
    settings = sink(kafka, topic=brokers.new_topic(kafka))
    resume = Committer([settings], tmp_path).recover().resume
    writer = open_writer(settings, TaskIdentity(0, 0), resume)
    writer.write([{"value": b"no"}])

    class Fenced:
        def abort_transaction(self, _timeout: float) -> None:
            raise SystemError("returned a result with an exception set")

    producer = writer._producer  # type: ignore[attr-defined]
    producer.client = Fenced()
    writer.abort()
    Committer([settings], tmp_path).recover()
    assert brokers.open_ids(settings) == []
