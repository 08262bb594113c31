"""Batch markers: one record per sink and partition, written inside the transaction it speaks of.

With `read_committed` the marker of a transaction is visible exactly when the transaction is
committed, so it settles the question after the broker has forgotten the transaction itself. The
topic has one partition and is compacted: the newest marker of each sink and partition stays.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import (
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from headrace.connectors.kafka import errors, ids
from headrace.connectors.kafka.messages import PreparedTransaction
from headrace.connectors.kafka.settings import SinkSettings
from headrace.connectors.twophase.deadline import Deadline

log = logging.getLogger(__name__)

_POLL_SECONDS = 0.2
#: Brokers that answer nothing for so long are given up.
QUIET_SECONDS = 30.0
_FORBIDDEN = frozenset(
    {
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError._AUTHENTICATION,
    }
)


@dataclass(frozen=True, slots=True)
class Marker:
    """Which transaction wrote the newest committed records of a sink's partition."""

    batch_id: int
    transactional_id: str
    producer_id: int
    producer_epoch: int
    count: int

    def is_of(self, prepared: PreparedTransaction) -> bool:
        return (self.transactional_id, self.producer_id, self.producer_epoch) == (
            prepared.transactional_id,
            prepared.producer_id,
            prepared.producer_epoch,
        )


def key(prefix: str, sink: str, partition: int) -> bytes:
    return json.dumps([prefix, sink, partition], separators=(",", ":")).encode()


def value(batch_id: int, prepared: PreparedTransaction) -> bytes:
    return json.dumps(
        {
            "batch_id": batch_id,
            "transactional_id": prepared.transactional_id,
            "producer_id": prepared.producer_id,
            "producer_epoch": prepared.producer_epoch,
            "count": prepared.count,
            "attempt": prepared.attempt,
        },
        separators=(",", ":"),
    ).encode()


def parse(data: bytes) -> Marker:
    values: dict[str, Any] = json.loads(data)
    values.pop("attempt", None)
    return Marker(**values)


def read(
    settings: SinkSettings, gone: Sequence[PreparedTransaction]
) -> dict[PreparedTransaction, Marker]:
    """The newest committed marker where each of these transactions would have left its own, which
    is under the prefix that it was written with: the job may have another one by now.

    Call it when none of this job's transactions is open any more. A transaction that another job
    has open hides what is behind it, so this waits for it up to the sink's own transaction
    timeout, then raises `MarkersBlocked`. Raises `ClusterUnreachable` when nothing comes for a
    while, however long the topic is, and `CommitRefused` when it may not be read.
    """
    place = TopicPartition(settings.marker_topic, 0)
    end = _wait_until_readable(settings, place)
    consumer = Consumer(
        {
            **settings.client_options(),
            "group.id": f"{settings.id_root}-recovery",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
        }
    )
    wanted = {key(ids.prefix(each.transactional_id, each.sink), *each.key): each for each in gone}
    try:
        consumer.assign([TopicPartition(place.topic, place.partition, 0)])
        found = _read_until(consumer, end, settings, wanted.keys())
    finally:
        consumer.close()
    return {wanted[at]: parse(data) for at, data in found.items()}


def _wait_until_readable(settings: SinkSettings, place: TopicPartition) -> int:
    """End offset of the topic as of now, once everything before it is decided."""
    admin = AdminClient({**settings.client_options()})
    end = _latest(admin, place, IsolationLevel.READ_UNCOMMITTED)
    deadline = time.monotonic() + settings.transaction_timeout_ms / 1000
    while (stable := _latest(admin, place, IsolationLevel.READ_COMMITTED)) < end:
        if time.monotonic() > deadline:
            raise errors.MarkersBlocked(f"{place.topic} at offset {stable} of {end}")
        log.info("waiting for a transaction in %s, offset %s of %s", place.topic, stable, end)
        time.sleep(_POLL_SECONDS)
    return end


def _latest(admin: AdminClient, place: TopicPartition, isolation: IsolationLevel) -> int:
    newest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    patience = Deadline.after(QUIET_SECONDS)
    while True:
        try:
            answers = admin.list_offsets(
                {place: newest}, isolation_level=isolation, request_timeout=QUIET_SECONDS
            )
            return int(answers[place].result().offset)
        except KafkaException as problem:
            _bear(place.topic, problem.args[0])
            if patience.passed():
                raise errors.ClusterUnreachable(f"{place.topic}: {problem}") from None
        time.sleep(_POLL_SECONDS)


def _read_until(
    consumer: Consumer, end: int, settings: SinkSettings, wanted: Container[bytes]
) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    patience = Deadline.after(QUIET_SECONDS)
    while not patience.passed():
        for message in consumer.consume(1000, _POLL_SECONDS):
            problem = message.error()
            if problem is None:
                patience = Deadline.after(QUIET_SECONDS)
                at, data = message.key(), message.value()
                if at is not None and at in wanted and data:
                    found[at] = data
                if (message.offset() or 0) >= end - 1:
                    return found
            elif problem.code() != KafkaError._PARTITION_EOF:
                _bear(settings.marker_topic, problem)
            elif (message.offset() or 0) >= end:
                return found
    raise errors.ClusterUnreachable(
        f"nothing of {settings.marker_topic} came for {QUIET_SECONDS:.0f} s, before offset {end}"
    )


def _bear(topic: str, problem: KafkaError) -> None:
    """Of what passes by itself only a note is taken. Raises `CommitRefused` for the rest."""
    if problem.code() in _FORBIDDEN:
        raise errors.CommitRefused(f"{topic}: {problem.str()}")
    log.warning("reading %s, trying again: %s", topic, problem.str())
