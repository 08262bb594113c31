"""Hands records to a librdkafka producer, in batches where its batch call can carry them.

A record is a dict of `key`, `value` and, only where given, `headers`, `timestamp` (milliseconds),
`partition` and `topic`. The batch call knows neither headers nor timestamps nor partitions, so
lists with such records take one call per record: slower, same order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer

from headrace.connectors.kafka import errors

Record = dict[str, Any]

_BATCHED = frozenset({"headers", "timestamp", "partition", "topic"})
_SINGLE = frozenset({"headers", "timestamp", "partition"})
#: How long to let librdkafka work off its queue before offering it more.
_FULL_QUEUE_SECONDS = 0.05


def send(client: Producer, topic: str | None, records: list[Record], failed: list[str]) -> None:
    """Queue `records`, waiting while the queue is full. `failed` is the list that the producer's
    delivery callback fills; its first entry ends the wait. Raises `WriteFailed`."""
    if topic is not None and all(_BATCHED.isdisjoint(record) for record in records):
        _send_batch(client, topic, records, failed)
    elif all(_SINGLE.isdisjoint(record) for record in records):
        for each_topic, part in _by_topic(topic, records).items():
            _send_batch(client, each_topic, part, failed)
    else:
        for record in records:
            _send_one(client, topic_of(record, topic), record, failed)
    client.poll(0)
    check(failed)


def topic_of(record: Mapping[str, Any], topic: str | None) -> str:
    chosen = record.get("topic") or topic
    if not chosen:
        raise errors.WriteFailed("a record names no topic, and the sink has none of its own")
    return str(chosen)


def check(failed: list[str]) -> None:
    if failed:
        raise errors.WriteFailed(f"{len(failed)} records, first: {failed[0]}")


def _by_topic(topic: str | None, records: list[Record]) -> dict[str, list[Record]]:
    parts: dict[str, list[Record]] = {}
    for record in records:
        parts.setdefault(topic_of(record, topic), []).append(record)
    return parts


def _send_batch(client: Producer, topic: str, records: list[Record], failed: list[str]) -> None:
    while True:
        if client.produce_batch(topic, records) == len(records):
            return
        # The messages that were not taken carry the reason.
        records = [record for record in records if "_error" in record]
        reasons = {record.pop("_error") for record in records}
        for reason in reasons:
            if reason.code() != KafkaError._QUEUE_FULL:
                raise errors.WriteFailed(f"{topic}: {reason.name()}: {reason.str()}")
        client.poll(_FULL_QUEUE_SECONDS)
        check(failed)


def _send_one(client: Producer, topic: str, record: Record, failed: list[str]) -> None:
    options = {name: record[name] for name in _SINGLE if record.get(name) is not None}
    while True:
        try:
            client.produce(topic, record.get("value"), record.get("key"), **options)
            return
        except BufferError:
            client.poll(_FULL_QUEUE_SECONDS)
            check(failed)
        except KafkaException as error:
            reason = error.args[0]
            raise errors.WriteFailed(f"{topic}: {reason.name()}: {reason.str()}") from None
