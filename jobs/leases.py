"""Who leads: a lease row with an expiry and a fencing epoch.

A holder that was paused past its lease finds, in the transaction of its next write, that the
epoch is no longer its own: the write is refused. Time is the database's: one clock for
all machines.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from jobs.models import Event, Lease

JOBMANAGER = "jobmanager"
#: A standby takes over within this and one tick: promised are ten seconds.
LENGTH = datetime.timedelta(seconds=5)


class Deposed(Exception):
    """The lease is no longer held; the write it was to guard was not made."""


@dataclass(frozen=True, slots=True)
class Held:
    """A lease held in one epoch."""

    name: str
    holder: str
    epoch: int


def take(name: str, holder: str) -> Held | None:
    """Take the lease if it is free or expired; None while it is held, by `holder` itself, too: two
    that have one name would depose each other for ever.

    A new epoch begins with each taking: an earlier self is fenced."""
    with transaction.atomic():
        row, _ = Lease.objects.get_or_create(name=name, defaults={"expires_at": Now()})
        free = Lease.objects.filter(name=name, epoch=row.epoch, expires_at__lte=Now())
        if not free.update(holder=holder, epoch=row.epoch + 1, expires_at=Now() + LENGTH):
            return None
        Event.objects.create(
            kind=Event.Kind.JOBMANAGER,
            message=f"{holder} leads",
            detail={"holder": holder, "epoch": row.epoch + 1, "before": row.holder},
        )
    return Held(name, holder, row.epoch + 1)


def renew(held: Held) -> None:
    """Hold it for another LENGTH. Raises Deposed when it ran out or another took it."""
    if not _mine(held).update(expires_at=Now() + LENGTH):
        raise Deposed(f"{held.holder} no longer leads (epoch {held.epoch})")


def give_up(held: Held) -> None:
    """Let a standby take over at once instead of after the expiry."""
    Lease.objects.filter(name=held.name, epoch=held.epoch).update(holder="", expires_at=Now())


@contextmanager
def guard(held: Held) -> Iterator[None]:
    """A transaction that is committed only if the lease is held. Raises Deposed."""
    with transaction.atomic():
        # An update, not a query: it locks the row, so nobody takes the lease before the commit.
        if not _mine(held).update(epoch=held.epoch):
            raise Deposed(f"{held.holder} no longer leads (epoch {held.epoch})")
        yield


def _mine(held: Held) -> QuerySet[Lease]:
    return Lease.objects.filter(
        name=held.name, holder=held.holder, epoch=held.epoch, expires_at__gt=Now()
    )
