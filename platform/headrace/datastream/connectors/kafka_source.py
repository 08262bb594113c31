"""The Kafka source of a program: what to read, where to start and end, what of bad bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from headrace.common.serialization import DeserializationSchema
from headrace.connectors.kafka.security import Security
from headrace.datastream.connectors.base import Source
from headrace.datastream.connectors.kafka_cluster import bootstrap_servers


@dataclass(frozen=True)
class KafkaTopicPartition:
    topic: str
    partition: int


@dataclass(frozen=True)
class KafkaOffsetsInitializer:
    """Where a source starts, or ends if it is bounded. A start counts only where there is no
    checkpoint: on a restore the checkpoint wins."""

    mode: str
    timestamp_ms: int | None = None
    partition_offsets: tuple[tuple[KafkaTopicPartition, int], ...] = ()

    @staticmethod
    def earliest() -> KafkaOffsetsInitializer:
        return KafkaOffsetsInitializer("earliest")

    @staticmethod
    def latest() -> KafkaOffsetsInitializer:
        return KafkaOffsetsInitializer("latest")

    @staticmethod
    def timestamp(timestamp: int) -> KafkaOffsetsInitializer:
        """The first record of each partition stamped at or after `timestamp` (ms)."""
        return KafkaOffsetsInitializer("timestamp", timestamp_ms=timestamp)

    @staticmethod
    def offsets(offsets: dict[KafkaTopicPartition, int]) -> KafkaOffsetsInitializer:
        """The given offset of each partition; partitions not named are read from earliest."""
        return KafkaOffsetsInitializer("offsets", partition_offsets=tuple(offsets.items()))


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
    def dead_letter(topic: str) -> DeadLetters:
        """It goes to `topic`, in the same transaction as the job's output, with headers that
        say why and where it came from."""
        return DeadLetters(topic)


@dataclass(frozen=True)
class DeadLetters:
    """Where unreadable records go; None: nowhere."""

    topic: str | None


@dataclass(frozen=True)
class KafkaSource(Source):
    """Reads topics, each partition a split with its own watermark. Uncommitted and aborted
    records are not read unless `isolation.level` says so."""

    bootstrap_servers: str
    topics: tuple[str, ...]
    topic_pattern: str | None
    deserializer: DeserializationSchema
    group_id: str | None = None
    start: KafkaOffsetsInitializer = field(default_factory=KafkaOffsetsInitializer.earliest)
    #: Where a bounded source ends; None: never.
    stop: KafkaOffsetsInitializer | None = None
    on_error: DeadLetters | None = None
    #: Of the consumer, by Java's names; those of security by librdkafka's, too.
    properties: dict[str, str] = field(default_factory=dict, hash=False, repr=False)

    @staticmethod
    def builder() -> KafkaSourceBuilder:
        return KafkaSourceBuilder()

    @property
    def described(self) -> str:
        return f"kafka:{self.topic_pattern or ','.join(self.topics)}"


class KafkaSourceBuilder:
    """Builds a KafkaSource; each method returns the builder."""

    def __init__(self) -> None:
        self._servers: str | None = None
        self._topics: tuple[str, ...] = ()
        self._pattern: str | None = None
        self._deserializer: DeserializationSchema | None = None
        self._group_id: str | None = None
        self._start = KafkaOffsetsInitializer.earliest()
        self._stop: KafkaOffsetsInitializer | None = None
        self._on_error: DeadLetters | None = None
        self._properties: dict[str, str] = {}

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSourceBuilder:
        self._servers = bootstrap_servers
        return self

    def set_group_id(self, group_id: str) -> KafkaSourceBuilder:
        self._group_id = group_id
        return self

    def set_topics(self, *topics: str) -> KafkaSourceBuilder:
        self._topics = topics
        return self

    def set_topic_pattern(self, topic_pattern: str) -> KafkaSourceBuilder:
        re.compile(topic_pattern)
        self._pattern = topic_pattern
        return self

    def set_starting_offsets(
        self, starting_offsets_initializer: KafkaOffsetsInitializer
    ) -> KafkaSourceBuilder:
        self._start = starting_offsets_initializer
        return self

    def set_bounded(
        self, stopping_offsets_initializer: KafkaOffsetsInitializer
    ) -> KafkaSourceBuilder:
        """End there, as found at the job's first start; then the job finishes."""
        if stopping_offsets_initializer.mode != "latest":
            raise NotImplementedError("a bounded Kafka source can end at latest() only")
        self._stop = stopping_offsets_initializer
        return self

    def set_value_only_deserializer(
        self, deserialization_schema: DeserializationSchema
    ) -> KafkaSourceBuilder:
        self._deserializer = deserialization_schema
        return self

    def on_deserialization_error(self, action: DeadLetters | None) -> KafkaSourceBuilder:
        """One of `OnDeserializationError`."""
        self._on_error = action
        return self

    def set_client_id_prefix(self, prefix: str) -> KafkaSourceBuilder:
        return self.set_property("client.id", prefix)

    def set_property(self, key: str, value: str) -> KafkaSourceBuilder:
        """A property of the consumer, by Java's name. Security may be given in librdkafka's
        names as well: the sasl.username, ssl.ca.location and so on that a KafkaSink takes."""
        self._properties[key] = value
        return self

    def set_properties(self, props: dict[str, str]) -> KafkaSourceBuilder:
        self._properties.update(props)
        return self

    def build(self) -> KafkaSource:
        """Raises ValueError when something needed is missing, or when security is set in a way
        that only one of the two Kafka clients at work understands."""
        if bool(self._topics) == (self._pattern is not None):
            raise ValueError("a KafkaSource needs set_topics or set_topic_pattern, and not both")
        if self._deserializer is None:
            raise ValueError("a KafkaSource needs set_value_only_deserializer")
        Security.of(self._properties)
        return KafkaSource(
            bootstrap_servers=bootstrap_servers(self._servers, "a KafkaSource"),
            topics=self._topics,
            topic_pattern=self._pattern,
            deserializer=self._deserializer,
            group_id=self._group_id,
            start=self._start,
            stop=self._stop,
            on_error=self._on_error,
            properties=dict(self._properties),
        )
