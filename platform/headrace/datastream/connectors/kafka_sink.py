"""The Kafka sink of a program: how values become records, and the guarantee of their delivery."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from headrace.common.serialization import SerializationSchema
from headrace.connectors.kafka.settings import (
    DEFAULT_TRANSACTION_TIMEOUT_MS,
    RESERVED_OPTIONS,
)
from headrace.datastream.connectors.base import DeliveryGuarantee, Sink
from headrace.datastream.connectors.kafka_cluster import bootstrap_servers


@dataclass(frozen=True)
class KafkaRecordSerializationSchema:
    """How a value becomes a Kafka record. The record is stamped with the value's event time, if
    it has one, as Flink's does: mind the topic's retention when replaying old data."""

    topic: str | Callable[[Any], str]
    value_schema: SerializationSchema
    key_schema: SerializationSchema | None = None

    @staticmethod
    def builder() -> KafkaRecordSerializationSchemaBuilder:
        return KafkaRecordSerializationSchemaBuilder()

    def record(self, timestamp: int | None, value: Any) -> dict[str, Any]:
        """The record in the form of `Producer.produce_batch`."""
        record: dict[str, Any] = {"value": self.value_schema.serialize(value)}
        if self.key_schema is not None:
            record["key"] = self.key_schema.serialize(value)
        if callable(self.topic):
            record["topic"] = self.topic(value)
        if timestamp is not None and timestamp >= 0:
            record["timestamp"] = timestamp
        return record


class KafkaRecordSerializationSchemaBuilder:
    """Builds a KafkaRecordSerializationSchema."""

    def __init__(self) -> None:
        self._topic: str | Callable[[Any], str] | None = None
        self._key: SerializationSchema | None = None
        self._value: SerializationSchema | None = None

    def set_topic(self, topic: str) -> KafkaRecordSerializationSchemaBuilder:
        self._topic = topic
        return self

    def set_topic_selector(
        self, topic_selector: Callable[[Any], str]
    ) -> KafkaRecordSerializationSchemaBuilder:
        self._topic = getattr(topic_selector, "apply", topic_selector)
        return self

    def set_key_serialization_schema(
        self, key_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        self._key = key_serialization_schema
        return self

    def set_value_serialization_schema(
        self, value_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        self._value = value_serialization_schema
        return self

    def build(self) -> KafkaRecordSerializationSchema:
        if self._topic is None or self._value is None:
            raise ValueError("a Kafka record needs a topic and a value serialization schema")
        return KafkaRecordSerializationSchema(self._topic, self._value, self._key)


@dataclass(frozen=True)
class KafkaSink(Sink):
    """Writes records to Kafka; with EXACTLY_ONCE in one transaction per micro-batch and task."""

    bootstrap_servers: str
    serializer: Any
    guarantee: DeliveryGuarantee = DeliveryGuarantee.NONE
    transactional_id_prefix: str = ""
    transaction_timeout_ms: int = DEFAULT_TRANSACTION_TIMEOUT_MS
    properties: dict[str, str] = field(default_factory=dict, hash=False, repr=False)

    @staticmethod
    def builder() -> KafkaSinkBuilder:
        return KafkaSinkBuilder()

    @property
    def fixed_topic(self) -> str | None:
        topic = getattr(self.serializer, "topic", None)
        return topic if isinstance(topic, str) else None

    @property
    def described(self) -> str:
        return f"kafka:{self.fixed_topic or '*'}"


class KafkaSinkBuilder:
    """Builds a KafkaSink; each method returns the builder."""

    def __init__(self) -> None:
        self._servers: str | None = None
        self._sink = KafkaSink(bootstrap_servers="", serializer=None)
        self._properties: dict[str, str] = {}

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSinkBuilder:
        self._servers = bootstrap_servers
        return self

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> KafkaSinkBuilder:
        self._sink = replace(self._sink, guarantee=delivery_guarantee)
        return self

    def set_transactional_id_prefix(self, transactional_id_prefix: str) -> KafkaSinkBuilder:
        """Unique to the job in its Kafka cluster, and the same from start to start."""
        self._sink = replace(self._sink, transactional_id_prefix=transactional_id_prefix)
        return self

    def set_record_serializer(
        self, record_serializer: KafkaRecordSerializationSchema
    ) -> KafkaSinkBuilder:
        self._sink = replace(self._sink, serializer=record_serializer)
        return self

    def set_property(self, key: str, value: str) -> KafkaSinkBuilder:
        """A property of the producer, by librdkafka's name."""
        if key == "transaction.timeout.ms":
            self._sink = replace(self._sink, transaction_timeout_ms=int(value))
        elif key in RESERVED_OPTIONS:
            raise ValueError(f"{key} is set by the sink itself")
        else:
            self._properties[key] = value
        return self

    def build(self) -> KafkaSink:
        """Raises ValueError when something needed is missing."""
        if self._sink.serializer is None:
            raise ValueError("a KafkaSink needs set_record_serializer")
        exactly_once = self._sink.guarantee is DeliveryGuarantee.EXACTLY_ONCE
        if exactly_once and not self._sink.transactional_id_prefix:
            raise ValueError("EXACTLY_ONCE needs set_transactional_id_prefix, unique to the job")
        return replace(
            self._sink,
            bootstrap_servers=bootstrap_servers(self._servers, "a KafkaSink"),
            properties=dict(self._properties),
        )
