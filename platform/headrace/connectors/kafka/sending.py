"""Hands records to a librdkafka producer, in batches where its batch call can carry them.

A record is a dict of `key`, `value` and, only where given, `headers`, `timestamp` (milliseconds),
`partition` and `topic`. The batch call has one topic and partition per call and knows neither
headers nor timestamps, so lists with such records take one call per record: slower, same order.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer

from headrace.connectors.kafka import errors
from headrace.connectors.kafka.partitioners import Placement, topic_of

Record = dict[str, Any]

_BATCHED = frozenset({"headers", "timestamp", "partition", "topic"})
_SINGLE = frozenset({"headers", "timestamp"})
#: librdkafka's word for "choose one".
_ANY = -1
#: How long to let librdkafka work off its queue before offering it more.
_FULL_QUEUE_SECONDS = 0.05
_FLUSH_STEP_SECONDS = 1.0


@contextmanager
def failing_as_written() -> Iterator[None]:
    """Whatever librdkafka raises becomes `WriteFailed`, or `InvalidRecord` for wrong types.

    A fatal error (the producer was fenced) is raised by whichever call serves its event; during
    `flush` a delivery callback may run while it is pending, which CPython calls a SystemError.
    """
    try:
        yield
    except (KafkaException, SystemError) as error:
        raise errors.WriteFailed(reason(error.__cause__ or error)) from None
    except TypeError as error:
        raise errors.InvalidRecord(str(error)) from None


def reason(error: BaseException) -> str:
    """What librdkafka says, without the repr of its objects."""
    if isinstance(error, KafkaException) and error.args:
        return f"{error.args[0].name()}: {error.args[0].str()}"
    return str(error) or type(error).__name__


def send(
    client: Producer,
    topic: str | None,
    records: list[Record],
    failed: list[str],
    placement: Placement | None = None,
) -> None:
    """Queue `records`, waiting while the queue is full. `failed` is the list that the producer's
    delivery callback fills; its first entry ends the wait. With a `placement`, partitions are
    chosen and checked. Raises `WriteFailed`, `InvalidRecord`."""
    with failing_as_written():
        if placement is not None:
            placement.assign(client, topic, records)
        if topic is not None and all(_BATCHED.isdisjoint(record) for record in records):
            _send_batch(client, topic, records, failed)
        elif all(_SINGLE.isdisjoint(record) for record in records):
            _send_parts(client, topic, records, failed, placement)
        else:
            _send_each(client, topic, records, failed, placement)
        client.poll(0)
    check(failed)


def flush(client: Producer, failed: list[str], timeout: float) -> None:
    """Wait until everything is acknowledged. Raises `WriteFailed`."""
    deadline = time.monotonic() + timeout
    with failing_as_written():
        while client.flush(_FLUSH_STEP_SECONDS):
            check(failed)
            if time.monotonic() > deadline:
                raise errors.WriteFailed(f"not acknowledged within {timeout:.0f} s")
    check(failed)


def check(failed: list[str]) -> None:
    if failed:
        raise errors.WriteFailed(f"{len(failed)} records, first: {failed[0]}")


def _send_parts(
    client: Producer,
    topic: str | None,
    records: list[Record],
    failed: list[str],
    placement: Placement | None,
) -> None:
    parts: dict[tuple[str, int | None], list[Record]] = {}
    for record in records:
        place = topic_of(record, topic), record.get("partition")
        parts.setdefault(place, []).append(record)
    chosen = {topic for topic, partition in parts if partition is not None}
    if any((topic, None) in parts for topic in chosen):
        # One partition may get records of two parts, whose order would be lost.
        _send_each(client, topic, records, failed, placement)
        return
    for (each_topic, partition), part in parts.items():
        number = _number(client, each_topic, partition, placement)
        _send_batch(client, each_topic, part, failed, number)


def _send_batch(
    client: Producer,
    topic: str,
    records: list[Record],
    failed: list[str],
    partition: int = _ANY,
) -> None:
    while True:
        if client.produce_batch(topic, records, partition=partition) == len(records):
            return
        # The messages that were not taken carry the reason.
        records = [record for record in records if "_error" in record]
        for problem in [record.pop("_error") for record in records]:
            if problem.code() != KafkaError._QUEUE_FULL:
                raise errors.WriteFailed(f"{topic}: {problem.name()}: {problem.str()}")
        client.poll(_FULL_QUEUE_SECONDS)
        check(failed)


def _send_each(
    client: Producer,
    topic: str | None,
    records: list[Record],
    failed: list[str],
    placement: Placement | None,
) -> None:
    for record in records:
        chosen = topic_of(record, topic)
        number = _number(client, chosen, record.get("partition"), placement)
        _send_one(client, chosen, number, record, failed)


def _send_one(
    client: Producer, topic: str, partition: int, record: Record, failed: list[str]
) -> None:
    options = {name: record[name] for name in _SINGLE if record.get(name) is not None}
    while True:
        try:
            client.produce(topic, record.get("value"), record.get("key"), partition, **options)
            return
        except BufferError:
            client.poll(_FULL_QUEUE_SECONDS)
            check(failed)


def _number(
    client: Producer, topic: str, partition: int | None, placement: Placement | None
) -> int:
    """For librdkafka: the partition that the record names, if any."""
    if partition is None:
        return _ANY
    if placement is not None:
        placement.check(client, topic, partition)
    return partition
