"""What the programs read: lines of 60 bytes, `<key>,<event time in ms>,<filler>`."""

from __future__ import annotations

import uuid

from confluent_kafka import Producer

from workers.embedded.kafka import ensure_topics

PARTITIONS = 4
FILLER = "x" * 38
#: Records that go to one partition before it is the next one's turn.
CHUNK = 250
#: A prime: consecutive records have keys far apart.
STEP = 7_919
START_MS = 1_700_000_000_000


def new(servers: str, purpose: str) -> str:
    name = f"bench-{purpose}-{uuid.uuid4().hex[:8]}"
    ensure_topics(servers, {name: PARTITIONS})
    return name


def preload(servers: str, records: int, keys: int) -> str:
    """A topic of records one millisecond apart, their keys in turn, in equal parts."""
    topic = new(servers, "in")
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "linger.ms": 20,
            "batch.size": 1_000_000,
            "queue.buffering.max.messages": 1_000_000,
        }
    )
    for start in range(0, records, CHUNK):
        part = [
            {"value": line(number, keys)} for number in range(start, min(start + CHUNK, records))
        ]
        _produce(producer, topic, start // CHUNK % PARTITIONS, part)
    left = producer.flush(120)
    if left:
        raise RuntimeError(f"{left} of {records} records could not be preloaded")
    return topic


def line(number: int, keys: int) -> bytes:
    return f"{number * STEP % keys:07d},{START_MS + number},{FILLER}".encode()


def _produce(producer: Producer, topic: str, partition: int, part: list[dict[str, bytes]]) -> None:
    while producer.produce_batch(topic, part, partition=partition) < len(part):
        part = [each for each in part if "_error" in each]
        for each in part:
            del each["_error"]
        producer.poll(0.05)
    producer.poll(0)
