"""Asks Kafka's transaction coordinators to end, list and fence transactions of other clients.

librdkafka has no calls for that, so this goes through kafka-python, and through some of its
private names: all of them are in this module, the version is pinned, and tests/kafka pins what
they do. Every answer is a plain error code; `answers` says what it means.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import kafka.errors
from kafka.admin import ConfigResource, KafkaAdminClient
from kafka.protocol.metadata import CoordinatorType
from kafka.protocol.producer.transaction import EndTxnRequest, InitProducerIdRequest
from kafka.structs import OffsetAndMetadata, TopicPartition

from headrace.connectors.kafka import answers, driver_security, errors, marker_topic
from headrace.connectors.kafka.messages import PreparedTransaction
from headrace.connectors.kafka.settings import SinkSettings

log = logging.getLogger(__name__)
# At DEBUG it would log its settings, passwords included.
logging.getLogger("kafka.admin.client").setLevel(logging.INFO)

#: librdkafka opens transactions the way that goes with version 4 and lower; with 5 the broker
#: would raise the epoch at the end of a transaction.
END_TXN_VERSION = 4
#: The newest that is stable in kafka-python's schemas.
INIT_PRODUCER_ID_VERSION = 5
BOOTSTRAP_MS = 5_000
REQUEST_MS = 10_000
TOPIC_SECONDS = 15.0
TOPIC_PAUSE_SECONDS = 0.1

#: Of a listed transaction; in the other states it is empty, ended, or about to end.
_UNDECIDED = "Ongoing"
_REFUSALS = (kafka.errors.AuthorizationError, kafka.errors.SaslAuthenticationFailedError)


class Coordinator:
    """One connection to a cluster. Its calls may come from several threads.

    A call that finds no broker answers `answers.UNANSWERED` for what it could not ask, and the
    next call connects anew.
    """

    def __init__(self, settings: SinkSettings) -> None:
        self._configuration: dict[str, Any] = {
            "bootstrap_servers": [each.strip() for each in settings.bootstrap_servers.split(",")],
            "client_id": f"headrace-{settings.id_root}",
            "bootstrap_timeout_ms": BOOTSTRAP_MS,
            "request_timeout_ms": REQUEST_MS,
            "reconnect_backoff_max_ms": 1000,
            **driver_security.client_settings(settings.options),
        }
        self._lock = threading.Lock()
        self._client: KafkaAdminClient | None = None

    def end(self, prepared: Iterable[PreparedTransaction], *, commit: bool) -> dict[str, int]:
        """EndTxn for each, in parallel; the error code per transactional id."""
        requests = {
            each.transactional_id: EndTxnRequest(
                transactional_id=each.transactional_id,
                producer_id=each.producer_id,
                producer_epoch=each.producer_epoch,
                committed=commit,
                max_version=END_TXN_VERSION,
            )
            for each in prepared
        }
        return self._ask_each(requests)

    def fence(self, transactional_ids: Iterable[str], timeout_ms: int) -> dict[str, int]:
        """InitProducerId for each: aborts what is open, shuts out who used it. Answers 51
        (CONCURRENT_TRANSACTIONS) until the abort is complete."""
        requests = {
            each: InitProducerIdRequest(
                transactional_id=each,
                transaction_timeout_ms=timeout_ms,
                max_version=INIT_PRODUCER_ID_VERSION,
            )
            for each in transactional_ids
        }
        return self._ask_each(requests)

    def list_ids(self, pattern: str) -> list[tuple[str, bool]]:
        """Ids that the whole `pattern` (RE2) matches, and whether each has a transaction that
        nobody has decided yet to commit or to abort. Raises `ClusterUnreachable`,
        `CommitRefused`."""
        try:
            listed = self._call(
                lambda client: client.list_transactions(transactional_id_pattern=pattern)
            )
        except kafka.errors.UnsupportedVersionError:  # brokers before 4.1
            listed = self._call(lambda client: client.list_transactions())
        found = [each for group in listed.values() for each in group]
        return [
            (each.transactional_id, each.state.value == _UNDECIDED)
            for each in found
            if re.fullmatch(pattern, each.transactional_id)
        ]

    def longest_timeout_ms(self) -> int | None:
        """The brokers' `transaction.max.timeout.ms`; None when we may not ask."""
        name = "transaction.max.timeout.ms"
        try:
            resource = ConfigResource("BROKER", str(self._brokers()[0]["broker_id"]))
            found = self._call(
                lambda client: client.describe_configs([resource], config_filter="all")
            )
            return int(next(iter(found["broker"].values()))[name]["value"])
        except (errors.CommitRefused, KeyError, StopIteration):
            return None

    def ensure_marker_topic(self, topic: str) -> str:
        """Create the compacted topic of the batch markers if it is missing; its topic id."""
        deadline = time.monotonic() + TOPIC_SECONDS
        while not (found := self._described(topic)):
            if time.monotonic() > deadline:
                raise errors.InvalidSettings(f"topic {topic} is missing, and cannot be created")
            with contextlib.suppress(kafka.errors.TopicAlreadyExistsError):
                options = marker_topic.made_for(self._count())
                self._call(partial(_create_topic, topic=topic, options=options))
            # It takes a moment until every broker knows a new topic, or forgets a deleted one.
            time.sleep(TOPIC_PAUSE_SECONDS)
        self._check_compacted(topic)
        if concern := marker_topic.concern(topic, found["partitions"], self._count()):
            log.warning("%s", concern)
        return str(found["topic_id"])

    def read_notes(self, topic: str, groups: Iterable[str]) -> dict[str, str]:
        """The metadata of the offset that each consumer group has committed in the topic, if it
        has. Raises `ClusterUnreachable`, `CommitRefused`."""
        place = TopicPartition(topic, 0)
        wanted = {group: [place] for group in groups}
        listed = self._call(lambda client: client.list_group_offsets(wanted))
        return {group: found[place].metadata for group, found in listed.items() if place in found}

    def write_notes(self, topic: str, notes: dict[str, str]) -> None:
        """The opposite of `read_notes`; the offsets themselves are the time. Raises as it does."""
        place, now = TopicPartition(topic, 0), int(time.time() * 1000)
        for group, note in notes.items():
            offsets = {place: OffsetAndMetadata(now, note, -1)}
            self._call(partial(_commit_offsets, group=group, offsets=offsets))

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _described(self, topic: str) -> dict[str, Any] | None:
        described = self._call(lambda client: client.describe_topics([topic]))
        return next((each for each in described if not each["error_code"]), None)

    def _brokers(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._call(lambda client: client.describe_cluster())[
            "brokers"
        ]
        return found

    def _count(self) -> int | None:
        with contextlib.suppress(errors.CommitRefused):
            return len(self._brokers())
        return None

    def _check_compacted(self, topic: str) -> None:
        resource = ConfigResource("TOPIC", topic)
        try:
            found = self._call(
                lambda client: client.describe_configs([resource], config_filter="all")
            )
            policy = found["topic"][topic]["cleanup.policy"]["value"]
        except (errors.CommitRefused, KeyError):
            return
        if policy != "compact":
            raise errors.InvalidSettings(
                f"topic {topic} has cleanup.policy={policy}; batch markers need compact"
            )

    def _ask_each(self, requests: dict[str, Any]) -> dict[str, int]:
        if not requests:
            return {}
        try:
            codes: dict[str, int] = self._call(
                lambda client: client._manager.run(_ask, client, requests)
            )
            return codes
        except errors.ClusterUnreachable as error:
            log.info("no answer about %d transactions: %s", len(requests), error.detail)
            return dict.fromkeys(requests, answers.UNANSWERED)

    def _call(self, ask: Callable[[KafkaAdminClient], Any]) -> Any:
        """Raises `ClusterUnreachable`, `CommitRefused`, or KafkaError for what asking again does
        not change."""
        try:
            return ask(self._connected())
        except _REFUSALS as error:
            raise errors.CommitRefused(str(error)) from error
        except (kafka.errors.RetriableError, OSError) as error:
            self.close()
            raise errors.ClusterUnreachable(str(error)) from error

    def _connected(self) -> KafkaAdminClient:
        with self._lock:
            if self._client is None:
                self._client = _connect(self._configuration)
            return self._client


def _connect(configuration: dict[str, Any]) -> KafkaAdminClient:
    """Its constructor starts a thread, then raises when no broker answers; `close` of what it has
    not finished does nothing, so the thread and its descriptors are given back here."""
    client = KafkaAdminClient.__new__(KafkaAdminClient)
    try:
        client.__init__(**configuration)
    except BaseException:
        for part, give_back in (("_client", "close"), ("_net", "stop")):
            with contextlib.suppress(Exception):
                getattr(getattr(client, part), give_back)()
        raise
    return client


def _create_topic(client: KafkaAdminClient, topic: str, options: dict[str, Any]) -> None:
    client.create_topics({topic: options})


def _commit_offsets(client: KafkaAdminClient, group: str, offsets: dict[Any, Any]) -> None:
    for error in client.alter_group_offsets(group, offsets).values():
        if error is not kafka.errors.NoError:
            raise error()


async def _ask(client: KafkaAdminClient, requests: dict[str, Any]) -> dict[str, int]:
    """Send all requests to their coordinators at once, then wait for the answers."""
    nodes = await client._find_coordinator_ids(list(requests), key_type=CoordinatorType.TRANSACTION)
    sent = {each: client._manager.send(requests[each], node_id=nodes[each]) for each in requests}
    codes = {}
    for each, future in sent.items():
        try:
            codes[each] = int((await future).error_code)
        except (kafka.errors.KafkaError, OSError) as error:
            log.info("no answer about %s: %s", each, error)
            codes[each] = answers.UNANSWERED
    if any(answers.classify(code) is answers.Answer.RETRY for code in codes.values()):
        _forget_coordinators(client, requests)
    return codes


def _forget_coordinators(client: KafkaAdminClient, transactional_ids: Iterable[str]) -> None:
    known = client._manager.cluster._coordinators
    for each in transactional_ids:
        known.pop((CoordinatorType.TRANSACTION, each), None)


_coordinators: dict[tuple[int, SinkSettings], Coordinator] = {}


def coordinator_for(settings: SinkSettings) -> Coordinator:
    """This process's connection for the sink, kept from batch to batch."""
    place = os.getpid(), settings
    if place not in _coordinators:
        _coordinators[place] = Coordinator(settings)
    return _coordinators[place]


def close_all() -> None:
    """Give up this process's connections; the next question opens them anew."""
    while _coordinators:
        _coordinators.popitem()[1].close()
