"""librdkafka producers, and what they tell of themselves."""

from __future__ import annotations

import json
import time
from typing import Any

from confluent_kafka import KafkaException, Producer

from headrace.connectors.kafka import errors, sending
from headrace.connectors.kafka.settings import SinkSettings

#: How soon after `init_transactions` librdkafka tells the producer id, in its statistics.
STATISTICS_INTERVAL_MS = 100
OPEN_TIMEOUT_SECONDS = 60.0
#: librdkafka repeats a request no sooner than after 0.8 times the lesser of these options. An
#: EndTxn that is repeated could arrive late, and end the next transaction.
_BACKOFFS_MS = {"retry.backoff.ms": 100.0, "retry.backoff.max.ms": 1000.0}

#: Suits batches; any of them is overridden by the sink's own options.
DEFAULTS: dict[str, Any] = {
    "linger.ms": 5,
    "batch.size": 1_000_000,
    "queue.buffering.max.messages": 500_000,
    "queue.buffering.max.kbytes": 262_144,
    # librdkafka's own check, made far from any broker's: brokers decide how large is too large
    "message.max.bytes": 100_000_000,
    # a key goes where Java's producers put it; librdkafka's own default differs
    "partitioner": "murmur2_random",
}


def make_client(settings: SinkSettings, options: dict[str, Any]) -> Producer:
    """A librdkafka producer; its `on_delivery` hears of failures only. Raises `InvalidSettings`
    for options that librdkafka does not take."""
    merged = {**DEFAULTS, **settings.client_options(), **options}
    try:
        return Producer({**merged, "delivery.report.only.error": True})
    except (KafkaException, ValueError, TypeError) as error:
        detail = f"sink {settings.name!r}: {sending.reason(error)}"
        raise errors.InvalidSettings(detail) from None


def check_options(settings: SinkSettings) -> None:
    """Refuse, before any task runs, what would fail in every one of them."""
    options: dict[str, Any] = {"log_level": 0}
    if settings.exactly_once:
        options["transactional.id"] = f"{settings.id_root}-check"
        options["transaction.timeout.ms"] = settings.transaction_timeout_ms
    make_client(settings, options)


class TransactionalProducer:
    """One initialised producer. It serves one transaction of a batch, and those of later batches
    for as long as each is certainly over when the next begins (`ready_again`)."""

    def __init__(self, settings: SinkSettings, transactional_id: str) -> None:
        self.transactional_id = transactional_id
        self.producer_id = -1
        self.producer_epoch = -1
        #: Errors of records that Kafka did not take.
        self.failed: list[str] = []
        #: Its task has written all it had; until then the client's events are the task's.
        self.prepared = False
        options = settings.client_options()
        shortest = min(float(options.get(name, ms)) for name, ms in _BACKOFFS_MS.items())
        self._again_seconds = shortest / 2 / 1000
        self.client = make_client(
            settings,
            {
                "transactional.id": transactional_id,
                "transaction.timeout.ms": settings.transaction_timeout_ms,
                "statistics.interval.ms": STATISTICS_INTERVAL_MS,
                "stats_cb": self._on_statistics,
                "on_delivery": self._on_failed_delivery,
            },
        )

    def _on_statistics(self, text: str) -> None:
        if self.producer_id < 0:
            state = json.loads(text).get("eos", {})
            self.producer_epoch = int(state.get("producer_epoch", -1))
            self.producer_id = int(state.get("producer_id", -1))

    def _on_failed_delivery(self, error: Any, _message: Any) -> None:
        if error is not None:
            self.failed.append(f"{error.name()}: {error.str()}")

    def initialise(self, timeout: float = OPEN_TIMEOUT_SECONDS) -> None:
        """Fence whoever used the id before, and learn producer id and epoch."""
        deadline = time.monotonic() + timeout
        try:
            self.client.init_transactions(timeout)
        except KafkaException as error:
            raise errors.ProducerUnavailable(
                f"{self.transactional_id}: {sending.reason(error)}"
            ) from None
        while self.producer_id < 0 or self.producer_epoch < 0:
            if time.monotonic() > deadline:
                raise errors.ProducerUnavailable(f"{self.transactional_id}: no producer id")
            self.client.poll(0.02)

    def ready_again(self) -> bool:
        """Let the client know that the driver has ended its transaction. False when the producer
        must not be used again: Kafka, or the client, is of another opinion, or the answer took so
        long that the client may have asked twice."""
        started = time.monotonic()
        self.prepared = False
        try:
            self.client.commit_transaction(self._again_seconds)
        except (KafkaException, SystemError):  # the latter of one that was fenced
            return False
        return not self.failed and time.monotonic() - started < self._again_seconds


def open_producer(settings: SinkSettings, name: str) -> TransactionalProducer:
    producer = TransactionalProducer(settings, name)
    producer.initialise()
    return producer
