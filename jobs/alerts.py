"""The writes of the alert tables, each a compare-and-set.

A message is claimed before it is sent: whoever counts the attempt sends it, and when that one
dies the claim runs out and it is sent again. A receiver may so get a message twice, under the
same id, and never misses one.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from jobs import signals
from jobs.models import Alert, AlertChannel, AlertDelivery, AlertRule, Job
from jobs.states import AlertState, DeliveryState, change_state

#: Before the second attempt of a message; doubled each time, up to the longest.
FIRST_PAUSE = timedelta(seconds=15)
LONGEST_PAUSE = timedelta(hours=1)
#: A message that nobody took for so long is given up.
GIVE_UP_AFTER = timedelta(days=1)
#: Alerts that are over, and tests, are kept for so long.
KEPT = timedelta(days=90)

OPEN = (AlertState.PENDING, AlertState.FIRING)


def begin(rule: AlertRule, job: Job, summary: str, now: datetime) -> Alert | None:
    """Open an alert, pending; None when there is an open one already."""
    try:
        with transaction.atomic():
            return Alert.objects.create(
                rule=rule, job=job, state=AlertState.PENDING, since=now, summary=_cut(summary)
            )
    except IntegrityError:
        return None


def fire(alert: Alert, summary: str) -> bool:
    """Tell the rule's channels that it began. Call it inside a transaction."""
    Alert.objects.filter(state=AlertState.RESOLVED, since__lt=timezone.now() - KEPT).delete()
    return change_state(alert, AlertState.FIRING, summary=_cut(summary))


def drop(alert: Alert) -> None:
    """It is over before anybody was told."""
    Alert.objects.filter(pk=alert.pk, state=AlertState.PENDING).delete()


def note_clear(alert: Alert, since: datetime | None) -> None:
    Alert.objects.filter(pk=alert.pk, state=AlertState.FIRING).update(clear_since=since)


def resolve(alert: Alert) -> bool:
    """Tell the rule's channels that it is over. Call it inside a transaction."""
    return change_state(alert, AlertState.RESOLVED)


def test(channel: AlertChannel) -> AlertDelivery:
    """Send a message that says that the channel works."""
    with transaction.atomic():
        tests = AlertDelivery.objects.filter(alert=None, created_at__lt=timezone.now() - KEPT)
        tests.exclude(state=DeliveryState.WAITING).delete()
        delivery = AlertDelivery.objects.create(channel=channel, about=AlertDelivery.About.TEST)
        signals.nudge()
    return delivery


def due(now: datetime) -> QuerySet[AlertDelivery]:
    """Messages to be sent now, oldest first. That an alert is over waits until it was told to
    have begun, or that was given up."""
    before = AlertDelivery.objects.filter(
        alert=OuterRef("alert"), channel=OuterRef("channel"), pk__lt=OuterRef("pk")
    ).filter(state=DeliveryState.WAITING)
    rows = AlertDelivery.objects.filter(state=DeliveryState.WAITING, due_at__lte=now)
    return rows.filter(Q(alert=None) | ~Exists(before)).order_by("due_at")


def claim(pk: int, now: datetime) -> AlertDelivery | None:
    """The message, to be sent by the caller alone; None when it is not due or another has it."""
    row = due(now).filter(pk=pk).select_related("channel", "alert__rule", "alert__job").first()
    if row is None:
        return None
    mine = AlertDelivery.objects.filter(
        pk=pk, state=DeliveryState.WAITING, attempts=row.attempts, due_at=row.due_at
    )
    attempts, due_at = row.attempts + 1, now + pause(row.attempts + 1)
    if not mine.update(attempts=attempts, due_at=due_at):
        return None
    row.attempts, row.due_at = attempts, due_at
    return row


def sent(delivery: AlertDelivery) -> None:
    with transaction.atomic():
        change_state(delivery, DeliveryState.SENT, error="")


def not_sent(delivery: AlertDelivery, error: str, *, for_good: bool, now: datetime) -> None:
    """It is sent again when its claim runs out, unless that is of no use any more."""
    error = _cut(error)
    if for_good or now - delivery.created_at >= GIVE_UP_AFTER:
        with transaction.atomic():
            change_state(delivery, DeliveryState.GIVEN_UP, error=error)
    else:
        AlertDelivery.objects.filter(pk=delivery.pk, attempts=delivery.attempts).update(error=error)


def pause(attempts: int) -> timedelta:
    """Until the next attempt, counted from the start of this one; longer than one may take."""
    return min(FIRST_PAUSE * (1 << min(attempts - 1, 16)), LONGEST_PAUSE)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 500 else f"{line[:499]}…"
