"""A sink's settings: what is refused, and that secrets stay secret."""

from __future__ import annotations

import pickle
import ssl
from typing import Any

import pytest

from headrace.connectors.kafka import driver_security, errors, producers
from headrace.connectors.kafka.settings import DeliveryGuarantee, SinkSettings, check_together

EXACTLY_ONCE: dict[str, Any] = {
    "name": "out",
    "bootstrap_servers": "broker:9092",
    "topic": "flights",
    "guarantee": DeliveryGuarantee.EXACTLY_ONCE,
    "transactional_id_prefix": "job-1",
}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"transactional_id_prefix": ""}, "needs a transactional id prefix"),
        ({"transactional_id_prefix": "a b"}, "'a b' may have letters"),
        ({"name": "out put"}, "its name may have"),
        ({"bootstrap_servers": " "}, "no bootstrap servers"),
        ({"topic": "flights/2013"}, "is no topic name"),
        ({"transaction_timeout_ms": 10}, "aborts every batch"),
        ({"options": {"transactional.id": "x"}}, "transactional.id are set by the sink"),
        ({"options": {"bootstrap.servers": "x"}}, "give bootstrap_servers"),
    ],
)
def test_unusable_settings_are_refused(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(errors.InvalidSettings, match=complaint):
        SinkSettings(**{**EXACTLY_ONCE, **change})


def test_without_exactly_once_no_prefix_is_needed() -> None:
    sink = SinkSettings("out", "broker:9092")
    assert sink.guarantee is DeliveryGuarantee.AT_LEAST_ONCE


def test_what_librdkafka_does_not_know_is_refused_before_any_task_runs() -> None:
    sink = SinkSettings(**EXACTLY_ONCE, options={"linger.weeks": "2"})
    with pytest.raises(errors.InvalidSettings, match=r"linger\.weeks"):
        producers.check_options(sink)


def test_secrets_are_shown_nowhere() -> None:
    options = {
        "sasl.username": "anna",
        "sasl.password": "hunter2",
        "ssl.key.password": "hunter2",
        "sasl.oauthbearer.client.secret": "hunter2",
        "sasl.oauthbearer.config": "principal=anna token=hunter2",
        "sasl.oauthbearer.assertion.private.key.passphrase": "hunter2",
        "ssl.key.pem": "-----BEGIN hunter2",
    }
    sink = SinkSettings(**EXACTLY_ONCE, options=options)
    assert "hunter2" not in repr(sink)
    assert "anna" in repr(sink)
    with pytest.raises(errors.InvalidSettings) as refused:
        SinkSettings(**EXACTLY_ONCE, options={**options, "acks": "1"})
    assert "hunter2" not in str(refused.value)


def test_settings_travel_to_the_tasks() -> None:
    sink = SinkSettings(**EXACTLY_ONCE, options={"linger.ms": "3"})
    assert pickle.loads(pickle.dumps(sink)) == sink


def test_sinks_of_one_job_have_ids_of_their_own() -> None:
    one = SinkSettings(**EXACTLY_ONCE)
    with pytest.raises(errors.InvalidSettings, match="names of their own"):
        check_together([one, one])
    left = SinkSettings(**{**EXACTLY_ONCE, "transactional_id_prefix": "a-b", "name": "c"})
    right = SinkSettings(**{**EXACTLY_ONCE, "transactional_id_prefix": "a", "name": "b-c"})
    with pytest.raises(errors.InvalidSettings, match="same ids"):
        check_together([left, right])


def test_the_driver_signs_in_as_the_tasks_do() -> None:
    options = {
        "security.protocol": "sasl_ssl",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "anna",
        "sasl.password": "hunter2",
        "ssl.endpoint.identification.algorithm": "none",
        "linger.ms": "3",
    }
    found = driver_security.client_settings(options)
    context = found.pop("ssl_context")
    assert found == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "anna",
        "sasl_plain_password": "hunter2",
    }
    assert (context.check_hostname, context.verify_mode) == (False, ssl.CERT_REQUIRED)


def test_without_tls_nothing_is_read() -> None:
    options = {"security.protocol": "PLAINTEXT", "ssl.ca.location": "/no/such/file"}
    assert driver_security.client_settings(options) == {"security_protocol": "PLAINTEXT"}


@pytest.mark.parametrize(
    "options", [{"sasl.mechanism": "OAUTHBEARER"}, {"ssl.keystore.location": "/client.p12"}]
)
def test_security_that_the_driver_lacks_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(errors.InvalidSettings, match="exactly-once cannot use"):
        driver_security.client_settings(options)


@pytest.mark.parametrize(
    "options",
    [
        {"ssl.ca.location": "/no/such/file"},
        {"ssl.ca.pem": "-----BEGIN nothing"},
        {"ssl.certificate.location": "/no/such/file", "ssl.key.password": "hunter2"},
    ],
)
def test_certificates_that_are_none_are_named(options: dict[str, str]) -> None:
    with pytest.raises(errors.InvalidSettings, match=next(iter(options))) as refused:
        driver_security.client_settings({"security.protocol": "ssl", **options})
    assert "hunter2" not in str(refused.value)
