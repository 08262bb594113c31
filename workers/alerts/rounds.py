"""The leader's part in alerts: evaluates the rules and sees to it that messages go out."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import structlog
from django.db import close_old_connections
from django.utils import timezone

from jobs import alerts, leases
from workers import tasks
from workers.alerts import sending, watch

log = structlog.get_logger(__name__)

EVALUATE_SECONDS = 5.0
SEND_SECONDS = 1.0
#: A message that no TaskManager took for so long is sent by the JobManager itself.
OVERDUE = timedelta(seconds=10)
MESSAGES_AT_ONCE = 100


class Rounds:
    """Called with each tick; does something every few seconds."""

    def __init__(self) -> None:
        self._evaluated = self._looked = float("-inf")
        self._told: dict[int, float] = {}
        self._senders: dict[int, threading.Thread] = {}

    def tick(self, guard: watch.Guard) -> None:
        """Raises Deposed; other trouble with alerts does not keep jobs from their steps."""
        try:
            now = time.monotonic()
            if now - self._evaluated >= EVALUATE_SECONDS:
                self._evaluated = now
                watch.evaluate(timezone.now(), guard)
            if now - self._looked >= SEND_SECONDS:
                self._looked = now
                self._send_due()
        except leases.Deposed:
            raise
        except Exception:
            log.exception("alerts were not looked at; trying again")

    def _send_due(self) -> None:
        """By Celery; what stays, and all while Redis is away, by a thread of this process for each
        channel, so that one which does not answer holds up no other."""
        now = timezone.now()
        self._senders = {
            channel: thread for channel, thread in self._senders.items() if thread.is_alive()
        }
        mine: dict[int, list[int]] = {}
        for pk, due_at, channel in _due(now, self._senders):
            if not self._tell(pk) or now - due_at > OVERDUE:
                mine.setdefault(channel, []).append(pk)
        for channel, messages in mine.items():
            self._senders[channel] = threading.Thread(
                target=_deliver, args=[messages], name="alerts", daemon=True
            )
            self._senders[channel].start()

    def _tell(self, pk: int) -> bool:
        """Word to the TaskManagers, and again now and then; False when it does not get out."""
        now = time.monotonic()
        self._told = {
            told: at for told, at in self._told.items() if now - at < OVERDUE.total_seconds()
        }
        if pk not in self._told:
            if not tasks.send_deliver(pk):
                return False
            self._told[pk] = now
        return True


def _due(now: datetime, busy: Iterable[int]) -> list[tuple[int, datetime, int]]:
    """Messages, since when they are due, and their channels, but for those that are busy."""
    rows = alerts.due(now).exclude(channel__in=list(busy))
    return list(rows.values_list("pk", "due_at", "channel_id")[:MESSAGES_AT_ONCE])


def _deliver(messages: Sequence[int]) -> None:
    for pk in messages:
        try:
            sending.deliver(pk)
        except Exception:
            log.exception("message not sent; trying again", delivery=pk)
    close_old_connections()
