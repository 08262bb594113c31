"""Which job uses a root, in a table of its own.

headrace_claims (root primary key, claim)
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from headrace.connectors.postgres import server
from headrace.connectors.postgres.settings import PostgresSettings
from headrace.connectors.twophase import errors

CLAIMS = "headrace_claims"
_CREATE = f"CREATE TABLE IF NOT EXISTS {CLAIMS} (root text PRIMARY KEY, claim text NOT NULL)"
_READ = f"SELECT claim FROM {CLAIMS} WHERE root = %s"
_WRITE = (
    f"INSERT INTO {CLAIMS} (root, claim) VALUES (%s, %s)"
    " ON CONFLICT (root) DO UPDATE SET claim = EXCLUDED.claim"
)

#: Claims are renewed beside commits, and by more than one thread.
_one_at_a_time = threading.Lock()


class ClaimRow:
    """Contract: `twophase.sink.ClaimPlace`."""

    def __init__(self, settings: PostgresSettings, root: str) -> None:
        self._settings = settings
        self._root = root

    @property
    def described(self) -> str:
        return f"row {self._root!r} of table {CLAIMS} in {self._settings.address}"

    def read(self) -> str | None:
        with self._connected() as connection:
            try:
                found = connection.execute(_READ, [self._root]).fetchone()
            except psycopg.errors.UndefinedTable:
                return None
        return str(found[0]) if found else None

    def write(self, claim: str) -> None:
        with self._connected() as connection:
            try:
                connection.execute(_WRITE, [self._root, claim])
            except psycopg.errors.UndefinedTable:
                with contextlib.suppress(psycopg.errors.UniqueViolation):  # another was faster
                    connection.execute(_CREATE)
                connection.execute(_WRITE, [self._root, claim])

    @contextmanager
    def _connected(self) -> Iterator[server.Connection]:
        try:
            with _one_at_a_time, server.connected(self._settings, "claims") as connection:
                yield connection
        except psycopg.errors.InsufficientPrivilege as error:
            raise errors.CommitRefused(
                f"{self.described}: {' '.join(str(error).split())}"
            ) from None
