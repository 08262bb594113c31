"""A script's graph, without Spark."""

from __future__ import annotations

import pytest

from headrace.runtime import sql_program
from headrace.sql import secrets, statements
from headrace.sql.errors import SqlError
from headrace.sql.statements import CreateTable
from jobs import masking

TABLES = """
CREATE TABLE orders (id INT) WITH ('connector' = 'kafka', 'topic' = 'orders', 'format' = 'json');
CREATE TABLE big (id INT) WITH ('connector' = 'filesystem', 'path' = '/out', 'format' = 'json');
CREATE VIEW seen AS SELECT id FROM orders;
"""


def test_each_insert_is_a_query_with_its_sources_and_sink() -> None:
    plan = sql_program.plan(TABLES + "INSERT INTO big SELECT id FROM seen WHERE id > 5", 3)
    assert [node["contents"] for node in plan["nodes"]] == [
        "Source: kafka:orders",
        "Query: big",
        "Sink: filesystem:/out",
    ]
    assert {node["parallelism"] for node in plan["nodes"]} == {3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no INSERT INTO"),
        ("INSERT INTO nowhere SELECT 1", "there is no table nowhere"),
        ("INSERT INTO big SELECT id FROM nowhere", "there is no table nowhere"),
    ],
)
def test_names_that_nobody_created(text: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        sql_program.plan(TABLES + text, 1)


JAAS = (
    "CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'json', "
    "'properties.sasl.jaas.config' = '{}')"
)


def test_secrets_are_named_and_given_where_the_job_runs() -> None:
    [statement] = statements.parse(JAAS.format('username="a" password="${KAFKA}";'))
    assert isinstance(statement, CreateTable)
    given = secrets.given(statement.table, {"HEADRACE_SECRET_KAFKA": "it's"})
    assert given.options["properties.sasl.jaas.config"] == 'username="a" password="it\'s";'
    with pytest.raises(SqlError, match=r"headrace\.secrets: KAFKA"):
        secrets.given(statement.table, {})


def test_a_script_is_shown_without_its_secrets() -> None:
    shown = masking.in_sql(JAAS.format("it''s a\npassword") + ";SET 'x.token' = 'abc'")
    assert shown == JAAS.format(masking.MASK) + f";SET 'x.token' = '{masking.MASK}'"
    named = JAAS.format("${KAFKA}")
    assert masking.in_sql(named) == named
