"""The server as the sink sees it: connections, prepared transactions, the marker table.

    headrace_commits (gid primary key, root, batch_id, at)

A row of it is written in the very transaction that it names, so it is there exactly when that
transaction was committed: it answers for a gid that the server no longer knows.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager

from headrace.connectors.postgres.settings import PostgresSettings
from headrace.connectors.twophase import errors

try:
    import psycopg
    from psycopg import sql
except ImportError as error:
    raise ImportError(
        "the PostgreSQL sink needs psycopg 3: pip install 'headrace[postgres]'"
    ) from error

MARKERS = "headrace_commits"
#: Longer ones are refused by PREPARE TRANSACTION.
LONGEST_GID = 199
#: A lock may be held by a transaction that is ended only after the one that waits for it.
LOCK_SECONDS = 60.0
#: In the sessions, unless the server, database or user has a value of its own: how long a lock is
#: waited for, and how soon the server notices that a client is gone and ends its transaction.
_SESSION = """
SELECT set_config(name, wanted, false)
FROM (VALUES ('lock_timeout', %s), ('tcp_keepalives_idle', '30'),
    ('tcp_keepalives_interval', '10'), ('tcp_keepalives_count', '3')) AS w (name, wanted)
WHERE (SELECT source FROM pg_settings AS s WHERE s.name = w.name) = 'default'"""

_CREATE = f"""
CREATE TABLE IF NOT EXISTS {MARKERS} (
    gid text PRIMARY KEY,
    root text NOT NULL,
    batch_id bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
)"""
_LEDGER = f"""
SELECT (SELECT system_identifier FROM pg_control_system())::text
    || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())::text
    || '/' || '{MARKERS}'::regclass::oid::text"""

Connection = psycopg.Connection[tuple[object, ...]]


@contextmanager
def connected(settings: PostgresSettings, purpose: str) -> Iterator[Connection]:
    """This process's connection of a purpose, in autocommit; closed when the block fails, since
    nobody knows its state then. One thread at a time may use it."""
    connection = take(settings, purpose)
    try:
        yield connection
    except BaseException:
        discard(settings, purpose)
        raise


_kept: dict[tuple[int, PostgresSettings, str], Connection] = {}


def take(settings: PostgresSettings, purpose: str) -> Connection:
    place = os.getpid(), settings, purpose
    known = _kept.get(place)
    if known is None or known.closed:
        known = _kept[place] = _connect(settings)
    return known


def _connect(settings: PostgresSettings) -> Connection:
    connection = psycopg.connect(**settings.connect_arguments(), autocommit=True)
    try:
        connection.execute(_SESSION, [f"{LOCK_SECONDS:.0f}s"])
    except BaseException:
        connection.close()
        raise
    return connection


def discard(settings: PostgresSettings, purpose: str) -> None:
    connection = _kept.pop((os.getpid(), settings, purpose), None)
    if connection is not None:
        connection.close()


def close_all() -> None:
    """Give up this process's connections; what is prepared stays so."""
    while _kept:
        (pid, _, _), connection = _kept.popitem()
        if pid == os.getpid():
            connection.close()


def check(connection: Connection, address: str) -> None:
    """Make the marker table, and refuse a server that cannot prepare transactions."""
    [allowed] = _row(connection, "SHOW max_prepared_transactions")
    if int(str(allowed)) == 0:
        raise errors.InvalidSettings(
            f"{address} has max_prepared_transactions = 0: exactly-once needs prepared "
            "transactions. Set it to twice the number of tasks that write at once, or more, in "
            "postgresql.conf (ALTER SYSTEM SET max_prepared_transactions = 64) and restart the "
            "server"
        )
    if _row(connection, f"SELECT to_regclass('{MARKERS}') IS NULL")[0]:
        with contextlib.suppress(psycopg.errors.UniqueViolation):  # another was faster
            connection.execute(_CREATE)


def ledger(connection: Connection) -> str:
    """Which marker table of which server this is."""
    return str(_row(connection, _LEDGER)[0])


def is_marked(connection: Connection, gid: str) -> bool:
    found = connection.execute(f"SELECT 1 FROM {MARKERS} WHERE gid = %s", [gid])
    return found.fetchone() is not None


def mark(connection: Connection, gid: str, root: str, batch_id: int) -> None:
    """In the open transaction."""
    connection.execute(
        f"INSERT INTO {MARKERS} (gid, root, batch_id) VALUES (%s, %s, %s)", [gid, root, batch_id]
    )


def forget_before(connection: Connection, root: str, batch_id: int) -> None:
    """Markers of earlier batches: nobody will ask about them again."""
    connection.execute(f"DELETE FROM {MARKERS} WHERE root = %s AND batch_id < %s", [root, batch_id])


def prepare(connection: Connection, gid: str) -> None:
    done = connection.execute(sql.SQL("PREPARE TRANSACTION {}").format(gid))
    if done.statusmessage != "PREPARE TRANSACTION":
        raise errors.WriteFailed(f"PREPARE TRANSACTION answered {done.statusmessage}")


def commit_prepared(connection: Connection, gid: str) -> bool:
    """False when the server does not know the gid."""
    return _end(connection, sql.SQL("COMMIT PREPARED {}").format(gid))


def rollback_prepared(connection: Connection, gid: str) -> bool:
    """False when the server does not know the gid."""
    return _end(connection, sql.SQL("ROLLBACK PREPARED {}").format(gid))


def prepared(connection: Connection, beginning: str) -> list[str]:
    """The gids of this database that begin so."""
    found = connection.execute(
        "SELECT gid FROM pg_prepared_xacts WHERE database = current_database()"
        " AND starts_with(gid, %s) ORDER BY prepared",
        [beginning],
    )
    return [str(gid) for (gid,) in found]


def _end(connection: Connection, command: sql.Composed) -> bool:
    try:
        connection.execute(command)
    except psycopg.errors.UndefinedObject:
        return False
    return True


def _row(connection: Connection, query: str) -> tuple[object, ...]:
    found = connection.execute(query.encode()).fetchone()
    assert found is not None
    return found
