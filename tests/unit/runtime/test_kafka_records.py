"""How a program says what becomes of a value in Kafka."""

from __future__ import annotations

import logging
import pickle
from typing import Any

import pytest

from headrace.common.serialization import SerializationSchema, SimpleStringSchema
from headrace.connectors.kafka import partitioners
from headrace.connectors.kafka.partitioners import Kind
from headrace.connectors.kafka.producers import check_options
from headrace.connectors.kafka.settings import SinkSettings
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


IN_FLIGHT = "max.in.flight.requests.per.connection"


def sink_with(**properties: str) -> KafkaSink:
    building = KafkaSink.builder().set_bootstrap_servers("broker:9092")
    for name, value in properties.items():
        building.set_property(name.replace("_", "."), value)
    return building.set_record_serializer(builder().build()).build()


def test_properties_may_have_the_names_of_javas_producer() -> None:
    sink = sink_with(
        linger_ms="20",
        compression_type="lz4",
        max_request_size="2000000",
        buffer_memory="33554432",
        send_buffer_bytes="-1",
        acks="1",
        enable_idempotence="true",
        key_serializer="org.example.Any",
        max_block_ms="1000",
        group_id="mine",
        transaction_timeout_ms="60000",
    )
    assert sink.transaction_timeout_ms == 60_000
    assert sink.properties == {
        "linger.ms": "20",
        "compression.type": "lz4",
        "message.max.bytes": "2000000",
        "queue.buffering.max.kbytes": "32768",
        "socket.send.buffer.bytes": "0",
    }
    check_options(
        SinkSettings(name="out", bootstrap_servers="broker:9092", options=sink.properties)
    )
    for wrong in ({"transactional_id": "mine"}, {"buffer_memory": "much"}):
        with pytest.raises(ValueError, match=r"set by the sink itself|a whole number"):
            sink_with(**wrong)


@pytest.mark.parametrize(
    ("given", "value", "becomes"),
    [
        ("max.request.size", "2147483647", {"message.max.bytes": "1000000000"}),
        ("buffer.memory", "9223372036854775807", {"queue.buffering.max.kbytes": "2147483647"}),
        ("send.buffer.bytes", "2147483647", {"socket.send.buffer.bytes": "100000000"}),
        ("request.timeout.ms", "2147483647", {"request.timeout.ms": "900000"}),
        ("batch.size", "0", {"batch.size": "1"}),
        ("max.in.flight.requests.per.connection", "10", {IN_FLIGHT: "5"}),
        ("max.in.flight", "10", {IN_FLIGHT: "5"}),
        ("partitioner.class", "org.example.Mine", {}),
    ],
)
def test_what_only_javas_producer_takes_is_cut_to_what_can_be(
    given: str, value: str, becomes: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    building = KafkaSink.builder().set_bootstrap_servers("broker:9092")
    building.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    building.set_transactional_id_prefix("mine").set_property(given, value)
    with caplog.at_level(logging.WARNING):
        sink = building.set_record_serializer(builder().build()).build()
    assert sink.properties == becomes
    assert given in caplog.text
    check_options(
        SinkSettings(
            name="out",
            bootstrap_servers="broker:9092",
            guarantee=DeliveryGuarantee.EXACTLY_ONCE,
            transactional_id_prefix="mine",
            options=sink.properties,
        )
    )


def test_a_sink_without_a_guarantee_has_as_many_requests_in_flight_as_asked() -> None:
    building = KafkaSink.builder().set_bootstrap_servers("broker:9092")
    building.set_delivery_guarantee(DeliveryGuarantee.NONE).set_property(IN_FLIGHT, "10")
    sink = building.set_record_serializer(builder().build()).build()
    assert sink.properties == {IN_FLIGHT: "10"}


def test_javas_empty_name_of_no_host_check_is_librdkafkas_none() -> None:
    name = "ssl.endpoint.identification.algorithm"
    assert sink_with(**{name: ""}).properties == {name: "none"}
    jaas = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    java = sink_with(
        **{name: ""},
        sasl_mechanism="PLAIN",
        sasl_jaas_config=f'{jaas} username="anna" password="hunter2";',
    )
    assert java.properties[name] == "none"


def test_a_sink_signs_in_by_either_clients_names() -> None:
    jaas = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    java = sink_with(
        security_protocol="SASL_SSL",
        sasl_mechanism="PLAIN",
        sasl_jaas_config=f'{jaas} username="anna" password="hunter2";',
        linger_ms="1",
    )
    librdkafka = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "anna",
        "sasl.password": "hunter2",
    }
    assert java.properties == {**librdkafka, "linger.ms": "1"}
    assert sink_with(**{k.replace(".", "_"): v for k, v in librdkafka.items()}).properties == (
        librdkafka
    )
    kerberos = {"sasl.mechanism": "GSSAPI", "sasl.kerberos.service.name": "kafka"}
    assert sink_with(**kerberos).properties == kerberos


def test_what_selects_no_topic_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="takes a KafkaTopicSelector"):
        builder().set_topic_selector("out")  # type: ignore[arg-type]
