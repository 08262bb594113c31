"""A process that is paused in the middle of a transaction keeps nobody from taking over."""

from __future__ import annotations

from typing import Any

from django.db.backends.signals import connection_created

#: PostgreSQL ends a session that idles in a transaction for longer: with it go its locks.
SECONDS = 5


def bound() -> None:
    """From now on, in each connection that is opened."""
    connection_created.connect(_bound_one, dispatch_uid="jobs.idle_transactions")


def _bound_one(sender: object, connection: Any, **_: object) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SET idle_in_transaction_session_timeout = '{SECONDS}s'")
