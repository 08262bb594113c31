"""One set of security properties, for Spark's Kafka client and for librdkafka."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from headrace.common import SimpleStringSchema
from headrace.connectors.kafka import security
from headrace.datastream.connectors.kafka import (
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaSourceBuilder,
)
from headrace.runtime.errors import JobFailed
from headrace.runtime.kafka_brokers import Brokers
from headrace.runtime.kafka_input import client_options
from headrace.runtime.spark_kafka import consumer

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
KEY = "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n"
OLD_KEY = KEY.replace("PRIVATE", "RSA PRIVATE")

LIBRDKAFKA_SASL = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.username": "anna",
    "sasl.password": 'h"u\\n ter2;',
    "ssl.ca.location": "/etc/ca.pem",
    "ssl.endpoint.identification.algorithm": "none",
}
JAVA_SASL = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.jaas.config": f'{SCRAM} required username="anna" password="h\\"u\\\\n ter2;";',
    "ssl.truststore.type": "PEM",
    "ssl.truststore.location": "/etc/ca.pem",
    "ssl.endpoint.identification.algorithm": "",
}


@pytest.mark.parametrize("given", [LIBRDKAFKA_SASL, JAVA_SASL])
def test_either_clients_names_serve_both(given: dict[str, str]) -> None:
    others = {"fetch.max.bytes": "1000", "client.id": "me"}
    assert security.for_java({**given, **others}) == {**JAVA_SASL, **others}
    assert security.for_librdkafka({**given, **others}) == {**LIBRDKAFKA_SASL, "client.id": "me"}


def test_nothing_comes_of_nothing() -> None:
    assert security.for_java({"fetch.max.bytes": "1"}) == {"fetch.max.bytes": "1"}
    assert security.for_librdkafka({"fetch.max.bytes": "1"}) == {}
    checked = {"enable.ssl.certificate.verification": "true"}
    assert security.for_java(checked) == security.for_librdkafka(checked) == {}


@pytest.mark.parametrize(
    "jaas",
    [
        f'{PLAIN} required username="anna" password="hunter2";',
        f"{PLAIN} required\n  username='anna'\n  password='hunter2' ;\n",
        f"{PLAIN} required password=hunter2 username=anna;",
        f'org.apache.flink.kafka.shaded.{PLAIN} required username="anna" password="hunter2";',
    ],
)
def test_a_login_is_read_as_java_reads_it(jaas: str) -> None:
    given = {"security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN"}
    assert security.for_librdkafka({**given, "sasl.jaas.config": jaas}) == {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "anna",
        "sasl.password": "hunter2",
    }


def test_a_clients_certificate_in_two_files(tmp_path: Path) -> None:
    (tmp_path / "cert").write_text(CERTIFICATE)
    (tmp_path / "key").write_text(KEY)
    given = {
        "ssl.certificate.location": str(tmp_path / "cert"),
        "ssl.key.location": str(tmp_path / "key"),
        "ssl.key.password": "hunter2",
    }
    assert security.for_librdkafka(given) == given
    assert security.for_java(given) == {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": CERTIFICATE,
        "ssl.keystore.key": KEY,
        "ssl.key.password": "hunter2",
    }


def test_a_clients_certificate_as_text() -> None:
    java = {"ssl.keystore.certificate.chain": CERTIFICATE, "ssl.keystore.key": KEY}
    librdkafka = {"ssl.certificate.pem": CERTIFICATE, "ssl.key.pem": KEY}
    for given in java, librdkafka:
        assert security.for_librdkafka(given) == librdkafka
        assert security.for_java(given) == {"ssl.keystore.type": "PEM", **java}
    text = {"ssl.ca.pem": CERTIFICATE}
    assert security.for_java(text) == {
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": CERTIFICATE,
    }


def test_a_keystore_of_both(tmp_path: Path) -> None:
    file = tmp_path / "both.pem"
    file.write_text(KEY + CERTIFICATE)
    given = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(file)}
    assert security.for_librdkafka(given) == {
        "ssl.certificate.location": str(file),
        "ssl.key.location": str(file),
    }
    assert security.for_java(given)["ssl.keystore.key"] == KEY + CERTIFICATE


def test_a_pkcs12_keystore() -> None:
    given = {"ssl.keystore.location": "/me.p12", "ssl.keystore.password": "hunter2"}
    assert security.for_librdkafka(given) == given
    assert security.for_java(given) == {**given, "ssl.keystore.type": "PKCS12"}


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"ssl.truststore.location": "/t.jks"}, "t.jks is of type JKS, which librdkafka does not"),
        (
            {"ssl.truststore.location": "/t.p12", "ssl.truststore.type": "PKCS12"},
            "is of type PKCS12, which librdkafka does not read; export",
        ),
        ({"ssl.keystore.location": "/k.jks"}, "k.jks is of type JKS"),
        ({"ssl.key.location": "/key"}, "are given together"),
        ({"sasl.mechanism": "PLAIN", "sasl.username": "anna"}, "needs sasl.username and sasl.pass"),
        ({"sasl.username": "anna", "sasl.password": "hunter2"}, "mechanism is not set"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "GSSAPI"}, "is GSSAPI; it can be"),
        ({"sasl.jaas.config": "x.Krb5LoginModule required;"}, "librdkafka can sign in as"),
        ({"enable.ssl.certificate.verification": "false"}, "enable.ssl.*do not both understand"),
        ({"ssl.cipher.suites": "x", "sasl.kerberos.keytab": "y"}, "^sasl.kerb.*, ssl.cipher.suit"),
    ],
)
def test_what_one_client_cannot_do_is_refused_when_the_source_is_built(
    given: dict[str, str], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint) as failure:
        source(given).build()
    assert "hunter2" not in str(failure.value)


@pytest.mark.parametrize(("key", "complaint"), [(OLD_KEY, "openssl pkcs8"), (None, "no readable")])
def test_a_key_that_java_does_not_read_fails_the_job(
    tmp_path: Path, key: str | None, complaint: str
) -> None:
    if key is not None:
        (tmp_path / "key").write_text(key)
    (tmp_path / "cert").write_text(CERTIFICATE)
    locations = {f"ssl.{n}.location": str(tmp_path / n[:4]) for n in ("certificate", "key")}
    with pytest.raises(JobFailed, match=complaint) as failure:
        client_options(source(locations).build())
    assert not failure.value.restartable


def test_an_encrypted_key_is_of_a_kind_that_java_decrypts() -> None:
    modern = openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes256 -pass pass:x")
    with pytest.raises(ValueError, match=r"PBES2.*openssl pkcs8 -topk8 -v1 PBE-SHA1-3DES"):
        security.for_java(as_text(modern))
    options = "pkcs8 -topk8 -v1 PBE-SHA1-3DES -passin pass:x -passout pass:x"
    converted = openssl(options, modern)
    assert security.for_java(as_text(converted))["ssl.keystore.key"] == converted


def as_text(key: str) -> dict[str, str]:
    return {"ssl.certificate.pem": CERTIFICATE, "ssl.key.pem": key, "ssl.key.password": "x"}


def openssl(arguments: str, given: str = "") -> str:
    command = ["openssl", *arguments.split()]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout


def source(properties: dict[str, str]) -> KafkaSourceBuilder:
    return (
        KafkaSource.builder()
        .set_bootstrap_servers("broker:9092")
        .set_topics("in")
        .set_value_only_deserializer(SimpleStringSchema())
        .set_properties(properties)
    )


def test_librdkafka_takes_what_it_is_given(tmp_path: Path) -> None:
    given = {**LIBRDKAFKA_SASL, "security.protocol": "SASL_PLAINTEXT"}
    del given["ssl.ca.location"]
    AdminClient({**security.for_librdkafka(given), "bootstrap.servers": "localhost:1"})


def test_options_that_librdkafka_refuses_fail_the_job_for_good(tmp_path: Path) -> None:
    missing = {"security.protocol": "SSL", "ssl.ca.location": str(tmp_path / "missing.pem")}
    with pytest.raises(JobFailed, match=r"does not take its options.*ssl\.ca\.location") as failure:
        Brokers.of(source(missing).build())
    assert not failure.value.restartable


def test_secrets_are_shown_nowhere() -> None:
    secret: dict[str, Any] = {"sasl.username": "anna", "sasl.password": "hunter2"}
    built = source({**secret, "sasl.mechanism": "PLAIN"}).build()
    records = (
        KafkaRecordSerializationSchema.builder()
        .set_topic("out")
        .set_value_serialization_schema(SimpleStringSchema())
        .build()
    )
    sink = KafkaSink.builder().set_bootstrap_servers("broker:9092").set_record_serializer(records)
    for name, value in secret.items():
        sink.set_property(name, value)
    parsed = security.Security.of(built.properties)
    for each in built, sink.build(), parsed:
        assert "hunter2" not in repr(each)


def test_spark_gets_javas_names_and_the_group_id() -> None:
    options = consumer(source(LIBRDKAFKA_SASL).set_group_id("mine").build())
    assert options["groupIdPrefix"] == "mine"
    for name, value in JAVA_SASL.items():
        assert options[f"kafka.{name}"] == value
    assert "kafka.sasl.password" not in options
    assert "groupIdPrefix" not in consumer(source({}).build())
