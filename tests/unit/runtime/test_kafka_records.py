"""How a program says what becomes of a value in Kafka."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from headrace.common.serialization import SerializationSchema, SimpleStringSchema
from headrace.connectors.kafka import partitioners
from headrace.connectors.kafka.partitioners import Kind
from headrace.datastream.connectors.kafka import (
    DeliveryGuarantee,
    FlinkFixedPartitioner,
    HeaderProvider,
    KafkaRecordSerializationSchema,
    KafkaRecordSerializationSchemaBuilder,
    KafkaSink,
    KafkaTopicSelector,
    RoundRobinPartitioner,
)


class Tombstones(SerializationSchema):
    def serialize(self, value: Any) -> bytes | None:
        return None if value.endswith("gone") else value.encode()


class ByLetter(KafkaTopicSelector):
    def apply(self, data: str) -> str:
        return f"letters-{data[0]}"


class Origin(HeaderProvider):
    def get_headers(self, data: str) -> dict[str, bytes | None]:
        return {"origin": data[:3].encode(), "empty": None}


def builder() -> KafkaRecordSerializationSchemaBuilder:
    return (
        KafkaRecordSerializationSchema.builder()
        .set_topic("out")
        .set_value_serialization_schema(Tombstones())
    )


def test_a_value_alone() -> None:
    schema = builder().build()
    assert schema.record(None, "a") == {"value": b"a"}
    assert schema.record(1_357_000_000_000, "a gone") == {
        "value": None,
        "timestamp": 1_357_000_000_000,
    }


def test_everything_a_record_can_have() -> None:
    schema = (
        builder()
        .set_topic_selector(ByLetter())
        .set_key_serialization_schema(SimpleStringSchema())
        .set_header_provider(Origin())
        .set_partition_selector(len)
        .build()
    )
    assert schema.record(7, "EWR") == {
        "topic": "letters-E",
        "key": b"EWR",
        "value": b"EWR",
        "headers": [("origin", b"EWR"), ("empty", None)],
        "partition": 3,
        "timestamp": 7,
    }


def test_functions_do_as_well() -> None:
    schema = (
        builder()
        .set_topic_selector(lambda value: value)
        .set_header_provider(lambda value: [("twice", b"1"), ("twice", b"2")])
        .build()
    )
    assert schema.record(None, "a") == {
        "topic": "a",
        "value": b"a",
        "headers": [("twice", b"1"), ("twice", b"2")],
    }
    assert "headers" not in builder().set_header_provider(lambda _: None).build().record(None, "a")


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (FlinkFixedPartitioner(), Kind.FIXED),
        (RoundRobinPartitioner(), Kind.ROUND_ROBIN),
        (lambda key, value, topic, partitions: 0, Kind.CUSTOM),
    ],
)
def test_the_sinks_partitioner_travels_to_the_tasks(given: Any, kind: Kind) -> None:
    sink = (
        KafkaSink.builder()
        .set_bootstrap_servers("broker:9092")
        .set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
        .set_record_serializer(builder().set_partitioner(given).build())
        .build()
    )
    assert pickle.loads(pickle.dumps(sink.partitioner)) == sink.partitioner
    assert sink.partitioner.kind is kind


def test_by_key_unless_told_otherwise() -> None:
    sink = (
        KafkaSink.builder()
        .set_bootstrap_servers("broker:9092")
        .set_record_serializer(builder().build())
        .build()
    )
    assert sink.partitioner is partitioners.DEFAULT
