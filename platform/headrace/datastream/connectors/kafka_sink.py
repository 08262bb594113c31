"""The Kafka sink of a program: how values become records, and the guarantee of their delivery."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from headrace.common.serialization import SerializationSchema
from headrace.connectors.kafka import partitioners
from headrace.connectors.kafka.partitioners import Chooser, Kind, Partitioner
from headrace.connectors.kafka.settings import (
    DEFAULT_TRANSACTION_TIMEOUT_MS,
    RESERVED_OPTIONS,
)
from headrace.datastream.connectors import kafka_producing
from headrace.datastream.connectors.base import DeliveryGuarantee, Sink
from headrace.datastream.connectors.kafka_cluster import bootstrap_servers

Headers = Mapping[str, bytes | None] | Iterable[tuple[str, bytes | None]]


class KafkaTopicSelector(abc.ABC):
    """Chooses a record's topic; a function does as well."""

    @abc.abstractmethod
    def apply(self, data: Any) -> str:
        """The topic of a value."""


class HeaderProvider(abc.ABC):
    """Gives a record its headers; a function does as well."""

    @abc.abstractmethod
    def get_headers(self, data: Any) -> Headers | None:
        """Names and values, in order."""


@dataclass(frozen=True)
class KafkaRecordSerializationSchema:
    """How a value becomes a Kafka record. The record is stamped with the value's event time, if
    it has one, as Flink's does: mind the topic's retention when replaying old data."""

    topic: str | Callable[[Any], str]
    value_schema: SerializationSchema
    key_schema: SerializationSchema | None = None
    partitioner: Partitioner = partitioners.DEFAULT
    partition: Callable[[Any], int | None] | None = None
    headers: Callable[[Any], Headers | None] | None = None

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
        if self.partition is not None:
            record["partition"] = self.partition(value)
        if self.headers is not None and (headers := self.headers(value)):
            record["headers"] = list(headers.items() if isinstance(headers, Mapping) else headers)
        return record


class KafkaRecordSerializationSchemaBuilder:
    """Builds a KafkaRecordSerializationSchema; each method returns the builder."""

    def __init__(self) -> None:
        self._topic: str | Callable[[Any], str] | None = None
        self._value: SerializationSchema | None = None
        self._options: dict[str, Any] = {}

    def set_topic(self, topic: str) -> KafkaRecordSerializationSchemaBuilder:
        self._topic = topic
        return self

    def set_topic_selector(
        self, topic_selector: KafkaTopicSelector | Callable[[Any], str]
    ) -> KafkaRecordSerializationSchemaBuilder:
        function: Any = topic_selector
        self._topic = getattr(function, "apply", function)
        if not callable(self._topic):
            raise TypeError(f"set_topic_selector takes a KafkaTopicSelector, not {function!r}")
        return self

    def set_key_serialization_schema(
        self, key_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        self._options["key_schema"] = key_serialization_schema
        return self

    def set_value_serialization_schema(
        self, value_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        self._value = value_serialization_schema
        return self

    def set_header_provider(
        self, header_provider: HeaderProvider | Callable[[Any], Headers | None]
    ) -> KafkaRecordSerializationSchemaBuilder:
        function: Any = header_provider
        self._options["headers"] = getattr(function, "get_headers", function)
        return self

    def set_partitioner(
        self, partitioner: Partitioner | Chooser
    ) -> KafkaRecordSerializationSchemaBuilder:
        """`FlinkFixedPartitioner()`, `RoundRobinPartitioner()`, or a function of key and value (as
        bytes), topic, and the list of all partitions, which answers one of them."""
        if not isinstance(partitioner, Partitioner):
            partitioner = partitioners.custom(partitioner)
        self._options["partitioner"] = partitioner
        return self

    def set_partition_selector(
        self, partition_selector: Callable[[Any], int | None]
    ) -> KafkaRecordSerializationSchemaBuilder:
        """A function of the value that names its partition, or None to leave it to the
        partitioner."""
        self._options["partition"] = partition_selector
        return self

    def build(self) -> KafkaRecordSerializationSchema:
        """Raises ValueError when something needed is missing."""
        if self._topic is None or self._value is None:
            raise ValueError("a Kafka record needs a topic and a value serialization schema")
        return KafkaRecordSerializationSchema(self._topic, self._value, **self._options)


@dataclass(frozen=True, repr=False)
class FlinkFixedPartitioner(Partitioner):
    """All records of a subtask go to one partition."""

    kind: Kind = Kind.FIXED
    name: str = Kind.FIXED.value


@dataclass(frozen=True, repr=False)
class RoundRobinPartitioner(Partitioner):
    """One partition after the other, the same ones when a batch is run again."""

    kind: Kind = Kind.ROUND_ROBIN
    name: str = Kind.ROUND_ROBIN.value


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
    def partitioner(self) -> Partitioner:
        found: Partitioner = getattr(self.serializer, "partitioner", partitioners.DEFAULT)
        return found

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
        """A property of the producer, by Java's name or librdkafka's. Of `acks` and
        `enable.idempotence` the safe values stay, whatever is given."""
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(f"property {key}: name and value are of type str")
        if key == "transaction.timeout.ms":
            self._sink = replace(self._sink, transaction_timeout_ms=int(value))
        elif key == "bootstrap.servers":
            self.set_bootstrap_servers(value)
        elif key in RESERVED_OPTIONS and key not in kafka_producing.DONE_ANYWAY:
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
        idempotent = self._sink.guarantee is not DeliveryGuarantee.NONE
        return replace(
            self._sink,
            bootstrap_servers=bootstrap_servers(self._servers, "a KafkaSink"),
            properties=kafka_producing.for_librdkafka(self._properties, idempotent),
        )
