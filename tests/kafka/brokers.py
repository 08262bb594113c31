"""What a test sees of a broker: topics, what a consumer reads, what is open."""

from __future__ import annotations

import time
import uuid

from confluent_kafka import Consumer, TopicPartition

from headrace.connectors.kafka import ids
from headrace.connectors.kafka.coordinator import Coordinator, coordinator_for
from headrace.connectors.kafka.settings import DeliveryGuarantee, SinkSettings
from workers.embedded.kafka import ensure_topics

READ_SECONDS = 90.0


def new_topic(servers: str, partitions: int = 3) -> str:
    name = f"sink-{uuid.uuid4().hex[:12]}"
    ensure_topics(servers, {name: partitions})
    return name


def read(servers: str, topic: str, isolation: str = "read_committed") -> list[str]:
    """All values in the topic, sorted. Fails when the consumer does not get to the end that the
    topic has now, which is what a transaction left open does to it."""
    # A read_committed consumer would be told of the first open transaction instead.
    ends = _ends(servers, topic, "read_uncommitted")
    consumer = _consumer(servers, isolation)
    try:
        return _read_to_end(consumer, topic, ends)
    finally:
        consumer.close()


def visible(servers: str, topic: str) -> list[str]:
    """What a read_committed consumer gets now, up to the first open transaction; sorted."""
    consumer = _consumer(servers, "read_committed")
    try:
        return _read_to_end(consumer, topic, _ends(servers, topic, "read_committed"))
    finally:
        consumer.close()


def _consumer(servers: str, isolation: str) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": f"test-{uuid.uuid4().hex}",
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )


def _ends(servers: str, topic: str, isolation: str) -> dict[int, int]:
    """End of each partition, as a consumer with this isolation is told it."""
    consumer = _consumer(servers, isolation)
    try:
        return {
            number: consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=60)[1]
            for number in consumer.list_topics(topic, timeout=60).topics[topic].partitions
        }
    finally:
        consumer.close()


def _read_to_end(consumer: Consumer, topic: str, ends: dict[int, int]) -> list[str]:
    consumer.assign([TopicPartition(topic, number, 0) for number in ends])
    values: list[str] = []
    deadline = time.monotonic() + READ_SECONDS
    while ends and time.monotonic() < deadline:
        for message in consumer.consume(500, 0.2):
            if message.error() is None:
                values.append((message.value() or b"").decode())
            elif (message.offset() or 0) >= ends.get(message.partition() or 0, 0):
                ends.pop(message.partition() or 0, None)
    assert not ends, f"a consumer hangs before the end of partitions {ends}"
    return sorted(values)


def open_ids(sink: SinkSettings) -> list[str]:
    """Transactional ids of the sink with an open transaction."""
    listed = coordinator_for(sink).list_ids(ids.pattern(sink.id_root))
    return [each for each, is_open in listed if is_open]


def wait_until_none_open(sink: SinkSettings, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while open_ids(sink):
        assert time.monotonic() < deadline, f"still open: {open_ids(sink)}"
        time.sleep(0.3)


def abort_all(servers: str, seconds: float) -> None:
    """Every transaction that anybody has open there is aborted, and who had it is shut out."""
    anyone = SinkSettings("any", servers, "any", DeliveryGuarantee.EXACTLY_ONCE, "any")
    asking = Coordinator(anyone)
    deadline = time.monotonic() + seconds
    try:
        while left := [name for name, is_open in asking.list_ids(".*") if is_open]:
            assert time.monotonic() < deadline, f"still open: {left}"
            asking.fence(left, anyone.transaction_timeout_ms)
    finally:
        asking.close()
