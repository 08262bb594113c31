"""The Kafka source of a program: what to read, where to start and end, what of bad bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headrace.common.serialization import DeserializationSchema
from headrace.connectors.kafka.security import Security
from headrace.connectors.kafka.settings import DEFAULT_TRANSACTION_TIMEOUT_MS
from headrace.datastream.connectors import kafka_reading
from headrace.datastream.connectors.base import Source
from headrace.datastream.connectors.kafka_cluster import bootstrap_servers
from headrace.datastream.connectors.kafka_offsets import (
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
    Mode,
)


class OnDeserializationError:
    """What happens to a record whose bytes the schema cannot read. It is counted either way."""

    @staticmethod
    def fail() -> None:
        """The job fails (Flink's way, and the default)."""
        return

    @staticmethod
    def drop() -> DeadLetters:
        """It is left out."""
        return DeadLetters(topic=None)

    @staticmethod
    def dead_letter(
        topic: str, transaction_timeout_ms: int = DEFAULT_TRANSACTION_TIMEOUT_MS
    ) -> DeadLetters:
        """It goes to `topic`, in the same transaction as the job's output, with headers that
        say why and where it came from. The timeout is at most the brokers'
        `transaction.max.timeout.ms`."""
        return DeadLetters(topic, transaction_timeout_ms)


@dataclass(frozen=True)
class DeadLetters:
    """Where unreadable records go; None: nowhere."""

    topic: str | None
    transaction_timeout_ms: int = DEFAULT_TRANSACTION_TIMEOUT_MS


@dataclass(frozen=True)
class KafkaSource(Source):
    """Reads topics, each partition a split with its own watermark. Uncommitted and aborted
    records are not read unless `isolation.level` says so."""

    bootstrap_servers: str
    #: Read are these topics, or those of the pattern, or these partitions.
    topics: tuple[str, ...]
    topic_pattern: str | None
    deserializer: DeserializationSchema
    partitions: frozenset[KafkaTopicPartition] = frozenset()
    group_id: str | None = None
    start: KafkaOffsetsInitializer = field(default_factory=KafkaOffsetsInitializer.earliest)
    #: Where reading ends; None: nowhere.
    stop: KafkaOffsetsInitializer | None = None
    #: Whether the source has ended there.
    bounded: bool = False
    on_error: DeadLetters | None = None
    reading: kafka_reading.Reading = field(default_factory=kafka_reading.Reading)
    #: Of the consumer, by Java's names; those of security by librdkafka's, too.
    properties: dict[str, str] = field(default_factory=dict, hash=False, repr=False)

    @staticmethod
    def builder() -> KafkaSourceBuilder:
        return KafkaSourceBuilder()

    @property
    def described(self) -> str:
        if self.partitions:
            named = ",".join(f"{tp.topic}-{tp.partition}" for tp in sorted(self.partitions))
            return f"kafka:{named}"
        return f"kafka:{self.topic_pattern or ','.join(self.topics)}"


class KafkaSourceBuilder:
    """Builds a KafkaSource; each method returns the builder. Methods raise TypeError for a value
    of a wrong type and ValueError for one that contradicts an earlier call."""

    def __init__(self) -> None:
        self._servers: str | None = None
        self._topics: tuple[str, ...] = ()
        self._pattern: str | None = None
        self._partitions: frozenset[KafkaTopicPartition] = frozenset()
        #: The call that has said what to read, and the one that has said where to end.
        self._subscribed_by = ""
        self._stopped_by = ""
        self._deserializer: DeserializationSchema | None = None
        self._start = KafkaOffsetsInitializer.earliest()
        self._stop: KafkaOffsetsInitializer | None = None
        self._on_error: DeadLetters | None = None
        self._properties: dict[str, str] = {}

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSourceBuilder:
        self._servers = _text(bootstrap_servers, "bootstrap servers")
        return self

    def set_group_id(self, group_id: str) -> KafkaSourceBuilder:
        """The group whose offsets are committed for monitoring, and read by
        `committed_offsets`. What the job has read is kept in its checkpoint, not there."""
        return self.set_property(kafka_reading.GROUP_ID, group_id)

    def set_topics(self, *topics: str) -> KafkaSourceBuilder:
        self._subscribe("set_topics")
        self._topics = tuple(dict.fromkeys(_text(topic, "a topic") for topic in topics))
        return self

    def set_topic_pattern(self, topic_pattern: str) -> KafkaSourceBuilder:
        """All topics whose whole name matches, of Kafka's and Headrace's own none."""
        self._subscribe("set_topic_pattern")
        try:
            re.compile(_text(topic_pattern, "a topic pattern"))
        except re.error as error:
            raise ValueError(f"topic pattern {topic_pattern!r}: {error}") from error
        self._pattern = topic_pattern
        return self

    def set_partitions(self, partitions: Iterable[KafkaTopicPartition]) -> KafkaSourceBuilder:
        """These partitions and no others; there is nothing to discover then."""
        self._subscribe("set_partitions")
        given = frozenset(partitions)
        for each in given:
            if not isinstance(each, KafkaTopicPartition):
                raise TypeError(f"set_partitions takes KafkaTopicPartitions, not {each!r}")
        self._partitions = given
        return self

    def set_starting_offsets(
        self, starting_offsets_initializer: KafkaOffsetsInitializer
    ) -> KafkaSourceBuilder:
        self._start = _initializer(starting_offsets_initializer)
        return self

    def set_unbounded(
        self, stopping_offsets_initializer: KafkaOffsetsInitializer
    ) -> KafkaSourceBuilder:
        """Read no further than that, as found at the job's first start. The job runs on."""
        return self._end("set_unbounded", stopping_offsets_initializer)

    def set_bounded(
        self, stopping_offsets_initializer: KafkaOffsetsInitializer
    ) -> KafkaSourceBuilder:
        """End there, as found at the job's first start; then the job finishes."""
        return self._end("set_bounded", stopping_offsets_initializer)

    def set_value_only_deserializer(
        self, deserialization_schema: DeserializationSchema
    ) -> KafkaSourceBuilder:
        if not isinstance(deserialization_schema, DeserializationSchema):
            raise TypeError(
                "set_value_only_deserializer takes a DeserializationSchema, "
                f"not {deserialization_schema!r}"
            )
        self._deserializer = deserialization_schema
        return self

    def on_deserialization_error(self, action: DeadLetters | None) -> KafkaSourceBuilder:
        """One of `OnDeserializationError`."""
        if action is not None and not isinstance(action, DeadLetters):
            raise TypeError(
                "on_deserialization_error takes what a method of OnDeserializationError answers, "
                f"not {action!r}"
            )
        self._on_error = action
        return self

    def set_client_id_prefix(self, prefix: str) -> KafkaSourceBuilder:
        return self.set_property("client.id", prefix)

    def set_property(self, key: str, value: str) -> KafkaSourceBuilder:
        """A property of the consumer, by Java's name, or one of those that steer the source
        (docs/kafka-source.md). Security may be given in librdkafka's names as well: the
        sasl.username, ssl.ca.location and so on that a KafkaSink takes."""
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(f"property {key}: name and value are of type str")
        if key == "bootstrap.servers":
            return self.set_bootstrap_servers(value)
        self._properties[key] = value
        return self

    def set_properties(self, props: Mapping[str, str]) -> KafkaSourceBuilder:
        for key, value in props.items():
            self.set_property(key, value)
        return self

    def build(self) -> KafkaSource:
        """Raises ValueError when something needed is missing, when calls or properties
        contradict each other, or when security is set in a way that only one of the two Kafka
        clients at work understands."""
        if not (self._topics or self._pattern or self._partitions):
            raise ValueError(
                "a KafkaSource needs set_topics, set_topic_pattern or set_partitions, "
                "and one of them only"
            )
        if self._deserializer is None:
            raise ValueError("a KafkaSource needs set_value_only_deserializer")
        reading, properties = kafka_reading.split(self._properties)
        group = properties.pop(kafka_reading.GROUP_ID, None) or None
        Security.of(properties)
        self._check_offsets(group)
        return KafkaSource(
            bootstrap_servers=bootstrap_servers(self._servers, "a KafkaSource"),
            topics=self._topics,
            topic_pattern=self._pattern,
            partitions=self._partitions,
            deserializer=self._deserializer,
            group_id=group,
            start=self._start,
            stop=self._stop,
            bounded=self._stopped_by == "set_bounded",
            on_error=self._on_error,
            reading=reading,
            properties=properties,
        )

    def _subscribe(self, call: str) -> None:
        if self._subscribed_by:
            raise ValueError(
                f"{call} contradicts {self._subscribed_by}: a KafkaSource reads topics, "
                "a pattern of topics or partitions. Call one of them, once"
            )
        self._subscribed_by = call

    def _end(self, call: str, where: KafkaOffsetsInitializer) -> KafkaSourceBuilder:
        if self._stopped_by not in ("", call):
            raise ValueError(f"{call} contradicts {self._stopped_by}: call one of them")
        if _initializer(where).mode is Mode.EARLIEST:
            raise ValueError(f"{call} at earliest() would read nothing")
        self._stopped_by = call
        self._stop = where
        return self

    def _check_offsets(self, group: str | None) -> None:
        for where in (self._start, self._stop):
            if where is None:
                continue
            if where.mode is Mode.COMMITTED and not group:
                raise ValueError("committed_offsets() are those of a group: call set_group_id")
            unread = [tp for tp, _ in where.partition_offsets if not self._reads(tp)]
            if unread:
                raise ValueError(
                    f"offsets() names {', '.join(f'{tp.topic}-{tp.partition}' for tp in unread)}, "
                    "which the source does not read"
                )

    def _reads(self, where: KafkaTopicPartition) -> bool:
        if self._pattern is not None:
            return re.fullmatch(self._pattern, where.topic) is not None
        return where.topic in self._topics or where in self._partitions


def _text(value: str, what: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{what} of a KafkaSource: a str, not {value!r}")
    if not value.strip():
        raise ValueError(f"{what} of a KafkaSource is empty")
    return value


def _initializer(value: KafkaOffsetsInitializer) -> KafkaOffsetsInitializer:
    if not isinstance(value, KafkaOffsetsInitializer):
        raise TypeError(f"a KafkaOffsetsInitializer is needed, not {value!r}")
    return value
