"""Sends one message by webhook or e-mail and says how that went."""

from __future__ import annotations

import http.client
import smtplib
import urllib.error
import urllib.request
from datetime import datetime
from typing import Any, assert_never
from urllib.parse import urlsplit

import structlog
from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.utils import timezone

from jobs import alerts
from jobs.models import AlertChannel, AlertDelivery
from jobs.models.alert import url_of
from workers.alerts import messages
from workers.alerts.deadlines import Deadline

log = structlog.get_logger(__name__)

#: For a message to a webhook, and for each answer of a mail server: less than the pause before the
#: second attempt.
TIMEOUT_SECONDS = 5
#: Refusals that may be gone at the next attempt; all others of 4xx are final.
TRY_AGAIN = (408, 409, 425, 429)


class NotSent(Exception):
    """The message was not taken. `for_good`: nor will it be, as it is."""

    def __init__(self, reason: str, for_good: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.for_good = for_good


def deliver(pk: int) -> bool:
    """Send the message if it is due and nobody else does; whether it was taken.

    1. Claim it, so that it is this caller's alone until the next pause is over.
    2. Send it.
    3. Write down how that went.
    """
    # 1.
    delivery = alerts.claim(pk, timezone.now())
    if delivery is None:
        return False
    try:
        # 2.
        _send(delivery, timezone.now())
    except NotSent as error:
        # 3.
        log.warning("message not sent", delivery=pk, error=error.reason, attempt=delivery.attempts)
        _note(delivery, error)
        return False
    except Exception as error:
        # Not foreseen; told where it is looked for, and tried as long as any other.
        log.exception("message not sent", delivery=pk, attempt=delivery.attempts)
        name = type(error).__name__
        _note(delivery, NotSent(f"{name}; the log of the process that sent it says more"))
        return False
    alerts.sent(delivery)
    return True


def _note(delivery: AlertDelivery, error: NotSent) -> None:
    alerts.not_sent(delivery, error.reason, for_good=error.for_good, now=timezone.now())


def _send(delivery: AlertDelivery, now: datetime) -> None:
    """Raises NotSent."""
    channel = delivery.channel
    match AlertChannel.Kind(channel.kind):
        case AlertChannel.Kind.WEBHOOK:
            content = messages.encoded(messages.body(delivery, settings.HEADRACE_URL))
            _post(channel.address, content, messages.headers(delivery, content, now))
        case AlertChannel.Kind.SLACK:
            _post(
                channel.address,
                messages.encoded(messages.slack(delivery, settings.HEADRACE_URL)),
                {},
            )
        case AlertChannel.Kind.EMAIL:
            _mail(delivery)
        case _:
            assert_never(channel.kind)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A message goes to the address that was given and to no other."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _post(address: str, content: bytes, headers: dict[str, str]) -> None:
    """The reasons name no more of the address than its host: the rest may be a secret."""
    try:
        url = url_of(address)
    except ValueError:
        raise NotSent(
            "nothing can be sent to the channel's address: give it one like https://host/path",
            for_good=True,
        ) from None
    request = urllib.request.Request(
        url,
        content,
        {"Content-Type": "application/json", "User-Agent": "Headrace", **headers},
        method="POST",
    )
    host = urlsplit(url).hostname or ""
    with Deadline(TIMEOUT_SECONDS) as deadline:
        _open(request, host, deadline)


def _open(request: urllib.request.Request, host: str, deadline: Deadline) -> None:
    try:
        _opener(host, deadline).open(request, timeout=TIMEOUT_SECONDS).close()
    except urllib.error.HTTPError as error:
        error.close()
        final = 300 <= error.code < 500 and error.code not in TRY_AGAIN
        raise NotSent(f"{host} answered {error.code} {error.reason}", final) from None
    except (OSError, http.client.HTTPException) as error:  # URLError is an OSError
        if deadline.over:
            raise NotSent(f"{host} has not answered within {TIMEOUT_SECONDS} s") from None
        said = getattr(error, "reason", None) or error
        raise NotSent(f"{host} cannot be reached: {said}") from None
    except ValueError as error:
        raise NotSent(f"{host} cannot be asked: {type(error).__name__}", for_good=True) from None


def _opener(host: str, deadline: Deadline) -> urllib.request.OpenerDirector:
    """This machine is reached without a proxy."""
    local = host in ("localhost", "127.0.0.1", "::1")
    proxies = [urllib.request.ProxyHandler({})] if local else []
    return urllib.request.build_opener(_NoRedirects, *deadline.handlers, *proxies)


def _mail(delivery: AlertDelivery) -> None:
    if not settings.EMAIL_HOST:
        raise NotSent("no mail server is configured: set EMAIL_URL, then send a test")
    message = EmailMessage(
        messages.subject(delivery),
        messages.text(delivery, settings.HEADRACE_URL),
        to=delivery.channel.recipients,
        headers={"Message-ID": f"<{delivery.pk}.alert@{urlsplit(settings.HEADRACE_URL).hostname}>"},
        connection=get_connection(timeout=TIMEOUT_SECONDS),
    )
    try:
        message.send()
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        raise NotSent(f"the mail server takes no recipient: {codes}", min(codes) >= 500) from None
    except smtplib.SMTPResponseException as error:
        # 5xx is final, but for a password that may be corrected.
        final = error.smtp_code >= 500 and not isinstance(error, smtplib.SMTPAuthenticationError)
        raise NotSent(f"the mail server answered {error.smtp_code}", final) from None
    except (smtplib.SMTPException, OSError) as error:
        raise NotSent(f"the mail server cannot be used: {error}") from None
