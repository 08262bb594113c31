"""How many alerts fire, for the navigation: counted once for all live pages of the same scope."""

from __future__ import annotations

import asyncio
import logging
import time

from django.db import DatabaseError, close_old_connections

from dashboard.scope import Scope
from jobs.models import Alert
from jobs.states import AlertState

#: A count is told to everybody for so long.
SECONDS = 5.0

_told: dict[Scope, tuple[float, int | None]] = {}

log = logging.getLogger(__name__)


def count(scope: Scope) -> int:
    firing = Alert.objects.filter(state=AlertState.FIRING)
    return scope.rows(firing, "job__team").count()


async def counted(scope: Scope) -> int | None:
    """At most SECONDS old, and one query meanwhile; None while it is not known."""
    until, number = _told.get(scope, (0.0, None))
    if time.monotonic() < until:
        return number
    _told[scope] = (time.monotonic() + SECONDS, number)  # others need not ask as well
    try:
        number = await asyncio.to_thread(_count_once, scope)
    except DatabaseError:
        log.exception("the alerts that fire could not be counted; it is tried again")
    _told[scope] = (time.monotonic() + SECONDS, number)
    return number


def _count_once(scope: Scope) -> int:
    close_old_connections()
    try:
        return count(scope)
    finally:
        close_old_connections()
