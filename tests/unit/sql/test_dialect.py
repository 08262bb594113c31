"""Flink's queries in Spark's words."""

from __future__ import annotations

import re

import pytest

from headrace.sql import dialect
from headrace.sql.errors import SqlError
from headrace.sql.tokens import read


def spark(text: str) -> str:
    return dialect.query(read(text)).text


def test_windows_become_a_column_that_is_grouped_by() -> None:
    found = dialect.query(
        read(
            "SELECT window_start, w.window_end, k, SUM(x) FROM TABLE(TUMBLE(TABLE t, "
            "DESCRIPTOR(ts), INTERVAL '10' MINUTES)) w GROUP BY window_start, w.window_end, k"
        )
    )
    assert found.text == (
        "SELECT __window.start AS window_start, w.__window.end AS window_end, k, SUM(x) FROM "
        "(SELECT *, WINDOW(`ts`, '600000 milliseconds') AS __window FROM t) AS w "
        "GROUP BY k, __window"
    )
    assert found.tables == ["t"]
    assert not found.updating


def test_of_hop_the_size_comes_first_in_spark() -> None:
    text = (
        "SELECT * FROM HOP(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), "
        "SLIDE => INTERVAL '5' MINUTES, SIZE => INTERVAL '10' MINUTES)"
    )
    assert "WINDOW(`ts`, '600000 milliseconds', '300000 milliseconds')" in spark(text)
    assert "__window.start AS window_start" in spark(text)


def test_older_group_windows() -> None:
    found = dialect.query(
        read(
            "SELECT k, HOP_START(ts, INTERVAL '1' HOUR, INTERVAL '2' HOUR) FROM t "
            "GROUP BY k, HOP(ts, INTERVAL '1' HOUR, INTERVAL '2' HOUR)"
        )
    )
    window = "WINDOW(ts, '7200000 milliseconds', '3600000 milliseconds')"
    assert found.text == f"SELECT k, {window}.start FROM t GROUP BY k, {window}"
    assert not found.updating


@pytest.mark.parametrize(
    ("flink", "in_spark"),
    [
        ("arr[1]", "TRY_ELEMENT_AT(arr, 1)"),
        ("MAP['a', 1]", "MAP('a', 1)"),
        ("CAST(a AS TIMESTAMP_LTZ(3))", "CAST(a AS TIMESTAMP)"),
        ("TRY_CAST(a AS ROW<x INT>)", "TRY_CAST(a AS STRUCT<`x`: INT>)"),
        ("a AS bytes", "a AS bytes"),
        ("FLOOR(ts TO HOUR)", "DATE_TRUNC('HOUR', ts)"),
        ("SPLIT_INDEX(a, '|', 1)", "GET(SPLIT(a, CONCAT('\\\\Q', '|', '\\\\E')), 1)"),
        ("TO_TIMESTAMP_LTZ(x, 3)", "TIMESTAMP_MILLIS(x)"),
        ("JSON_VALUE(j, '$.a')", "GET_JSON_OBJECT(j, '$.a')"),
        ("'it''s'", "'it\\'s'"),
        ("CAST(a AS VARCHAR(3))", "LEFT(CAST(a AS STRING), 3)"),
        (
            "SPLIT_INDEX(arr[1], SHA256(b), 0)",
            "GET(SPLIT(TRY_ELEMENT_AT(arr, 1), CONCAT('\\\\Q', SHA2(b, 256), '\\\\E')), 0)",
        ),
        ("a IS DISTINCT FROM b", "a IS DISTINCT FROM b"),
    ],
)
def test_expressions(flink: str, in_spark: str) -> None:
    assert spark(f"SELECT {flink} FROM t") == f"SELECT {in_spark} FROM t"


@pytest.mark.parametrize(
    ("text", "updating"),
    [
        ("SELECT a FROM t", False),
        ("SELECT a, COUNT(*) FROM t GROUP BY a", True),
        ("SELECT MAX(a) FROM t", True),
        ("SELECT DISTINCT a FROM t", True),
        ("SELECT COUNT(*) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)", False),
        ("SELECT k FROM (SELECT k, COUNT(*) FROM t GROUP BY k) x", True),
    ],
)
def test_aggregates_without_a_window_change(text: str, updating: bool) -> None:
    assert dialect.query(read(text)).updating is updating


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT a FROM", "cannot be read"),
        ("SELECT (a FROM t", "cannot be read"),
        ("SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) FROM t", "OVER is not known"),
        ("SELECT * FROM o JOIN p FOR SYSTEM_TIME AS OF o.ts ON o.id = p.id", "temporal joins"),
        (
            "SELECT * FROM TABLE(CUMULATE(TABLE t, DESCRIPTOR(a), INTERVAL '1' HOUR, "
            "INTERVAL '2' HOUR))",
            "CUMULATE windows",
        ),
        ("SELECT * FROM TABLE(TUMBLE(TABLE t, INTERVAL '1' HOUR))", "TUMBLE takes a table"),
        ("SELECT * FROM TUMBLE(TABLE t, a, INTERVAL '1' HOUR)", "DESCRIPTOR"),
        ("SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(a), INTERVAL '1' MONTH)", "is no interval here"),
        ("SELECT w.* FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(a), INTERVAL '1' HOUR)) w", "w.* of a"),
        ("SELECT * FROM SESSION(TABLE t, DESCRIPTOR(a), INTERVAL '1' HOUR)", "SESSION are grouped"),
        (
            "SELECT k FROM SESSION(TABLE t, DESCRIPTOR(a), INTERVAL '1' HOUR) "
            "GROUP BY window_start, window_end, k",
            "SESSION is partitioned by nothing and grouped by k",
        ),
        ("SELECT x FROM t CROSS JOIN UNNEST(a) WITH ORDINALITY AS u (x, n)", "ORDINALITY"),
        ("SELECT x FROM t LEFT JOIN UNNEST(a) AS u (x) ON x > 1", "is ON TRUE"),
        ("SELECT a FROM t /*+ OPTIONS('x'='y') */", "hints"),
        (
            "SELECT 1 FROM TABLE(\nTUMBLE(TABLE t,\nDESCRIPTOR(a), INTERVAL '1' HOUR))\nWHERE a =",
            "line 4: ",
        ),
        ("SELECT " + "(" * 3000 + "1" + ")" * 3000, "nested too deeply"),
        ("SELECT 1 FROM t GROUP BY TUMBLE(a, 5)", "a window's size is an INTERVAL"),
        ("SELECT SPLIT_INDEX(a) FROM t", "another number of arguments"),
    ],
)
def test_what_has_no_like_is_refused(text: str, message: str) -> None:
    with pytest.raises(SqlError, match=re.escape(message)):
        spark(text)


def test_a_cte_may_be_called_like_the_table_it_reads() -> None:
    found = dialect.query(
        read("WITH o AS (SELECT * FROM db.o), p AS (SELECT * FROM o) SELECT * FROM p JOIN q ON 1=1")
    )
    assert found.tables == ["o", "q"]
    assert "FROM db.o" not in found.text


def test_an_aggregate_of_a_cte_is_its_own() -> None:
    windowed = (
        "WITH w AS (SELECT COUNT(*) c FROM TUMBLE(TABLE t, DESCRIPTOR(a), INTERVAL '1' HOUR) "
        "GROUP BY window_start, window_end) SELECT c FROM w WHERE c > 1"
    )
    found = dialect.query(read(windowed))
    assert (found.updating, found.filtered, found.stateful) == (False, False, True)
    found = dialect.query(read("SELECT k FROM v WHERE c > 1"), {"v"})
    assert (found.updating, found.filtered, found.stateful) == (True, True, False)
