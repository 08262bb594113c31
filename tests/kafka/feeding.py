"""How tests fill topics, and change them as an administrator would."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

WAIT_SECONDS = 180.0
#: Of a transaction that a test leaves open while slow things happen: the most a broker grants.
OPEN_MS = 900_000


def produce(
    servers: str, topic: str, values: Iterable[str], partition: int = 0, timestamp: int = 0
) -> None:
    """`timestamp` (ms) is that of the first; each further one is stamped 1 ms later."""
    producer = Producer({"bootstrap.servers": servers, "topic.metadata.refresh.interval.ms": 200})
    _send(producer, topic, values, partition, timestamp)
    producer.flush()


def transact(servers: str, topic: str, values: Iterable[str], partition: int = 0) -> Producer:
    """An open transaction that holds the values; to be committed or aborted."""
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "transactional.id": uuid.uuid4().hex,
            "transaction.timeout.ms": OPEN_MS,
        }
    )
    producer.init_transactions(WAIT_SECONDS)
    producer.begin_transaction()
    _send(producer, topic, values, partition, 0)
    producer.flush()
    return producer


def _send(
    producer: Producer, topic: str, values: Iterable[str], partition: int, timestamp: int
) -> None:
    failed: list[str] = []
    for at, value in enumerate(values):
        stamped = {"timestamp": timestamp + at} if timestamp else {}
        producer.produce(
            topic,
            value.encode(),
            partition=partition,
            on_delivery=lambda error, _: failed.append(str(error)) if error else None,
            **stamped,
        )
    producer.flush()
    assert not failed, failed


class Administrator:
    def __init__(self, servers: str) -> None:
        self._client = AdminClient({"bootstrap.servers": servers})

    def create(self, *topics: str, partitions: int = 1) -> None:
        new = [NewTopic(name, partitions, config={"retention.ms": "-1"}) for name in topics]
        for future in self._client.create_topics(new).values():
            future.result()
        for name in topics:
            self._until(lambda name=name: self._partitions(name) == partitions)

    def add_partitions(self, topic: str, total: int) -> None:
        self._client.create_partitions([NewPartitions(topic, total)])[topic].result()
        self._until(lambda: self._partitions(topic) == total)

    def delete(self, topic: str) -> None:
        self._client.delete_topics([topic])[topic].result()
        self._until(lambda: self._partitions(topic) == 0)

    def delete_records(self, topic: str, before: int, partition: int = 0) -> None:
        where = TopicPartition(topic, partition, before)
        for future in self._client.delete_records([where]).values():
            assert future.result().low_watermark == before

    def delete_group(self, group: str) -> None:
        self._client.delete_consumer_groups([group])[group].result()

    def _partitions(self, topic: str) -> int:
        known = self._client.list_topics(timeout=60).topics.get(topic)
        return 0 if known is None or known.error else len(known.partitions)

    @staticmethod
    def _until(condition: object) -> None:
        assert callable(condition)
        deadline = time.monotonic() + WAIT_SECONDS
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.05)
