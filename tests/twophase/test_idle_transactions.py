"""A process that is paused in a transaction loses its locks, so that others can take over."""

from __future__ import annotations

import pytest
from django import db
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler
from pytest_django import DjangoDbBlocker

from tests.twophase.postgresql import PASSWORD, Server


def connection(server: Server) -> BaseDatabaseWrapper:
    """As the platform connects."""
    settings = {
        "ENGINE": "django.db.backends.postgresql",
        **{"HOST": "127.0.0.1", "PORT": server.port, "NAME": server.user},
        **{"USER": server.user, "PASSWORD": PASSWORD},
    }
    return ConnectionHandler({"default": settings})["default"]


def test_the_server_ends_a_transaction_that_idles(
    postgres: Server, django_db_blocker: DjangoDbBlocker
) -> None:
    with django_db_blocker.unblock():
        paused, successor = connection(postgres), connection(postgres)
        try:
            paused.set_autocommit(False)
            with paused.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(4711)")

            with successor.cursor() as cursor:
                cursor.execute("SET statement_timeout = '120s'")
                cursor.execute("SELECT pg_advisory_lock(4711)")  # returns when it is free

            ended = pytest.raises(db.DatabaseError, match="idle-in-transaction")
            with ended, paused.cursor() as cursor:
                cursor.execute("SELECT 1")
        finally:
            paused.close()
            successor.close()
