"""What the brokers of a source say: topics, their ids, offsets, a group's offsets.

Every method asks them, and raises JobFailed when they do not answer in time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future

from confluent_kafka import (
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._listoffsets import ListOffsetsResultInfo, OffsetSpec

from headrace.connectors.kafka import security, sending
from headrace.datastream.connectors.kafka import KafkaSource
from headrace.runtime.errors import JobFailed

ANSWER_SECONDS = 10.0

#: Topic -> its partitions.
Partitions = dict[str, list[int]]
#: Topic -> partition -> offset, in the form of Spark's offset log.
Offsets = dict[str, dict[str, int]]

_EARLIEST: OffsetSpec = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
_LATEST: OffsetSpec = OffsetSpec.latest()  # type: ignore[no-untyped-call]

_GONE = (
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError._NOENT,
)


_FORBIDDEN = (
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
)


class Brokers:
    """The Kafka cluster of one source, or of a sink's options."""

    def __init__(
        self, servers: str, options: Mapping[str, str], *, committed_only: bool = True
    ) -> None:
        """`committed_only`: whoever reads here does not read beyond the first open transaction.
        Raises JobFailed when the client does not take its options."""
        self._servers = servers
        self._committed_only = committed_only
        self._options: dict[str, str | int | float | bool] = {
            **options,
            "bootstrap.servers": servers,
        }
        try:
            self._admin = AdminClient(self._options)
        except (KafkaException, ValueError, TypeError) as error:
            raise JobFailed(
                f"the client of Kafka at {servers} does not take its options "
                f"({sending.reason(error)}); nothing was read. Correct them in the job.",
                restartable=False,
            ) from error

    @classmethod
    def of(cls, source: KafkaSource) -> Brokers:
        options = security.for_librdkafka(source.properties)
        isolation = source.properties.get("isolation.level", "read_committed")
        return cls(source.bootstrap_servers, options, committed_only=isolation == "read_committed")

    def topics(self) -> Partitions:
        """All topics that can be read."""
        with self._answering():
            known = self._admin.list_topics(timeout=ANSWER_SECONDS).topics
        return {t: sorted(m.partitions) for t, m in known.items() if m.error is None}

    def ids(self, topics: Iterable[str]) -> dict[str, str]:
        """An id tells a topic from a later one of the same name. Topics that are not there are
        left out."""
        asked = sorted(topics)
        if not asked:
            return {}
        found = {}
        with self._answering():
            described = self._admin.describe_topics(
                TopicCollection(asked), request_timeout=ANSWER_SECONDS
            )
            for topic, answer in described.items():
                with _unless_gone():
                    found[topic] = str(answer.result().topic_id)
        return found

    def earliest(self, partitions: Partitions) -> Offsets:
        return self._offsets(partitions, _EARLIEST, IsolationLevel.READ_UNCOMMITTED)

    def readable(self, partitions: Partitions) -> Offsets:
        """Behind the last record that can be read now."""
        committed, all_ = IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED
        return self._offsets(partitions, _LATEST, committed if self._committed_only else all_)

    def latest(self, partitions: Partitions) -> Offsets:
        """Behind the last record, of open transactions, too."""
        return self._offsets(partitions, _LATEST, IsolationLevel.READ_UNCOMMITTED)

    def at(self, timestamp_ms: int, partitions: Partitions) -> Offsets:
        """Partitions without a record of then or later are left out."""
        spec = OffsetSpec.for_timestamp(timestamp_ms)
        found = self._offsets(partitions, spec, IsolationLevel.READ_UNCOMMITTED)
        return {t: {p: o for p, o in each.items() if o >= 0} for t, each in found.items()}

    def committed(self, group: str, partitions: Partitions) -> Offsets:
        """What the group has committed; partitions where it has nothing are left out."""
        consumer = Consumer({**self._options, "group.id": group, "enable.auto.commit": False})
        asked = [TopicPartition(t, p) for t, numbers in partitions.items() for p in numbers]
        try:
            with self._answering():
                answers = consumer.committed(asked, timeout=ANSWER_SECONDS) if asked else []
                answers = [each for each in answers if _there(each)]
        finally:
            consumer.close()
        found: Offsets = {}
        for answer in answers:
            if answer.offset >= 0:
                found.setdefault(answer.topic, {})[str(answer.partition)] = answer.offset
        return found

    def _offsets(
        self, partitions: Partitions, spec: OffsetSpec, isolation: IsolationLevel
    ) -> Offsets:
        asked = {TopicPartition(t, p): spec for t, numbers in partitions.items() for p in numbers}
        if not asked:
            return {}
        found: Offsets = {}
        with self._answering():
            answers: Mapping[TopicPartition, Future[ListOffsetsResultInfo]]
            answers = self._admin.list_offsets(
                asked, isolation_level=isolation, request_timeout=ANSWER_SECONDS
            )
            for where, answer in answers.items():
                with _unless_gone():
                    offset = answer.result().offset
                    found.setdefault(where.topic, {})[str(where.partition)] = offset
        return found

    @contextlib.contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except KafkaException as error:
            if error.args[0].code() in _FORBIDDEN:
                raise JobFailed(
                    f"Kafka at {self._servers} does not allow the job what it asks for "
                    f"({sending.reason(error)}); nothing is lost. Give its user the right to read "
                    "the topics and the group, or correct them in the job."
                ) from error
            raise JobFailed(
                f"Kafka at {self._servers} does not answer ({sending.reason(error)}); "
                "nothing is lost. Check the address and that the brokers run."
            ) from error


def _there(answer: TopicPartition) -> bool:
    """Raises KafkaException for what does not say that the partition is not there."""
    if answer.error is None:
        return True
    if answer.error.code() not in _GONE:
        raise KafkaException(answer.error)
    return False


@contextlib.contextmanager
def _unless_gone() -> Iterator[None]:
    """Passes over what is said of topics and partitions that are not there."""
    try:
        yield
    except KafkaException as error:
        if error.args[0].code() not in _GONE:
            raise


def each(offsets: Offsets) -> Iterator[tuple[str, str, int]]:
    """(topic, partition, offset) of all partitions."""
    for topic, partitions in offsets.items():
        for partition, offset in partitions.items():
            yield topic, partition, offset
