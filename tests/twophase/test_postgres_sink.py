"""The PostgreSQL sink's hooks against a real server."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from headrace.common import Instant, Row
from headrace.connectors.postgres import server
from headrace.connectors.postgres.settings import PostgresSettings
from headrace.connectors.postgres.sink import PostgresSink
from headrace.connectors.twophase import errors, hooks, writer
from headrace.connectors.twophase.hooks import HookParticipant
from headrace.connectors.twophase.messages import Prepared, Resume, TaskIdentity, Written
from headrace.connectors.twophase.participant import Message, Outcome
from tests.twophase import postgresql
from tests.twophase.postgresql import PASSWORD, Server
from workers.embedded import ports


@pytest.fixture
def table(postgres: Server) -> str:
    name = f"out_{uuid.uuid4().hex[:8]}"
    postgres.execute(f"CREATE TABLE {name} (id int PRIMARY KEY, name text)")
    return name


@pytest.fixture
def root() -> str:
    return f"job-{uuid.uuid4().hex[:8]}-out"


def run(
    sink: PostgresSink,
    root: str,
    values: Sequence[Any],
    task: TaskIdentity | None = None,
    epoch: int = 1,
) -> Message | None:
    task = task or TaskIdentity(0, 0)
    opened = writer.open_writer(sink, "out", root, task, Resume(epoch=epoch))
    try:
        opened.write([(None, value) for value in values])
        return opened.prepare()
    except BaseException:
        opened.abort()
        raise


def checked(sink: PostgresSink, root: str) -> PostgresSink:
    HookParticipant(sink, "out", root).check()
    return sink


def rows(postgres: Server, table: str) -> list[tuple[object, ...]]:
    return postgres.query(f"SELECT * FROM {table} ORDER BY 1")


UPSERT = (
    "INSERT INTO {} (id, name) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name"
)


@pytest.mark.parametrize("statement", ["INSERT INTO {} VALUES (?, ?)", UPSERT])
def test_rows_are_seen_when_they_are_committed(
    postgres: Server, table: str, root: str, statement: str
) -> None:
    sink = checked(PostgresSink(postgres.settings, statement.format(table), batch_size=2), root)
    message = run(sink, root, [Row(1, "a"), (2, None), [3, "tab\there\\"]])
    assert isinstance(message, Prepared)
    assert rows(postgres, table) == []
    assert PASSWORD not in str(message)
    assert message.handle["gid"] in postgres.prepared()

    sink.commit(message.handle)
    sink.commit(message.handle)
    sink.abort(message.handle)

    assert rows(postgres, table) == [(1, "a"), (2, None), (3, "tab\there\\")]
    assert message.handle["gid"] not in postgres.prepared()


def test_values_of_many_kinds(postgres: Server, root: str) -> None:
    table = f"kinds_{root.split('-')[1]}"
    kinds = "a bigint, b numeric, c bytea, d timestamptz, e jsonb, f text[], g boolean, h real"
    postgres.execute(f"CREATE TABLE {table} ({kinds})")
    values = (1, Decimal("1.5"), b"\x00x", Instant(1, 5000), {"k": [1]}, ["x", None], True, 0.5)
    for statement in ("INSERT INTO {}", "INSERT INTO {} AS t"):
        sql = f"{statement.format(table)} VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        sink = checked(PostgresSink(postgres.settings, sql), root)
        message = run(sink, root, [values])
        assert isinstance(message, Prepared)
        sink.commit(message.handle)
        root += "x"
    at = datetime(1970, 1, 1, 0, 0, 1, 5, tzinfo=UTC)
    wanted = (1, Decimal("1.5"), b"\x00x", at, {"k": [1]}, ["x", None], True, 0.5)
    assert rows(postgres, table) == [wanted, wanted]


def test_what_is_rolled_back_is_lost_for_certain(postgres: Server, table: str, root: str) -> None:
    sink = checked(PostgresSink(postgres.settings, f"INSERT INTO {table} VALUES (?, ?)"), root)
    message = run(sink, root, [(1, "a")])
    assert isinstance(message, Prepared)
    [(name, listed)] = sink.list_transactions(root)
    assert name == message.handle["gid"]
    sink.recover_and_abort(listed)
    with pytest.raises(errors.TransactionLost):
        sink.commit(message.handle)
    assert rows(postgres, table) == []


def test_a_failed_task_leaves_nothing(postgres: Server, table: str, root: str) -> None:
    sink = checked(PostgresSink(postgres.settings, f"INSERT INTO {table} VALUES (?, ?)"), root)
    with pytest.raises(ValueError, match="3 values for 2 parameters"):
        run(sink, root, [(1, "a"), (2, "b", "c")])
    with pytest.raises(Exception, match="duplicate key"):
        run(sink, root, [(1, "a"), (1, "b")])
    assert list(sink.list_transactions(root)) == []
    assert isinstance(run(sink, root, [(1, "a")]), Prepared)
    [(_, listed)] = sink.list_transactions(root)
    sink.abort(listed)


@pytest.mark.parametrize(
    ("task", "epoch"),
    [
        (TaskIdentity(0, 0, attempt=9, retry=1), 1),
        (TaskIdentity(0, 0, attempt=9), 1),  # its whole stage is retried
        (TaskIdentity(3, 2, attempt=1), 2),  # of the next driver; the dead one prepared late
    ],
)
def test_a_task_does_not_wait_for_the_locks_of_a_dead_one(
    postgres: Server,
    table: str,
    root: str,
    task: TaskIdentity,
    epoch: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "LOCK_SECONDS", 1.0)
    sink = checked(PostgresSink(postgres.settings, UPSERT.format(table)), root)
    dead = run(sink, root, [(1, "dead")], TaskIdentity(0, 0, attempt=4))
    again = run(sink, root, [(1, "again")], task, epoch)
    assert isinstance(dead, Prepared)
    assert isinstance(again, Prepared)
    sink.commit(again.handle)
    assert rows(postgres, table) == [(1, "again")]
    assert list(sink.list_transactions(root)) == []


def test_a_task_that_waits_for_another_one_of_its_batch_fails(
    postgres: Server, table: str, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "LOCK_SECONDS", 1.0)
    sink = checked(PostgresSink(postgres.settings, UPSERT.format(table)), root)
    first = run(sink, root, [(1, "first")])
    with pytest.raises(errors.WriteFailed, match=r"lock timeout.* key_by"):
        run(sink, root, [(1, "second")], TaskIdentity(0, 1))
    assert isinstance(first, Prepared)
    assert [gid for gid, _ in sink.list_transactions(root)] == [first.handle["gid"]]
    sink.commit(first.handle)
    assert rows(postgres, table) == [(1, "first")]


def test_sessions_do_not_wait_for_ever_unless_somebody_said_so(postgres: Server) -> None:
    def shown(settings: PostgresSettings, name: str) -> object:
        with server.connected(settings, "test") as connection:
            [(value,)] = connection.execute(f"SHOW {name}".encode()).fetchall()
            return value

    assert shown(postgres.settings, "lock_timeout") == "1min"
    assert shown(postgres.settings, "tcp_keepalives_idle") == "30"
    own = replace(postgres.settings, options={"options": "-c lock_timeout=7s"})
    assert shown(own, "lock_timeout") == "7s"


def test_marks_of_an_earlier_life_are_not_taken_for_its_own(
    postgres: Server, table: str, root: str
) -> None:
    sink = checked(PostgresSink(postgres.settings, f"INSERT INTO {table} VALUES (?, ?)"), root)
    before = run(sink, root, [(1, "before")])
    assert isinstance(before, Prepared)
    sink.commit(before.handle)
    again = run(sink, root, [(2, "again")])
    assert isinstance(again, Prepared)
    sink.abort(again.handle)
    with pytest.raises(errors.TransactionLost):
        sink.commit(again.handle)


def test_markers_of_earlier_batches_are_forgotten(postgres: Server, table: str, root: str) -> None:
    sink = checked(PostgresSink(postgres.settings, f"INSERT INTO {table} VALUES (?, ?)"), root)
    for batch in range(3):
        message = run(sink, root, [(batch, "")], TaskIdentity(batch, 0))
        assert isinstance(message, Prepared)
        sink.commit(message.handle)
    left = postgres.query(f"SELECT batch_id FROM {server.MARKERS} WHERE root = '{root}'")
    assert left == [(2,)]


def test_a_connection_that_broke_between_batches_is_made_anew(
    postgres: Server, table: str, root: str
) -> None:
    sink = checked(PostgresSink(postgres.settings, f"INSERT INTO {table} VALUES (?, ?)"), root)
    first = run(sink, root, [(1, "a")])
    postgres.query(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        " AND application_name = 'headrace' AND usename = current_user"
    )
    second = run(sink, root, [(2, "b")], TaskIdentity(1, 0))
    participant = HookParticipant(sink, "out", root)
    for each in (first, second):
        assert isinstance(each, Prepared)
        participant.commit([each], hooks.Deadline.after(30), recovering=False)
    assert rows(postgres, table) == [(1, "a"), (2, "b")]


def test_a_server_that_is_killed_between_prepare_and_commit() -> None:
    with postgresql.instance("max_prepared_transactions=5") as made:
        made.server.execute("CREATE TABLE t (id int)")
        sink = checked(PostgresSink(made.server.settings, "INSERT INTO t VALUES (?)"), "job-out")
        message = run(sink, "job-out", [1, 2])
        assert isinstance(message, Prepared)
        made.kill()
        with ThreadPoolExecutor(1) as pool:
            participant = HookParticipant(sink, "out", "job-out")
            commit = pool.submit(
                participant.commit, [message], hooks.Deadline.after(120), recovering=False
            )
            made.start()
            assert commit.result() == {message: Outcome.COMMITTED}
        assert made.server.query("SELECT id FROM t ORDER BY 1") == [(1,), (2,)]
        assert made.server.prepared() == []
        server.close_all()


def test_at_least_once_is_seen_with_its_task(postgres: Server, table: str, root: str) -> None:
    sink = PostgresSink(postgres.settings, f"INSERT INTO {table} VALUES (?, ?)", exactly_once=False)
    assert run(checked(sink, root), root, [(1, "a")]) == Written("out", 0, 1)
    assert rows(postgres, table) == [(1, "a")]


def test_a_server_without_prepared_transactions_is_refused() -> None:
    with postgresql.running() as plain:
        sink = PostgresSink(plain.settings, "INSERT INTO t VALUES (?)")
        with pytest.raises(errors.InvalidSettings, match="max_prepared_transactions = 0") as caught:
            checked(sink, "job-out")
        assert "ALTER SYSTEM SET max_prepared_transactions" in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"password": "not-" + PASSWORD}, "password authentication failed"),
        ({"database": "nowhere"}, '"nowhere" does not exist'),
    ],
)
def test_what_the_server_will_never_let_in_is_said_at_once_and_no_password_shown(
    postgres: Server, wrong: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hooks, "CHECK_SECONDS", 300.0)
    sink = PostgresSink(replace(postgres.settings, **wrong), "INSERT INTO t VALUES (?)")
    with pytest.raises(errors.InvalidSettings, match=said) as caught:
        checked(sink, "job-out")
    assert PASSWORD not in str(caught.value)


def test_a_server_that_is_away(monkeypatch: pytest.MonkeyPatch, postgres: Server) -> None:
    monkeypatch.setattr(hooks, "CHECK_SECONDS", 0.2)
    nowhere = replace(postgres.settings, port=ports.free())
    with pytest.raises(errors.Unreachable, match="does not answer"):
        checked(PostgresSink(nowhere, "INSERT INTO t VALUES (?)"), "job-out")
