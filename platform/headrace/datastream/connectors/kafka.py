"""Kafka source and sink; PyFlink's `pyflink.datastream.connectors.kafka`."""

from headrace.datastream.borrowed import borrowed
from headrace.datastream.connectors.base import DeliveryGuarantee
from headrace.datastream.connectors.flink_kafka import (
    FlinkKafkaConsumer,
    FlinkKafkaConsumerBase,
    FlinkKafkaProducer,
    FlinkKafkaProducerBase,
    Semantic,
)
from headrace.datastream.connectors.kafka_offsets import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
)
from headrace.datastream.connectors.kafka_sink import (
    FlinkFixedPartitioner,
    HeaderProvider,
    KafkaRecordSerializationSchema,
    KafkaRecordSerializationSchemaBuilder,
    KafkaSink,
    KafkaSinkBuilder,
    KafkaTopicSelector,
    RoundRobinPartitioner,
)
from headrace.datastream.connectors.kafka_source import (
    DeadLetters,
    KafkaSource,
    KafkaSourceBuilder,
    OnDeserializationError,
)

__getattr__ = borrowed(__name__, "headrace.common", "headrace.datastream.connectors.base")

__all__ = [
    "DeadLetters",
    "DeliveryGuarantee",
    "FlinkFixedPartitioner",
    "FlinkKafkaConsumer",
    "FlinkKafkaConsumerBase",
    "FlinkKafkaProducer",
    "FlinkKafkaProducerBase",
    "HeaderProvider",
    "KafkaOffsetResetStrategy",
    "KafkaOffsetsInitializer",
    "KafkaRecordSerializationSchema",
    "KafkaRecordSerializationSchemaBuilder",
    "KafkaSink",
    "KafkaSinkBuilder",
    "KafkaSource",
    "KafkaSourceBuilder",
    "KafkaTopicPartition",
    "KafkaTopicSelector",
    "OnDeserializationError",
    "RoundRobinPartitioner",
    "Semantic",
]
