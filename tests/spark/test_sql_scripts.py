"""SQL scripts on Spark: windows, joins, times, formats, and what is refused before it starts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace.runtime import sql_program
from headrace.sql.errors import SqlError

ROWS = [
    {"k": "a", "n": 7, "at": "2020-01-01 00:00:01"},
    {"k": "b", "n": 3, "at": "2020-01-01 00:00:59.5"},
    {"k": "a", "n": 1, "at": "2020-01-01T00:00:31Z"},
    {"k": "z", "n": 1, "at": "2020-01-01T00:13:00Z"},  # moves time on
]
CLICKS = """
SET 'execution.runtime-mode' = 'batch';
CREATE TABLE clicks (k STRING, n INT, at TIMESTAMP(3), half AS n / 2,
    WATERMARK FOR at AS at - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{path}/in', 'format' = 'json',
      'source.monitor-interval' = '1 s');
"""


@pytest.fixture
def clicks(tmp_path: Path) -> str:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    return CLICKS.format(path=tmp_path)


def run(spark: SparkSession, script: str, folder: Path) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.streaming.checkpointLocation", str(folder / "checkpoints"))
    sql_program.run(script, {}, session)


def output(folder: Path) -> list[dict[str, Any]]:
    """Rows of its JSON files, sorted."""
    lines = [line for path in folder.glob("*.json") for line in path.read_text().splitlines()]
    return sorted((json.loads(line) for line in lines), key=str)


def sink(name: str, columns: str, path: Path) -> str:
    return (
        f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', "
        f"'path' = '{path / name}', 'format' = 'json');"
    )


def test_windows_of_all_kinds(spark: SparkSession, clicks: str, tmp_path: Path) -> None:
    columns = "s TIMESTAMP(3), e TIMESTAMP(3), k STRING, n BIGINT, h BIGINT"
    windows = {
        "tumble": "TUMBLE(TABLE clicks, DESCRIPTOR(at), INTERVAL '1' MINUTE)",
        "hop": "HOP(TABLE clicks, DESCRIPTOR(at), INTERVAL '30' SECOND, INTERVAL '1' MINUTE)",
        "session_": "SESSION(TABLE clicks PARTITION BY k, DESCRIPTOR(at), INTERVAL '1' MINUTE)",
    }
    script = clicks
    for name, window in windows.items():
        script += sink(name, columns, tmp_path) + (
            f"INSERT INTO {name} SELECT window_start, window_end, k, SUM(n), SUM(half) "
            f"FROM TABLE({window}) WHERE k <> 'z' OR n > 0 GROUP BY window_start, window_end, k;"
        )
    script += sink("older", columns, tmp_path) + (
        "INSERT INTO older SELECT TUMBLE_START(at, INTERVAL '1' MINUTE), "
        "TUMBLE_END(at, INTERVAL '1' MINUTE), k, SUM(n), SUM(half) FROM clicks "
        "GROUP BY TUMBLE(at, INTERVAL '1' MINUTE), k;"
    )
    run(spark, script, tmp_path)

    def shown(name: str) -> set[tuple[str, str, int, int]]:
        rows = output(tmp_path / name)
        return {(row["s"][11:19], row["k"], row["n"], row["h"]) for row in rows}

    # whole numbers are divided to whole numbers: 7 / 2 + 1 / 2 = 3
    assert shown("tumble") == {("00:00:00", "a", 8, 3), ("00:00:00", "b", 3, 1)}
    assert shown("older") == shown("tumble")
    assert shown("hop") == {
        ("23:59:30", "a", 7, 3),
        ("00:00:00", "a", 8, 3),
        ("00:00:00", "b", 3, 1),
        ("00:00:30", "a", 1, 0),
        ("00:00:30", "b", 3, 1),
    }
    assert shown("session_") == {("00:00:01", "a", 8, 3), ("00:00:59", "b", 3, 1)}


def test_tables_that_end_are_joined_unnested_and_printed(
    spark: SparkSession, clicks: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = (
        clicks.replace(", 'source.monitor-interval' = '1 s'", "").replace(
            "'json',\n      'source.monitor-interval' = '1 s'", "'json'"
        )
        + """
        CREATE TABLE numbers (id INT, name STRING) WITH ('connector' = 'datagen',
          'number-of-rows' = '3', 'fields.id.kind' = 'sequence', 'fields.id.start' = '6',
          'fields.id.end' = '8', 'fields.name.length' = '4');
        CREATE TABLE shown (k STRING, id INT, part STRING) WITH ('connector' = 'print',
          'print-identifier' = 'P');
        CREATE VIEW parts AS SELECT k, n, ARRAY['x', 'y'] AS names FROM clicks;
        INSERT INTO shown SELECT k, id, name2 FROM parts JOIN numbers ON n = id
          CROSS JOIN UNNEST(names) AS u (name2);
        INSERT INTO shown (k) SELECT SPLIT_INDEX('p|q', '|', 1);
        """
    )
    run(spark, script, tmp_path)
    printed = [line for line in capfd.readouterr().out.splitlines() if line.startswith("P> ")]
    assert sorted(printed) == ["P> +I[a, 7, x]", "P> +I[a, 7, y]", "P> +I[q, null, null]"]


@pytest.mark.parametrize(
    ("insert", "message"),
    [
        ("INSERT INTO out SELECT k, COUNT(*) FROM clicks GROUP BY k", "change again and again"),
        ("INSERT INTO out SELECT k FROM clicks", r"the query has 1 columns \(k\), 2 are written"),
        ("INSERT INTO out SELECT missing, 1 FROM clicks", "missing"),
        ("INSERT INTO out (k, no) SELECT k, n FROM clicks", "has no column no"),
        ("INSERT INTO clicks SELECT k, n, at FROM nowhere", "there is no table nowhere"),
        (
            "INSERT INTO out SELECT k, n FROM clicks; INSERT INTO out SELECT k, n FROM clicks",
            "two INSERT statements write to",
        ),
        ("CREATE TABLE out (a INT) WITH ('connector' = 'print')", "exists already"),
        ("CREATE TABLE x (a INT) WITH ('connector' = 'jdbc')", "connector 'jdbc' is not known"),
        (
            "CREATE TABLE x (a INT) WITH ('connector' = 'datagen', 'rows' = '5'); "
            "INSERT INTO out SELECT a, 1 FROM x",
            "'rows': no option of connector 'datagen'",
        ),
        ("DROP TABLE nowhere", "there is no table nowhere"),
        ("SET 'execution.checkpointing.interval' = 'soon'", "is no duration"),
        (
            "CREATE TABLE x (a INT) WITH ('connector' = 'kafka', 'topic' = 't', "
            "'format' = 'json', 'sink.delivery-guarantee' = 'exactly-once'); "
            "INSERT INTO x SELECT n FROM clicks",
            "needs 'sink.transactional-id-prefix'",
        ),
        (
            "CREATE TABLE x (a INT) WITH ('connector' = 'kafka', 'topic' = 't', "
            "'properties.group.id' = 'g', 'format' = 'xml'); "
            "INSERT INTO out SELECT 'x', a FROM x",
            "'format' = 'xml' is not known",
        ),
        (
            "CREATE TABLE x (a INT) WITH ('connector' = 'kafka', 'topic' = 't', "
            "'format' = 'json'); INSERT INTO out SELECT 'x', a FROM x",
            "'properties.group.id'",
        ),
    ],
)
def test_nothing_begins_when_something_is_wrong(
    spark: SparkSession, clicks: str, tmp_path: Path, insert: str, message: str
) -> None:
    script = clicks + sink("out", "k STRING, n BIGINT", tmp_path) + insert
    if "INSERT" not in insert:
        script += "; INSERT INTO out SELECT k, n FROM clicks"
    with pytest.raises(SqlError, match=message):
        run(spark, script, tmp_path)
    assert not (tmp_path / "out").exists()
