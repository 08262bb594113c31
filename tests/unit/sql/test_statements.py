"""Scripts are cut and read; what is wrong is said with its line."""

from __future__ import annotations

import pytest

from headrace.sql import statements
from headrace.sql.errors import SqlError
from headrace.sql.statements import CreateTable, CreateView, Drop, Insert, Set
from headrace.sql.tables import Table, Watermark


def table(text: str) -> Table:
    [found] = statements.parse(text)
    assert isinstance(found, CreateTable)
    return found.table


def test_comments_and_semicolons_within_text_do_not_cut() -> None:
    found = statements.parse("-- a; b\nSET 'a' = 'x;y'; /* c; d */ RESET 'a';\n;SET b.c = 5")
    assert found == [Set("a", "x;y"), Set("a", None), Set("b.c", "5")]


def test_a_table_has_columns_of_all_kinds() -> None:
    clicks = table(
        """
        CREATE TEMPORARY TABLE IF NOT EXISTS cat.db.`clicks` (
          `user` STRING NOT NULL COMMENT 'who; it was', amount DECIMAL(10, 2),
          at TIMESTAMP(3), inner_row ROW<a INT, b ARRAY<ROW<c STRING NOT NULL>>>,
          m MAP<STRING, BIGINT>, half AS amount / 2,
          part INT METADATA FROM 'partition' VIRTUAL, `timestamp` TIMESTAMP_LTZ(3) METADATA,
          WATERMARK FOR at AS at - INTERVAL '5' SECOND,
          PRIMARY KEY (`user`) NOT ENFORCED
        ) COMMENT 'x' PARTITIONED BY (amount) WITH ('connector' = 'kafka', 'topic' = 'it''s')
        """
    )
    assert clicks.name == "clicks"
    assert [(each.name, each.kind, each.metadata, each.virtual) for each in clicks.columns] == [
        ("user", "STRING", "", False),
        ("amount", "DECIMAL(10, 2)", "", False),
        ("at", "TIMESTAMP", "", False),
        ("inner_row", "STRUCT<`a`: INT, `b`: ARRAY<STRUCT<`c`: STRING>>>", "", False),
        ("m", "MAP<STRING, BIGINT>", "", False),
        ("half", "", "", False),
        ("part", "INT", "partition", True),
        ("timestamp", "TIMESTAMP", "timestamp", False),
    ]
    assert clicks.columns[0].not_null
    assert clicks.watermark == Watermark("at", 5.0)
    assert clicks.primary_key == ["user"]
    assert clicks.partitioned_by == ["amount"]
    assert clicks.options == {"connector": "kafka", "topic": "it's"}


def test_what_is_less_than_and_arrays_do_not_hide_columns() -> None:
    found = table(
        "CREATE TABLE t (a INT, few AS a < 5, both AS ARRAY[a, a + 1], m MAP<INT, ARRAY<INT>>, "
        "more AS a > 5, b INT) WITH ('connector' = 'print')"
    )
    assert [each.name for each in found.columns] == ["a", "few", "both", "m", "more", "b"]


def test_views_inserts_and_drops() -> None:
    found = statements.parse(
        "CREATE VIEW v (a, b) AS SELECT 1, 2; INSERT INTO db.t (x, y) SELECT a, b FROM v;"
        "INSERT OVERWRITE t VALUES (1, 2); DROP VIEW IF EXISTS v"
    )
    view, into, overwrite, drop = found
    assert isinstance(view, CreateView)
    assert (view.name, view.columns, view.query.source()) == ("v", ["a", "b"], "SELECT 1, 2")
    assert isinstance(into, Insert)
    assert (into.table, into.columns, into.query.source()) == (
        "t",
        ["x", "y"],
        "SELECT a, b FROM v",
    )
    assert isinstance(overwrite, Insert)
    assert overwrite.overwrite
    assert drop == Drop("VIEW", "v", True)


@pytest.mark.parametrize(
    "text", ["EXECUTE STATEMENT SET BEGIN {}; {}; END", "BEGIN STATEMENT SET; {}; {}; END;"]
)
def test_statements_of_a_set_stand_alone(text: str) -> None:
    found = statements.parse(text.format("INSERT INTO a SELECT 1", "INSERT INTO b SELECT 2"))
    assert [each.table for each in found if isinstance(each, Insert)] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n\nSELECT 1", "line 3: SELECT is not run here"),
        ("FOO BAR", "no statement of SQL begins with 'FOO'"),
        ("CREATE FUNCTION f AS 'x'", "CREATE FUNCTION is not run here"),
        ("CREATE TABLE t (a INT)", "no 'connector'"),
        ("CREATE TABLE t (a INT, a INT) WITH ('connector'='print')", "has a twice"),
        ("CREATE TABLE t (a MULTISET<INT>) WITH ('connector'='print')", "no type of a column"),
        ("CREATE TABLE t (a) WITH ('connector'='print')", "a column has no type"),
        (
            "CREATE TABLE t (a INT, PRIMARY KEY (b) NOT ENFORCED) WITH ('connector'='x')",
            "no column b",
        ),
        (
            "CREATE TABLE t (a TIMESTAMP(3), WATERMARK FOR a AS f(a)) WITH ('connector'='x')",
            "a watermark is its column",
        ),
        ("CREATE TABLE t (a INT) WITH (connector = 'x')", "options are 'key' = 'value'"),
        ("CREATE TABLE t (a INT WITH ('connector'='x')", "a parenthesis is not closed"),
        ("CREATE TABLE t LIKE u", "LIKE is not known"),
        ("INSERT INTO t", "has no query"),
        ("INSERT t SELECT 1", "INSERT goes INTO"),
        ("BEGIN STATEMENT SET; SET 'a'='b'; END", "holds INSERT INTO statements only"),
        ("BEGIN STATEMENT SET; INSERT INTO t SELECT 1", "has no END"),
        ("SET 'a'", "SET takes a key and a value"),
        ("SET 'a = 'b'", "cannot be read as SQL"),
        ("CREATE", "CREATE what?"),
        ("DROP", "DROP is for"),
        ("CREATE TABLE", "name of a table is missing"),
        ("INSERT INTO", "name of a table is missing"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(SqlError, match=message.replace("?", r"\?").replace("(", r"\(")):
        statements.parse(text)
