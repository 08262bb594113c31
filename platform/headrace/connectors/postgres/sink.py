"""The PostgreSQL sink's hooks.

A task runs the statement for its values in one transaction, adds its marker row, and ends with
PREPARE TRANSACTION; the driver's COMMIT PREPARED makes it visible. The gid is the transaction's
name, so leftovers are found by their beginning.

A prepared transaction keeps its locks, and holds back VACUUM, until it is ended. Here they are
ended within the batch or by the next start; but those of a job that never starts again stay:
look into pg_prepared_xacts and ROLLBACK PREPARED them by hand.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, TypedDict

import psycopg
from psycopg.types.json import Jsonb

from headrace.common.time import Instant
from headrace.common.types import Row
from headrace.connectors.postgres import server
from headrace.connectors.postgres.claims import ClaimRow
from headrace.connectors.postgres.settings import PostgresSettings
from headrace.connectors.postgres.statement import Statement
from headrace.connectors.twophase import errors, names
from headrace.connectors.twophase.sink import (
    InvokeContext,
    TransactionContext,
    TwoPhaseCommitSink,
)

DEFAULT_BATCH_SIZE = 5000
TASK, DRIVER = "task", "driver"

_LOCKED = (
    "; a row that this task writes is locked, by another program or by another task of this batch, "
    "which keeps its locks until the batch ends: then key_by what the statement's key is"
)
#: What a server says whose answer will be the same next time; libpq gives no code for it.
_REFUSALS = (
    "authentication failed",
    "no password supplied",
    "does not exist",
    "no pg_hba.conf entry",
    "not permitted to log in",
    "permission denied for database",
)


class PostgresTransaction(TypedDict):
    """What manifests keep."""

    gid: str
    root: str
    #: Which marker table its marker is in.
    ledger: str


class PostgresSink(TwoPhaseCommitSink[Any, PostgresTransaction]):
    """Runs one statement a value, exactly once or at least once.

    Values are rows, tuples or lists with a field for each `?`; any other value is the only one.
    Plain INSERTs are sent as COPY, which ignores rules and needs the right to INSERT only.
    """

    def __init__(
        self,
        settings: PostgresSettings,
        statement: str,
        *,
        exactly_once: bool = True,
        batch_size: int = DEFAULT_BATCH_SIZE,
        transactional_id_prefix: str = "",
        commit_timeout_seconds: float = 120.0,
    ) -> None:
        """`batch_size`: rows sent at a time. Raises `InvalidSettings`."""
        self._settings = settings
        self._statement = Statement.parse(statement)
        self.transactional = exactly_once
        self.transactional_id_prefix = transactional_id_prefix
        self.commit_timeout_seconds = commit_timeout_seconds
        self._batch_size = batch_size
        self._rows: list[Sequence[Any]] = []
        self._session = TASK
        self._forgotten_before = -1

    @property
    def described(self) -> str:
        return f"postgresql:{self._settings.database}"

    def __repr__(self) -> str:
        return f"PostgresSink({self._settings!r}, {self._statement.sql!r})"

    def check(self, root: str) -> None:
        if len(root) + 60 > server.LONGEST_GID:
            raise errors.InvalidSettings(
                f"{root!r} is too long for the names of prepared transactions"
            )
        try:
            with self._driving(root) as connection:
                if self.transactional:
                    server.check(connection, self._settings.address)
        except psycopg.Error as error:
            said = " ".join(str(error).split())
            is_certain = any(each in said for each in _REFUSALS)
            if isinstance(error, psycopg.OperationalError) and not is_certain:
                raise  # it may be starting
            raise errors.InvalidSettings(f"{self._settings.address}: {said}") from None

    def claim_place(self, root: str) -> ClaimRow:
        return ClaimRow(self._settings, root)

    def begin_transaction(self, context: TransactionContext) -> PostgresTransaction:
        self._rows = []
        self._session = f"{TASK} {context.root}"
        try:
            found = self._begin(context)
        except psycopg.OperationalError:
            found = self._begin(context)  # the connection was of an earlier batch, and is broken
        return {"gid": context.name, "root": context.root, "ledger": found}

    def invoke(self, transaction: PostgresTransaction, value: Any, context: InvokeContext) -> None:
        self._rows.append(self._parameters(value))
        if len(self._rows) >= self._batch_size:
            self._send()

    def pre_commit(self, transaction: PostgresTransaction) -> None:
        self._send()
        with self._writing() as connection:
            if not self.transactional:
                connection.execute("COMMIT")
                return
            gid, root = transaction["gid"], transaction["root"]
            server.mark(connection, gid, root, _batch_of(root, gid))
            server.prepare(connection, gid)

    def commit(self, transaction: PostgresTransaction) -> None:
        gid, root = transaction["gid"], transaction["root"]
        with self._driving(root) as connection:
            if not server.commit_prepared(connection, gid):
                self._settle(connection, transaction)
            if (batch := _batch_of(root, gid)) > self._forgotten_before:
                self._forgotten_before = batch
                server.forget_before(connection, root, batch)

    def abort(self, transaction: PostgresTransaction) -> None:
        self._rows = []
        # If this task has it open, that ends it; if not, it is prepared or gone.
        server.discard(self._settings, self._session)
        with self._driving(transaction["root"]) as connection:
            if self.transactional:
                server.rollback_prepared(connection, transaction["gid"])

    def list_transactions(self, root: str) -> Iterable[tuple[str, PostgresTransaction]]:
        with self._driving(root) as connection:
            found = server.prepared(connection, f"{root}-")
        return [(gid, {"gid": gid, "root": root, "ledger": ""}) for gid in found]

    def _begin(self, context: TransactionContext) -> str:
        """The ledger, if there is one."""
        found = ""
        with server.connected(self._settings, self._session) as connection:
            if self.transactional:
                found = server.ledger(connection)
                _end_earlier_tasks(connection, context)
            connection.execute("BEGIN")
        return found

    def _driving(self, root: str) -> AbstractContextManager[server.Connection]:
        """The connection that ends transactions; sinks do that in threads of their own."""
        return server.connected(self._settings, f"{DRIVER} {root}")

    @contextmanager
    def _writing(self) -> Iterator[server.Connection]:
        """The task's connection; what the server refuses is said in one line."""
        try:
            with server.connected(self._settings, self._session) as connection:
                yield connection
        except psycopg.Error as error:
            said = " ".join(str(error).split())
            if isinstance(error, psycopg.errors.LockNotAvailable):
                said += _LOCKED
            raise errors.WriteFailed(f"{self._settings.address}: {said}") from None

    def _settle(self, connection: server.Connection, transaction: PostgresTransaction) -> None:
        """The gid is unknown: committed before, or gone. Its marker tells."""
        gid = transaction["gid"]
        if server.is_marked(connection, gid):
            return
        if server.ledger(connection) != transaction["ledger"]:
            raise errors.OutcomeUnknown(
                f"{gid}: the table {server.MARKERS} was made anew since, or {self.described} is "
                "another server"
            )
        raise errors.TransactionLost(gid)

    def _parameters(self, value: Any) -> Sequence[Any]:
        row = tuple(map(_plain, value)) if isinstance(value, Row | tuple | list) else (value,)
        if len(row) != self._statement.parameters:
            raise ValueError(f"{len(row)} values for {self._statement.parameters} parameters")
        return row

    def _send(self) -> None:
        rows, self._rows = self._rows, []
        if not rows:
            return
        with self._writing() as connection, connection.cursor() as cursor:
            if self._statement.copy is None:
                cursor.executemany(self._statement.sql.encode(), rows)
                return
            with cursor.copy(self._statement.copy.encode()) as copy:
                for row in rows:
                    copy.write_row(row)


def _end_earlier_tasks(connection: server.Connection, context: TransactionContext) -> None:
    """Locks of what a dead task prepared could make this one wait until it fails: of an earlier
    task of this partition, or of any task of an earlier driver, which prepared after the recovery
    that ended all others. Spark counts a task's retries from 0 again when it retries the stage."""
    mine = names.parse(context.root, context.name)
    assert mine is not None
    for gid in server.prepared(connection, f"{context.root}-"):
        other = names.parse(context.root, gid)
        if other is not None and _is_left(other, mine):
            # another task may be ending it just now
            with contextlib.suppress(psycopg.errors.ObjectNotInPrerequisiteState):
                server.rollback_prepared(connection, gid)


def _is_left(other: names.TransactionName, mine: names.TransactionName) -> bool:
    if other.epoch != mine.epoch:
        return other.epoch < mine.epoch
    same = (other.batch_id, other.partition) == (mine.batch_id, mine.partition)
    return same and other.attempt < mine.attempt


def _batch_of(root: str, gid: str) -> int:
    parsed = names.parse(root, gid)
    assert parsed is not None
    return parsed.batch_id


def _plain(value: Any) -> Any:
    """As psycopg knows it."""
    if isinstance(value, Instant):
        return datetime.fromtimestamp(value.seconds, UTC) + timedelta(
            microseconds=value.nanos // 1000
        )
    return Jsonb(value) if isinstance(value, dict) else value
