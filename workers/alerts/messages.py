"""What a channel is told, as each kind of channel takes it. No I/O."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from jobs.models import Alert, AlertDelivery

_PREFIX = "whsec_"

About = AlertDelivery.About


def body(delivery: AlertDelivery, url: str) -> dict[str, Any]:
    """A webhook's message. `url` is where this Headrace's pages are."""
    alert = delivery.alert
    return {
        "type": f"alert.{delivery.about}",
        "timestamp": _time(_happened(delivery)),
        "data": _data(alert, url) if alert is not None else {"summary": text(delivery, url)},
    }


def text(delivery: AlertDelivery, url: str) -> str:
    """One message for people."""
    alert = delivery.alert
    if alert is None:
        return f"This is a test of the channel {delivery.channel.name!r} of Headrace at {url}"
    what = f"{alert.job.name}: {alert.summary} (rule {alert.rule.name})"
    where = _job_url(alert, url)
    if delivery.about == About.RESOLVED:
        return f"RESOLVED {what}\nIt held from {_time(alert.since)} on.\n{where}"
    return f"FIRING {what}\nSince {_time(alert.since)}.\n{where}"


def subject(delivery: AlertDelivery) -> str:
    """One line; names are not to break a mail's header."""
    alert = delivery.alert
    if alert is None:
        return "[Headrace] test"
    line = f"[Headrace] {delivery.about.upper()} {alert.rule.name}: {alert.job.name}"
    return " ".join(line.split())


def slack(delivery: AlertDelivery, url: str) -> dict[str, str]:
    """What Slack, and those that take its messages, show; &, < and > mean something there."""
    escaped = text(delivery, url).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {"text": escaped}


def encoded(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode()


def headers(delivery: AlertDelivery, content: bytes, now: datetime) -> dict[str, str]:
    """Those of Standard Webhooks (standardwebhooks.com): the id is the same for each attempt; the
    signature, if the channel has a secret, is over id, time and content."""
    identity, seconds = f"msg_{delivery.pk}", str(int(now.timestamp()))
    found = {"webhook-id": identity, "webhook-timestamp": seconds}
    if secret := delivery.channel.secret:
        signed = f"{identity}.{seconds}.".encode() + content
        digest = hmac.new(_key(secret), signed, hashlib.sha256).digest()
        found["webhook-signature"] = f"v1,{base64.b64encode(digest).decode()}"
    return found


def _key(secret: str) -> bytes:
    """`whsec_` and base64 as the standard has it, or any other text as it is."""
    if secret.startswith(_PREFIX):
        try:
            return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
        except ValueError:
            pass
    return secret.encode()


def _data(alert: Alert, url: str) -> dict[str, Any]:
    rule, job = alert.rule, alert.job
    return {
        "alert": alert.pk,
        "rule": {
            "id": rule.pk,
            "name": rule.name,
            "kind": rule.kind,
            "threshold": rule.threshold,
            "seconds": rule.seconds,
        },
        "job": {"id": job.pk, "name": job.name, "state": job.state, "url": _job_url(alert, url)},
        "summary": alert.summary,
        "since": _time(alert.since),
        "resolved_at": _time(alert.resolved_at) if alert.resolved_at else None,
    }


def _happened(delivery: AlertDelivery) -> datetime:
    alert = delivery.alert
    found = None
    if alert is not None:
        found = alert.resolved_at if delivery.about == About.RESOLVED else alert.fired_at
    return found or delivery.created_at


def _job_url(alert: Alert, url: str) -> str:
    return f"{url.rstrip('/')}/jobs/{alert.job_id}/"


def _time(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
