"""Passwords cannot be tried out at will.

Failures are counted for an account at an address, for an address, and for an account. An address
that fails is made to wait itself: it cannot lock others out of their accounts. Only when an account
is tried from many addresses is it closed for a while, and even then not at addresses from which its
owner has logged in before.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from jobs.models import FailedLogins, SignIn

#: Failures that are older than this are forgotten.
_FORGOTTEN = timedelta(hours=1)
_LONGEST = timedelta(minutes=15)
#: Rows kept at most.
ROWS = 10_000


@dataclass(frozen=True, slots=True)
class Limit:
    """After `free` failures, each further one is followed by a wait, twice as long each time."""

    free: int
    first: timedelta

    def wait(self, failures: int) -> timedelta | None:
        over = failures - self.free
        if over < 0:
            return None
        doublings: int = 2 ** min(over, 10)
        return min(self.first * doublings, _LONGEST)


ACCOUNT_AT_ADDRESS = Limit(5, timedelta(seconds=30))
ADDRESS = Limit(30, timedelta(minutes=1))
ACCOUNT = Limit(60, timedelta(minutes=1))


def blocked_until(username: str, address: str) -> datetime | None:
    """When this account may be tried again from there; None: now."""
    username, address = _account(username), _network(address)
    now, found = timezone.now(), []
    rows = FailedLogins.objects.filter(blocked_until__gt=now)
    for row in rows.filter(username__in=[username, ""], address__in=[address, ""]):
        if row.address or not _has_been_at(username, address):
            found.append(row.blocked_until)
    return max(filter(None, found), default=None)


def failed(username: str, address: str) -> None:
    """Count it."""
    username, address = _account(username), _network(address)
    _count("", address, ADDRESS)
    if username:
        _count(username, address, ACCOUNT_AT_ADDRESS)
        _count(username, "", ACCOUNT)


def succeeded(username: str, address: str) -> None:
    """Forget the failures of this account at this address; an account of one's own is no way to
    have the address's forgotten."""
    FailedLogins.objects.filter(username=_account(username), address=_network(address)).delete()


def _count(username: str, address: str, limit: Limit) -> None:
    now = timezone.now()
    mine = FailedLogins.objects.filter(username=username, address=address)
    mine.filter(last_at__lt=now - _FORGOTTEN).delete()
    if not mine.update(failures=F("failures") + 1, last_at=now):
        _begin(username, address)
    row = mine.first()
    wait = limit.wait(row.failures) if row is not None else None
    if wait is not None:
        mine.update(blocked_until=now + wait)


def _begin(username: str, address: str) -> None:
    if FailedLogins.objects.count() >= ROWS:
        _make_room()
    try:
        with transaction.atomic():
            FailedLogins.objects.create(username=username, address=address, failures=1)
    except IntegrityError:  # another process was first
        mine = FailedLogins.objects.filter(username=username, address=address)
        mine.update(failures=F("failures") + 1)


def _make_room() -> None:
    FailedLogins.objects.filter(last_at__lt=timezone.now() - _FORGOTTEN).delete()
    newest = FailedLogins.objects.order_by("-last_at").values_list("pk", flat=True)
    FailedLogins.objects.filter(pk__in=list(newest[ROWS * 9 // 10 :])).delete()


def _has_been_at(username: str, address: str) -> bool:
    known = SignIn.objects.filter(user__username__iexact=username)
    return any(_network(row) == address for row in known.values_list("address", flat=True))


def _account(username: str) -> str:
    return username.strip().lower()[:150]


def _network(address: str) -> str:
    """An IPv6 customer has 2^64 addresses: the network counts."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address[:45]
    if isinstance(known, ipaddress.IPv6Address):
        if known.ipv4_mapped is not None:
            return str(known.ipv4_mapped)
        return str(ipaddress.ip_network((known, 64), strict=False).network_address)
    return str(known)
