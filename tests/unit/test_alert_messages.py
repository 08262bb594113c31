"""What channels are sent: signed as Standard Webhooks, escaped for Slack, one line as subject."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta

import pytest

from jobs import alerts
from jobs.models import Alert, AlertChannel, AlertDelivery, AlertRule, Job
from workers.alerts import messages

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def delivery(about: str = "firing", secret: str = "") -> AlertDelivery:
    alert = Alert(
        pk=5,
        rule=AlertRule(pk=2, name="behind", kind="lag", threshold=10, seconds=60),
        job=Job(pk="ab" * 16, name="flights\n<delays>", state="RUNNING"),
        state=about,
        since=NOW,
        fired_at=NOW,
        summary="20 records behind, more than 10",
    )
    channel = AlertChannel(name="ops", kind="webhook", secret=secret)
    return AlertDelivery(pk=9, alert=alert, channel=channel, about=about)


def test_webhooks_know_what_happened_to_which_job() -> None:
    body = messages.body(delivery(), "http://here:8081/")

    assert (body["type"], body["timestamp"]) == ("alert.firing", "2026-01-01T00:00:00+00:00")
    assert body["data"]["job"]["url"] == f"http://here:8081/jobs/{'ab' * 16}/"
    assert body["data"]["rule"]["kind"] == "lag"
    assert body["data"]["resolved_at"] is None


@pytest.mark.parametrize(
    ("secret", "key"),
    [
        ("a long enough secret", b"a long enough secret"),
        ("whsec_" + base64.b64encode(b"0123456789abcdef").decode(), b"0123456789abcdef"),
    ],
)
def test_the_signature_is_over_id_time_and_content(secret: str, key: bytes) -> None:
    found = messages.headers(delivery(secret=secret), b'{"a":1}', NOW)

    signed = f"msg_9.{int(NOW.timestamp())}.".encode() + b'{"a":1}'
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert found["webhook-signature"] == f"v1,{expected}"
    assert found["webhook-id"] == "msg_9"


def test_without_a_secret_nothing_is_signed() -> None:
    assert "webhook-signature" not in messages.headers(delivery(), b"{}", NOW)


def test_slack_takes_the_text_for_text() -> None:
    text = messages.slack(delivery(), "http://here")["text"]

    assert "FIRING flights\n&lt;delays&gt;: 20 records behind" in text
    assert "<" not in text


def test_a_subject_is_one_line() -> None:
    assert messages.subject(delivery("resolved")) == (
        "[Headrace] RESOLVED behind: flights <delays>"
    )


def test_pauses_grow_to_an_hour() -> None:
    seconds = [alerts.pause(n) / timedelta(seconds=1) for n in (1, 2, 3, 9, 10, 500)]

    assert seconds == [15, 30, 60, 3600, 3600, 3600]
