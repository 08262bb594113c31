"""Hands records to a librdkafka producer, in batches where its batch call can carry them.

A record is a dict of `key`, `value` and, only where given, `headers`, `timestamp` (milliseconds),
`partition` and `topic`. The batch call knows neither headers nor timestamps nor partitions, so
lists with such records take one call per record: slower, same order.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer

from headrace.connectors.kafka import errors

Record = dict[str, Any]

_BATCHED = frozenset({"headers", "timestamp", "partition", "topic"})
_SINGLE = frozenset({"headers", "timestamp", "partition"})
#: How long to let librdkafka work off its queue before offering it more.
_FULL_QUEUE_SECONDS = 0.05
_FLUSH_STEP_SECONDS = 1.0


@contextmanager
def failing_as_written() -> Iterator[None]:
    """Whatever librdkafka raises becomes `WriteFailed`.

    A fatal error (the producer was fenced) is raised by whichever call serves its event; during
    `flush` a delivery callback may run while it is pending, which CPython calls a SystemError.
    """
    try:
        yield
    except (KafkaException, SystemError) as error:
        raise errors.WriteFailed(reason(error.__cause__ or error)) from None


def reason(error: BaseException) -> str:
    """What librdkafka says, without the repr of its objects."""
    if isinstance(error, KafkaException) and error.args:
        return f"{error.args[0].name()}: {error.args[0].str()}"
    return str(error) or type(error).__name__


def send(client: Producer, topic: str | None, records: list[Record], failed: list[str]) -> None:
    """Queue `records`, waiting while the queue is full. `failed` is the list that the producer's
    delivery callback fills; its first entry ends the wait. Raises `WriteFailed`."""
    with failing_as_written():
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


def flush(client: Producer, failed: list[str], timeout: float) -> None:
    """Wait until everything is acknowledged. Raises `WriteFailed`."""
    deadline = time.monotonic() + timeout
    with failing_as_written():
        while client.flush(_FLUSH_STEP_SECONDS):
            check(failed)
            if time.monotonic() > deadline:
                raise errors.WriteFailed(f"not acknowledged within {timeout:.0f} s")
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
        for problem in [record.pop("_error") for record in records]:
            if problem.code() != KafkaError._QUEUE_FULL:
                raise errors.WriteFailed(f"{topic}: {problem.name()}: {problem.str()}")
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
