"""Kafka source and sink; PyFlink's `pyflink.datastream.connectors.kafka`."""

from headrace.datastream.connectors.base import DeliveryGuarantee
from headrace.datastream.connectors.kafka_sink import (
    KafkaRecordSerializationSchema,
    KafkaRecordSerializationSchemaBuilder,
    KafkaSink,
    KafkaSinkBuilder,
)
from headrace.datastream.connectors.kafka_source import (
    DeadLetters,
    KafkaOffsetsInitializer,
    KafkaSource,
    KafkaSourceBuilder,
    KafkaTopicPartition,
    OnDeserializationError,
)

__all__ = [
    "DeadLetters",
    "DeliveryGuarantee",
    "KafkaOffsetsInitializer",
    "KafkaRecordSerializationSchema",
    "KafkaRecordSerializationSchemaBuilder",
    "KafkaSink",
    "KafkaSinkBuilder",
    "KafkaSource",
    "KafkaSourceBuilder",
    "KafkaTopicPartition",
    "OnDeserializationError",
]
