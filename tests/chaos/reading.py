"""What a run leaves at the broker: topics to their true ends, transactions, batch markers."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

from confluent_kafka import Consumer, Message, TopicPartition
from kafka.admin import KafkaAdminClient

from headrace.connectors.kafka.settings import DEFAULT_MARKER_TOPIC
from workers.embedded.kafka import ensure_topics

READ_SECONDS = 90.0
_ENDED = {"Empty", "CompleteCommit", "CompleteAbort"}


@dataclass
class Contents:
    """Of a topic, as a `read_committed` consumer sees it. Per partition in order."""

    messages: list[Message] = field(default_factory=list)
    #: Partition -> where the consumer got stuck, of where the partition ends.
    stuck: dict[int, str] = field(default_factory=dict)

    @property
    def values(self) -> list[str]:
        return [(message.value() or b"").decode() for message in self.messages]


def committed(servers: str, topic: str, seconds: float = READ_SECONDS) -> Contents:
    """Everything up to the end that the topic has now, open transactions included: a consumer
    that does not get there is stuck behind one."""
    ends = ends_of(servers, topic)
    found = Contents()
    with consumer_of(servers, "read_committed") as consumer:
        consumer.assign([TopicPartition(topic, number, 0) for number in ends])
        deadline = time.monotonic() + seconds
        while ends and time.monotonic() < deadline:
            for message in consumer.consume(1000, 0.2):
                if message.error() is None:
                    found.messages.append(message)
                elif (message.offset() or 0) >= ends.get(message.partition() or 0, 0):
                    ends.pop(message.partition() or 0, None)
        for number, end in ends.items():
            [at] = consumer.position([TopicPartition(topic, number)])
            found.stuck[number] = f"offset {max(at.offset, 0)} of {end}"
    return found


def ends_of(servers: str, topic: str) -> dict[int, int]:
    """High watermark of each partition, as a `read_uncommitted` consumer is told."""
    with consumer_of(servers, "read_uncommitted") as consumer:
        partitions = consumer.list_topics(topic, timeout=20).topics[topic].partitions
        return {
            number: consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=20)[1]
            for number in partitions
        }


@contextmanager
def consumer_of(servers: str, isolation: str) -> Iterator[Consumer]:
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": f"chaos-{uuid.uuid4().hex}",
            "isolation.level": isolation,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )
    try:
        yield consumer
    finally:
        consumer.close()


def transactions(servers: str, prefix: str) -> dict[str, str]:
    """Transactional id -> the broker's state of it, for every id that begins with `prefix`."""
    with closing(KafkaAdminClient(bootstrap_servers=[servers])) as admin:
        listed = admin.list_transactions()
    return {
        each.transactional_id: each.state.value
        for group in listed.values()
        for each in group
        if each.transactional_id.startswith(prefix)
    }


def transaction_problems(servers: str, prefix: str, sinks: list[str], seconds: float) -> list[str]:
    """Transactions of the prefix that are still open after that time, and ids that are of none
    of the job's sinks."""
    deadline = time.monotonic() + seconds
    ours = re.compile(f"{re.escape(prefix)}-({'|'.join(map(re.escape, sinks))})-.+")
    while True:
        found = transactions(servers, prefix)
        left = [f"{each} is {state}" for each, state in found.items() if state not in _ENDED]
        if not left or time.monotonic() > deadline:
            break
        time.sleep(0.5)
    strange = [f"{each} is of no sink of {prefix}" for each in found if not ours.fullmatch(each)]
    return [f"transaction {problem}" for problem in left + strange]


def keep_markers(servers: str) -> None:
    """Before the first job: none of the run's batch markers is compacted away, as they are behind
    an hour otherwise."""
    settings = {"cleanup.policy": "compact", "segment.ms": str(7 * 24 * 3600 * 1000)}
    ensure_topics(servers, {DEFAULT_MARKER_TOPIC: 1}, settings)


def markers(
    servers: str, prefix: str, topic: str = DEFAULT_MARKER_TOPIC
) -> tuple[dict[tuple[int, str, int], int], list[tuple[int, str, int]]]:
    """Records per (batch, sink, partition) by the batch markers that are committed, and those
    keys that have more than one. Contract: `keep_markers`, as the topic's active segment is never
    compacted."""
    contents = committed(servers, topic)
    if contents.stuck:
        raise TimeoutError(f"{topic} cannot be read to its end: {contents.stuck}")
    counts: dict[tuple[int, str, int], int] = {}
    doubled = []
    for message in contents.messages:
        owner, sink, partition = json.loads(message.key() or b"")
        if owner != prefix or not message.value():
            continue
        marker = json.loads(message.value() or b"")
        place = int(marker["batch_id"]), str(sink), int(partition)
        if place in counts:
            doubled.append(place)
        counts[place] = int(marker["count"])
    return counts, doubled
