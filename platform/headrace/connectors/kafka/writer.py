"""The task's side of the protocol: begin, write, prepare, or abort.

`open_writer` gives the writer for a sink's guarantee; all of them have the steps of `SinkWriter`.
A task calls `write` any number of times, then `prepare` once, and sends its answer to the driver;
`abort` at any point, also after `prepare`, if the task fails. A task that dies without `abort`
leaves an open transaction, which the driver aborts.
"""

from __future__ import annotations

import logging
import os
from typing import Protocol

from confluent_kafka import KafkaException, Producer

from headrace.connectors.kafka import errors, markers, pool, producers, sending, steps
from headrace.connectors.kafka.messages import PreparedTransaction, Resume, TaskIdentity, Written
from headrace.connectors.kafka.partitioners import Placement
from headrace.connectors.kafka.sending import Record
from headrace.connectors.kafka.settings import DeliveryGuarantee, SinkSettings
from headrace.connectors.kafka.transaction import State, TransactionState

log = logging.getLogger(__name__)

_ABORT_SECONDS = 10.0

Prepared = PreparedTransaction | Written


class SinkWriter(Protocol):
    """What a task does with one partition of one sink."""

    def write(self, records: list[Record]) -> None:
        """Hand over records. The list and its dicts belong to the writer afterwards."""

    def prepare(self) -> Prepared | None:
        """All records are acknowledged; None if there were none. No `write` after it."""

    def abort(self) -> None:
        """Make sure nothing of an exactly-once partition becomes visible. Never raises."""


def open_writer(settings: SinkSettings, task: TaskIdentity, resume: Resume) -> SinkWriter:
    """The writer of `task`; `resume` is what the driver's recovery answered for this run."""
    if resume.is_committed(task, settings.name):
        return SkippingWriter(settings, task, resume)
    if settings.exactly_once:
        return TransactionalWriter(settings, task, resume)
    return PlainWriter(settings, task)


class TransactionalWriter:
    """One transaction for the partition, begun with its first record."""

    def __init__(self, settings: SinkSettings, task: TaskIdentity, resume: Resume) -> None:
        self._settings = settings
        self._task = task
        self._expected = resume.expected_count(task, settings.name)
        self._placement = Placement(settings.partitioner, settings.bootstrap_servers, task)
        self._pool = pool.pool_for(settings, resume.epoch)
        self._producer: producers.TransactionalProducer | None = None
        self._state = TransactionState()
        self._count = 0

    def write(self, records: list[Record]) -> None:
        if not records:
            return
        producer = self._producer or self._begin()
        self._count += len(records)
        try:
            sending.send(
                producer.client, self._settings.topic, records, producer.failed, self._placement
            )
        except BaseException:
            self.abort()
            raise

    def prepare(self) -> PreparedTransaction | None:
        if self._expected is not None and self._count != self._expected:
            self.abort()
            raise errors.ChangedRecords(
                f"sink {self._settings.name}, partition {self._task.partition}, "
                f"batch {self._task.batch_id}: {self._expected} records then, {self._count} now"
            )
        if self._producer is None:
            return None
        try:
            return self._prepare(self._producer)
        except BaseException:
            self.abort()
            raise

    def abort(self) -> None:
        producer, self._producer = self._producer, None
        self._state.to(State.ABORTED)
        if producer is None:
            return
        try:
            producer.client.abort_transaction(_ABORT_SECONDS)
        except (KafkaException, SystemError) as error:  # the latter of one that was fenced
            # The driver aborts it at the next commit, or the next recovery.
            log.warning("could not abort %s: %s", producer.transactional_id, sending.reason(error))
            return
        self._pool.discard(producer)

    def _begin(self) -> producers.TransactionalProducer:
        self._state.to(State.OPEN)
        producer = self._pool.take(self._task.batch_id)
        try:
            producer.client.begin_transaction()
        except KafkaException as error:
            raise errors.ProducerUnavailable(sending.reason(error)) from None
        self._producer = producer
        steps.reached(steps.Step.BEGUN)
        return producer

    def _prepare(self, producer: producers.TransactionalProducer) -> PreparedTransaction:
        prepared = PreparedTransaction(
            sink=self._settings.name,
            partition=self._task.partition,
            transactional_id=producer.transactional_id,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            count=self._count,
            attempt=self._task.attempt,
            retry=self._task.retry,
        )
        marker: Record = {
            "topic": self._settings.marker_topic,
            "partition": 0,
            "key": markers.key(
                self._settings.transactional_id_prefix, prepared.sink, prepared.partition
            ),
            "value": markers.value(self._task.batch_id, prepared),
        }
        sending.send(producer.client, None, [marker], producer.failed)
        sending.flush(
            producer.client, producer.failed, self._settings.transaction_timeout_ms / 1000
        )
        self._state.to(State.PREPARED)
        steps.reached(steps.Step.PREPARED)
        return prepared


class SkippingWriter:
    """For a partition that recovery found committed: reads its records, writes none."""

    def __init__(self, settings: SinkSettings, task: TaskIdentity, resume: Resume) -> None:
        self._sink = settings.name
        self._task = task
        self._expected = resume.expected_count(task, settings.name)
        self._check = settings.exactly_once
        self._count = 0

    def write(self, records: list[Record]) -> None:
        self._count += len(records)

    def prepare(self) -> Written | None:
        if self._check and self._expected is not None and self._count != self._expected:
            raise errors.ChangedRecords(
                f"sink {self._sink}, partition {self._task.partition}, batch "
                f"{self._task.batch_id}: {self._expected} records then, {self._count} now"
            )
        if not self._count:
            return None
        return Written(self._sink, self._task.partition, self._count, skipped=True)

    def abort(self) -> None:
        pass


class PlainWriter:
    """Without transactions: `prepare` waits for Kafka to acknowledge, nothing can be undone.

    For `DeliveryGuarantee.NONE`, records that Kafka did not take are logged and lost.
    """

    def __init__(self, settings: SinkSettings, task: TaskIdentity) -> None:
        self._settings = settings
        self._task = task
        self._placement = Placement(settings.partitioner, settings.bootstrap_servers, task)
        self._client, self._failed = _plain_producer(settings)
        self._failed.clear()
        self._count = 0

    def write(self, records: list[Record]) -> None:
        if records:
            self._count += len(records)
            topic, failures = self._settings.topic, self._failures()
            try:
                sending.send(self._client, topic, records, failures, self._placement)
            except BaseException:
                self.abort()
                raise

    def prepare(self) -> Written | None:
        if not self._count:
            return None
        timeout = float(self._settings.options.get("message.timeout.ms", 300_000)) / 1000
        try:
            sending.flush(self._client, self._failures(), timeout + 1)
        except BaseException:
            self.abort()
            raise
        return Written(self._settings.name, self._task.partition, self._count)

    def abort(self) -> None:
        """Its producer is not used again: it may have met an error that it cannot get over."""
        known = _plain.get(_place(self._settings))
        if known is not None and known[1] is self._client:
            del _plain[_place(self._settings)]

    def _failures(self) -> list[str]:
        if self._settings.guarantee is not DeliveryGuarantee.NONE:
            return self._failed
        if self._failed:
            log.warning(
                "sink %s lost %d records: %s",
                self._settings.name,
                len(self._failed),
                self._failed[0],
            )
            self._failed.clear()
        return []


_plain: dict[tuple[int, str, str], tuple[SinkSettings, Producer, list[str]]] = {}


def _place(settings: SinkSettings) -> tuple[int, str, str]:
    return os.getpid(), settings.bootstrap_servers, settings.name


def _plain_producer(settings: SinkSettings) -> tuple[Producer, list[str]]:
    """This process's producer of a sink without transactions, and the errors it has met."""
    place = _place(settings)
    known = _plain.get(place)
    if known is None or known[0] != settings:
        failed: list[str] = []
        client = producers.make_client(
            settings,
            {
                "enable.idempotence": settings.guarantee is DeliveryGuarantee.AT_LEAST_ONCE,
                "on_delivery": lambda error, _message: failed.append(
                    f"{error.name()}: {error.str()}"
                ),
            },
        )
        known = _plain[place] = (settings, client, failed)
    return known[1], known[2]
