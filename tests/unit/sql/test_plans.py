"""A script's graph, without Spark."""

from __future__ import annotations

import pytest

from headrace.runtime import sql_program
from headrace.sql.errors import SqlError

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
