"""PyFlink's older classes for Kafka, for `add_source` and `add_sink`."""

from __future__ import annotations

import abc
import logging
from collections.abc import Mapping
from enum import Enum
from typing import Any, Self

from headrace.common.serialization import DeserializationSchema, SerializationSchema
from headrace.common.typeinfo import TypeInformation
from headrace.datastream.connectors.base import DeliveryGuarantee, Sink, Source
from headrace.datastream.connectors.kafka_offsets import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
)
from headrace.datastream.connectors.kafka_reading import COMMIT_ON_CHECKPOINT, GROUP_ID
from headrace.datastream.connectors.kafka_sink import (
    FlinkFixedPartitioner,
    KafkaRecordSerializationSchema,
    KafkaSink,
)
from headrace.datastream.connectors.kafka_source import KafkaSource

log = logging.getLogger(__name__)

_SERVERS = "bootstrap.servers"
_RESET = "auto.offset.reset"


class FlinkKafkaConsumerBase(Source):
    """Without a call that says where to start: where the group has come to, else where the
    property `auto.offset.reset` says, else at the newest records."""

    def __init__(
        self,
        topics: str | list[str],
        deserialization_schema: DeserializationSchema,
        properties: Mapping[str, str],
    ) -> None:
        self._topics = [topics] if isinstance(topics, str) else list(topics)
        self._schema = deserialization_schema
        self._properties = dict(properties)
        self._servers = self._properties.pop(_SERVERS, None)
        self._reset = self._properties.pop(_RESET, "latest").upper()
        self._start = self._of_group()

    def _of_group(self) -> KafkaOffsetsInitializer:
        if self._reset not in KafkaOffsetResetStrategy.__members__:
            raise ValueError(f"{_RESET} is earliest, latest or none, not {self._reset.lower()!r}")
        if self._properties.get(GROUP_ID):
            return KafkaOffsetsInitializer.committed_offsets(KafkaOffsetResetStrategy[self._reset])
        if self._reset == "EARLIEST":
            return KafkaOffsetsInitializer.earliest()
        return KafkaOffsetsInitializer.latest()

    def set_start_from_earliest(self) -> Self:
        self._start = KafkaOffsetsInitializer.earliest()
        return self

    def set_start_from_latest(self) -> Self:
        self._start = KafkaOffsetsInitializer.latest()
        return self

    def set_start_from_timestamp(self, startup_offsets_timestamp: int) -> Self:
        self._start = KafkaOffsetsInitializer.timestamp(startup_offsets_timestamp)
        return self

    def set_start_from_group_offsets(self) -> Self:
        self._start = self._of_group()
        return self

    def set_commit_offsets_on_checkpoints(self, commit_on_checkpoints: bool) -> Self:
        self._properties[COMMIT_ON_CHECKPOINT] = str(bool(commit_on_checkpoints)).lower()
        return self

    def disable_filter_restored_partitions_with_subscribed_topics(self) -> Self:
        raise NotImplementedError(
            "what a job reads after its topics have changed is in docs/kafka-source.md"
        )

    def get_produced_type(self) -> TypeInformation | None:
        return self._schema.produced_type

    def source(self) -> KafkaSource:
        """What the stream reads."""
        builder = (
            KafkaSource.builder()
            .set_topics(*self._topics)
            .set_starting_offsets(self._start)
            .set_value_only_deserializer(self._schema)
            .set_properties(self._properties)
        )
        return (builder.set_bootstrap_servers(self._servers) if self._servers else builder).build()


class FlinkKafkaConsumer(FlinkKafkaConsumerBase):
    """Values of topics."""


class Semantic(Enum):
    """What a FlinkKafkaProducer promises."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
    NONE = 2


class FlinkKafkaProducerBase(Sink, abc.ABC):
    """Every micro-batch is flushed before it counts as written, whatever a program says."""

    def __init__(self) -> None:
        self._stamps = False

    def set_log_failures_only(self, log_failures_only: bool) -> Self:
        """Without effect: a record that cannot be written fails the micro-batch."""
        if log_failures_only:
            log.warning("FlinkKafkaProducer: a record that cannot be written fails the job")
        return self

    def set_flush_on_checkpoint(self, flush_on_checkpoint: bool) -> Self:
        return self

    def set_write_timestamp_to_kafka(self, write_timestamp_to_kafka: bool) -> Self:
        """Records are stamped with their event time; else with the time of their writing."""
        self._stamps = write_timestamp_to_kafka
        return self

    @abc.abstractmethod
    def sink(self) -> KafkaSink:
        """What the stream is written to."""


class FlinkKafkaProducer(FlinkKafkaProducerBase):
    """Values without keys to one topic, those of a subtask to one partition. With EXACTLY_ONCE the
    transactional ids begin with the property `transactional.id`, else with the topic's name: two
    such sinks of one topic need it."""

    def __init__(
        self,
        topic: str,
        serialization_schema: SerializationSchema,
        producer_config: Mapping[str, str],
        kafka_producer_pool_size: int = 5,
        semantic: Semantic = Semantic.AT_LEAST_ONCE,
    ) -> None:
        super().__init__()
        self._topic = topic
        self._schema = serialization_schema
        self._properties = dict(producer_config)
        self._servers = self._properties.pop(_SERVERS, None)
        self._prefix = self._properties.pop("transactional.id", f"FlinkKafkaProducer-{topic}")
        self._guarantee = DeliveryGuarantee[semantic.name]

    def ignore_failures_after_transaction_timeout(self) -> FlinkKafkaProducer:
        """Without effect: what a broker has timed out is written again from the checkpoint."""
        return self

    def sink(self) -> KafkaSink:
        kind = KafkaRecordSerializationSchema if self._stamps else _Unstamped
        builder = (
            KafkaSink.builder()
            .set_record_serializer(
                kind(self._topic, self._schema, partitioner=FlinkFixedPartitioner())
            )
            .set_delivery_guarantee(self._guarantee)
            .set_transactional_id_prefix(self._prefix)
        )
        if self._servers:
            builder.set_bootstrap_servers(self._servers)
        for key, value in self._properties.items():
            builder.set_property(key, value)
        return builder.build()


class _Unstamped(KafkaRecordSerializationSchema):
    def record(self, timestamp: int | None, value: Any) -> dict[str, Any]:
        return super().record(None, value)
