"""Sinks of a cluster that one has to sign in to; nothing waits for ever, nothing tells a secret."""

from __future__ import annotations

import logging
import time
import uuid
from pathlib import Path

import pytest

from headrace.common.serialization import SimpleStringSchema
from headrace.connectors.kafka import errors, sign_in
from headrace.connectors.kafka.committer import Committer
from headrace.connectors.kafka.messages import TaskIdentity
from headrace.connectors.kafka.settings import DeliveryGuarantee, SinkSettings
from headrace.connectors.kafka.writer import open_writer
from headrace.datastream.connectors.kafka import KafkaRecordSerializationSchema, KafkaSink
from headrace.runtime import kafka_brokers, kafka_topics
from headrace.runtime.program import Program
from tests.kafka import brokers, secure
from tests.kafka.secure import PASSWORD, SecureKafka

#: A start that is refused takes REFUSED_SECONDS; the machine may be busy.
REASONABLE_SECONDS = 20.0


def sink(cluster: SecureKafka, way: str) -> SinkSettings:
    return SinkSettings(
        "out",
        cluster.mutual_tls if way.startswith("certificate") else cluster.sasl_ssl,
        brokers.new_topic(cluster.plain, 1),
        DeliveryGuarantee.EXACTLY_ONCE,
        f"job-{uuid.uuid4().hex[:8]}",
        options=options(cluster, way),
    )


def options(cluster: SecureKafka, way: str) -> dict[str, str]:
    if not way.startswith("certificate"):
        return cluster.sasl(way)
    return cluster.mutual_text() if way == "certificate as text" else cluster.mutual()


@pytest.mark.parametrize("way", ["PLAIN", "SCRAM-SHA-512", "certificate", "certificate as text"])
def test_exactly_once_in_a_cluster_that_asks_who_comes(
    cluster: SecureKafka, tmp_path: Path, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    settings = sink(cluster, way)
    job = Committer([settings], tmp_path)
    resume = job.recover().resume
    writer = open_writer(settings, TaskIdentity(0, 0), resume)
    writer.write([{"value": b"one"}, {"value": b"two", "partition": 0}])
    job.commit(0, [writer.prepare()])

    assert brokers.read(cluster.plain, str(settings.topic)) == ["one", "two"]
    for told in (caplog.text, repr(settings), str(settings), repr(job)):
        assert_no_secret(told)
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert_no_secret(path.read_text())


@pytest.mark.parametrize(
    "guarantee", [DeliveryGuarantee.AT_LEAST_ONCE, DeliveryGuarantee.EXACTLY_ONCE]
)
@pytest.mark.parametrize(
    ("way", "change", "complaint"),
    [
        ("PLAIN", {"sasl.password": "hunter2"}, "Invalid username or password"),
        ("SCRAM-SHA-512", {"sasl.password": "hunter2"}, "invalid credentials"),
        ("PLAIN", {"ssl.ca.location": "client"}, "certificate verify failed"),
        ("certificate", {"ssl.certificate.location": ""}, "bad certificate|certificate required"),
    ],
)
def test_who_is_not_let_in_is_told_so(
    cluster: SecureKafka,
    tmp_path: Path,
    guarantee: DeliveryGuarantee,
    way: str,
    change: dict[str, str],
    complaint: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sign_in, "REFUSED_SECONDS", 0.5)
    caplog.set_level(logging.DEBUG)
    given = options(cluster, way) | change
    if "ssl.ca.location" in change:
        given["ssl.ca.location"] = str(cluster.certificates / "client.pem")
    if "ssl.certificate.location" in change:
        given = {name: text for name, text in given.items() if "ca." in name or "pro" in name}
    servers = cluster.mutual_tls if way == "certificate" else cluster.sasl_ssl
    prefix = f"job-{uuid.uuid4().hex[:8]}"
    settings = SinkSettings("out", servers, "nowhere", guarantee, prefix, options=given)

    begun = time.monotonic()
    with pytest.raises(errors.InvalidSettings, match=complaint) as refused:
        Committer([settings], tmp_path).recover()

    assert time.monotonic() - begun < REASONABLE_SECONDS
    assert list(tmp_path.iterdir()) == []
    assert_no_secret(str(refused.value) + caplog.text)


def test_a_program_is_told_before_spark_starts(
    cluster: SecureKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_brokers, "ANSWER_SECONDS", 2.0)
    schema = KafkaRecordSerializationSchema.builder().set_topic("nowhere")
    builder = (
        KafkaSink.builder()
        .set_bootstrap_servers(cluster.sasl_ssl)
        .set_record_serializer(schema.set_value_serialization_schema(SimpleStringSchema()).build())
    )
    for name, text in cluster.sasl("PLAIN", "hunter2").items():
        builder.set_property(name, text)
    program = Program("job", {}, {}, {1: builder.build()}, {}, 0, 128, 1)
    with pytest.raises(errors.InvalidSettings, match="Invalid username or password") as refused:
        kafka_topics.check_sinks(program)
    assert_no_secret(str(refused.value) + repr(program.sinks))


def test_one_that_knocks_at_the_wrong_door(
    cluster: SecureKafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_in, "PATIENCE_SECONDS", 2.0)
    settings = SinkSettings("out", cluster.plain, "nowhere", options=cluster.sasl("PLAIN"))
    with pytest.raises(errors.ClusterUnreachable, match=cluster.plain):
        Committer([settings], tmp_path).recover()


def assert_no_secret(text: str) -> None:
    for secret in (PASSWORD, secure.KEY_PASSWORD, "hunter2", "PRIVATE KEY"):
        assert secret not in text
