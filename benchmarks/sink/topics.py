"""Topics of the benchmark, and the records that are there before it begins."""

from __future__ import annotations

import os
import uuid

from confluent_kafka import Producer

from workers.embedded.kafka import ensure_topics

PARTITIONS = 4
VALUE_BYTES = 100
#: Records that go to one partition before it is the next one's turn.
CHUNK = 250


def new(servers: str, purpose: str) -> str:
    name = f"bench-{purpose}-{uuid.uuid4().hex[:8]}"
    ensure_topics(servers, {name: PARTITIONS})
    return name


def preload(servers: str, records: int) -> str:
    """A topic with that many records of 100 bytes and an 8-byte key, in equal parts."""
    topic = new(servers, "in")
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "linger.ms": 20,
            "batch.size": 1_000_000,
            "queue.buffering.max.messages": 1_000_000,
        }
    )
    filler = os.urandom(VALUE_BYTES).hex()[: VALUE_BYTES - 10].encode()
    for start in range(0, records, CHUNK):
        part = [
            {"key": b"%08d" % number, "value": b"%010d" % number + filler}
            for number in range(start, min(start + CHUNK, records))
        ]
        partition = start // CHUNK % PARTITIONS
        while producer.produce_batch(topic, part, partition=partition) < len(part):
            part = [each for each in part if "_error" in each]
            for each in part:
                del each["_error"]
            producer.poll(0.05)
        producer.poll(0)
    left = producer.flush(120)
    if left:
        raise RuntimeError(f"{left} of {records} records could not be preloaded")
    return topic
