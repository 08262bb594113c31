"""The browsers in which a person is logged in: listed and ended."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from jobs import audit
from jobs.models import SignIn

#: Where somebody has logged in is known this long, for so many logins.
_KNOWN = timedelta(days=90)
_MOST = 100


def note(request: HttpRequest, user: User) -> None:
    """A login worked."""
    SignIn.objects.create(
        user=user,
        session_key=request.session.session_key or "",
        address=audit.address(request),
        agent=request.META.get("HTTP_USER_AGENT", "")[:200],
    )
    mine = SignIn.objects.filter(user=user)
    mine.filter(created_at__lt=timezone.now() - _KNOWN).exclude(session_key__in=_open()).delete()
    surplus = mine.values_list("pk", flat=True)[_MOST : 2 * _MOST]
    SignIn.objects.filter(pk__in=list(surplus)).delete()


def of(user: User) -> QuerySet[SignIn]:
    """The logins whose session is open, newest first."""
    return SignIn.objects.filter(user=user, session_key__in=_open())


def end(row: SignIn) -> None:
    """Log that browser out."""
    Session.objects.filter(session_key=row.session_key).delete()


def end_others(user: User, session_key: str) -> int:
    """Log all other browsers out; how many."""
    others = of(user).exclude(session_key=session_key).values_list("session_key", flat=True)
    deleted, _ = Session.objects.filter(session_key__in=list(others)).delete()
    return deleted


def prune(now: datetime, at_most: int = 1000) -> int:
    """Remove sessions that have expired; how many."""
    old = Session.objects.filter(expire_date__lt=now).order_by("expire_date")
    chosen = list(old.values_list("pk", flat=True)[:at_most])
    return Session.objects.filter(pk__in=chosen).delete()[0]


def _open() -> QuerySet[Session, str]:
    open_now = Session.objects.filter(expire_date__gt=timezone.now())
    return open_now.values_list("session_key", flat=True)
