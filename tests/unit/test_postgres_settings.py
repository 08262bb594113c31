"""Statements and addresses of the PostgreSQL sink, without a server."""

from __future__ import annotations

import pickle

import pytest

from headrace.common import Types
from headrace.connectors.postgres.settings import PostgresSettings
from headrace.connectors.postgres.statement import Statement
from headrace.connectors.twophase.errors import InvalidSettings
from headrace.datastream.connectors.jdbc import (
    JdbcConnectionOptions,
    JdbcExactlyOnceOptions,
    JdbcExecutionOptions,
    JdbcSink,
)

ROW = Types.ROW([Types.INT(), Types.STRING()])


@pytest.mark.parametrize(
    ("sql", "copy"),
    [
        ("INSERT INTO t VALUES (?, ?)", "COPY t FROM STDIN"),
        ('insert into s."T x" ( a, "b" ) values (?,?);', 'COPY s."T x" (a, "b") FROM STDIN'),
        ("INSERT INTO t (a, b) VALUES (?, ?) ON CONFLICT DO NOTHING", None),
        ("INSERT INTO t (a, b) VALUES (?, now())", None),
        ("UPDATE t SET a = ? WHERE b = ?", None),
    ],
)
def test_plain_inserts_are_copied(sql: str, copy: str | None) -> None:
    assert Statement.parse(sql).copy == copy


def test_question_marks_in_text_are_no_parameters() -> None:
    sql = """UPDATE t SET a = ?, b = 'why? it''s', "c?" = $x$?$x$ -- ?
    WHERE d LIKE '5%' AND e = ? /* ? */ AND f % 2 = 0"""
    statement = Statement.parse(sql)
    assert statement.parameters == 2
    assert (
        statement.sql
        == """UPDATE t SET a = %s, b = 'why? it''s', "c?" = $x$?$x$ -- ?
    WHERE d LIKE '5%%' AND e = %s /* ? */ AND f %% 2 = 0"""
    )
    with pytest.raises(InvalidSettings, match=r"has no \?"):
        Statement.parse("DELETE FROM t")


def test_an_address_is_read() -> None:
    settings = PostgresSettings.from_url(
        "jdbc:postgresql://db.example:6432/shop?sslmode=require&currentSchema=sales", "ada", "pw"
    )
    assert settings.address == "db.example:6432/shop"
    arguments = settings.connect_arguments()
    assert arguments["sslmode"] == "require"
    assert arguments["options"] == "-c search_path=sales"
    assert (arguments["user"], arguments["password"]) == ("ada", "pw")
    assert PostgresSettings.from_url("postgresql://u:p%40ss@h/d").password == "p@ss"
    assert PostgresSettings.from_url("jdbc:postgresql://h/d?user=u&password=p").user == "u"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("jdbc:mysql://h/d?password=hush", "only PostgreSQL"),
        ("jdbc:postgresql://h?password=hush", "the URL of a database is"),
        ("jdbc:postgresql://u:hush@h:port/d", "the port in 'h:port'"),
        ("jdbc:postgresql://h/d?password=hush&loginTimeout=3", "URL parameter 'loginTimeout'"),
    ],
)
def test_an_address_that_is_none_is_said_without_its_password(url: str, said: str) -> None:
    with pytest.raises(InvalidSettings, match=said) as caught:
        PostgresSettings.from_url(url)
    assert "hush" not in str(caught.value)


def test_the_password_is_not_shown() -> None:
    options = (
        JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
        .with_url("jdbc:postgresql://h/d")
        .with_driver_name("org.postgresql.Driver")
        .with_user_name("ada")
        .with_password("hush")
        .build()
    )
    sink = JdbcSink.exactly_once_sink("INSERT INTO t VALUES (?, ?)", ROW, options)
    for each in (options, sink, options.settings()):
        assert "hush" not in repr(each)
        assert "hush" not in str(each)
    again = pickle.loads(pickle.dumps(sink))
    assert again.described == "postgresql:d"


def test_options_as_in_flink() -> None:
    execution = (
        JdbcExecutionOptions.builder()
        .with_batch_interval_ms(200)
        .with_batch_size(10)
        .with_max_retries(5)
        .build()
    )
    assert (execution.get_batch_size(), execution.get_max_retries()) == (10, 5)
    once = (
        JdbcExactlyOnceOptions.builder()
        .with_timeout_sec(7)
        .with_transactional_id_prefix("job")
        .build()
    )
    options = JdbcConnectionOptions("jdbc:postgresql://h/d")
    sql = "INSERT INTO t VALUES (?, ?)"
    sink = JdbcSink.exactly_once_sink(sql, ROW, options, execution, once)
    assert (sink.commit_timeout_seconds, sink.transactional_id_prefix) == (7.0, "job")
    assert sink.transactional
    assert not JdbcSink.sink(sql, ROW, options, execution).transactional
    with pytest.raises(TypeError, match=r"Types\.ROW"):
        JdbcSink.sink(sql, Types.INT(), options)
    with pytest.raises(ValueError, match="PostgreSQL only"):
        JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_driver_name("com.mysql.Driver")
