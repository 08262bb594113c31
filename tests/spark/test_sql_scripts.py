"""SQL scripts on Spark: windows, joins, times, formats, and what is refused before it starts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from headrace.runtime import context as run_context
from headrace.runtime import sql_program
from headrace.sql import formats, statements
from headrace.sql.errors import SqlError
from headrace.wire import events
from headrace.wire.spec import JobSpec

ROWS = [
    {"k": "a", "n": 7, "at": "2020-01-01 00:00:01"},
    {"k": "b", "n": 3, "at": "2020-01-01 00:00:59.5"},
    {"k": "a", "n": 1, "at": "2020-01-01T00:00:31Z"},
    {"k": "z", "n": 1, "at": "2020-01-01T00:13:00Z"},  # moves time on
]
BATCH = "SET 'execution.runtime-mode' = 'batch';"
CLICKS = """
CREATE TABLE clicks (k STRING, n INT, at TIMESTAMP(3), half AS n / 2,
    WATERMARK FOR at AS at - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{path}/in', 'format' = 'json',
      'source.monitor-interval' = '1 s');
"""


class Events:
    """Takes what a driver would report."""

    def __init__(self) -> None:
        self.found: list[events.Event] = []

    def report(self, event: events.Event) -> None:
        self.found.append(event)


MINUTES = (
    "CREATE VIEW minutes AS SELECT window_time AS rt, k, SUM(n) AS s "
    "FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(at), INTERVAL '1' MINUTE)) "
    "GROUP BY window_start, window_end, window_time, k;"
)
COARSER = (
    "INSERT INTO coarser SELECT MAX(rt), window_end, k, SUM(s), COUNT(*) "
    "FROM TABLE(TUMBLE(TABLE minutes, DESCRIPTOR(rt), INTERVAL '10' MINUTE)) "
    "GROUP BY window_start, window_end, k;"
)


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
    script = BATCH + clicks
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
    script += sink("coarser", columns, tmp_path) + MINUTES + COARSER
    run(spark, script, tmp_path)

    def shown(name: str) -> set[tuple[str, str, int, int]]:
        rows = output(tmp_path / name)
        return {(row["s"][11:19], row["k"], row["n"], row["h"]) for row in rows}

    # whole numbers are divided to whole numbers: 7 / 2 + 1 / 2 = 3
    last = ("00:13:00", "z", 1, 0)  # what there is ends, and so do all windows
    assert shown("tumble") == {("00:00:00", "a", 8, 3), ("00:00:00", "b", 3, 1), last}
    assert shown("older") == shown("tumble")
    assert shown("hop") == {
        ("23:59:30", "a", 7, 3),
        ("00:00:00", "a", 8, 3),
        ("00:00:00", "b", 3, 1),
        ("00:00:30", "a", 1, 0),
        ("00:00:30", "b", 3, 1),
        ("00:12:30", "z", 1, 0),
        last,
    }
    assert shown("session_") == {("00:00:01", "a", 8, 3), ("00:00:59", "b", 3, 1), last}
    coarser = output(tmp_path / "coarser")
    assert {(row["s"][11:], row["k"], row["n"]) for row in coarser} == {
        ("00:00:59.999", "a", 8),
        ("00:00:59.999", "b", 3),
        ("00:13:59.999", "z", 1),
    }
    assert output(tmp_path / "tumble")[0]["s"] == "2020-01-01 00:00:00"


def test_windows_of_windows_are_streamed(spark: SparkSession, clicks: str, tmp_path: Path) -> None:
    columns = "s TIMESTAMP(3), e TIMESTAMP(3), k STRING, n BIGINT, c BIGINT"
    script = clicks + sink("coarser", columns, tmp_path) + MINUTES + COARSER
    session = spark.newSession()
    [(prepared, _)] = sql_program._prepared(statements.parse(script), session, {})
    assert prepared.is_stream
    assert not prepared.changing


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
        (
            "CREATE TABLE p (k STRING) WITH ('connector' = 'print'); INSERT INTO p SELECT k FROM "
            "clicks GROUP BY k HAVING COUNT(*) < 5",
            "could not be taken back",
        ),
        (
            "INSERT INTO out SELECT k, COUNT(DISTINCT n) FROM clicks "
            "GROUP BY TUMBLE(at, INTERVAL '1' HOUR), k",
            "(?i)distinct",
        ),
        (
            "SET 'table.local-time-zone' = 'Europe/Berlin'; INSERT INTO out SELECT k, COUNT(*) "
            "FROM clicks GROUP BY TUMBLE(at, INTERVAL '1' DAY), k",
            "midnight in Europe/Berlin",
        ),
        ("SET 'table.local-time-zone' = 'Mars'", "SET 'table.local-time-zone' = 'Mars'"),
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
        ("CREATE VIEW clicks AS SELECT 1 AS a", "clicks exists already"),
        (
            "CREATE TABLE x (a INT) WITH ('connector' = 'filesystem', 'format' = 'csv', "
            "'path' = '/no/such/folder'); INSERT INTO out SELECT 'x', a FROM x",
            "table x: .PATH_NOT_FOUND",
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


#: What Spark by itself would answer otherwise, or with another type.
DIFFERENT = {
    "7 / 2": "3",
    "7 / 2 / 2": "1",
    "7 / 2 * 1.0": "3.0",
    "-7 / 2": "-3",
    "CAST(9007199254740993 AS BIGINT) / 1": "9007199254740993",
    "CAST(7 AS DOUBLE) / 2": "3.5",
    "CAST(1 AS DECIMAL(4, 2)) / 3": "0.3333333333333",
    "CAST(b AS STRING)": "TRUE",
    "CAST(at AS STRING)": "2020-01-01 00:00:01.000",
    "CAST('abcdef' AS VARCHAR(3))": "abc",
    "CAST('a' AS CHAR(3)) || '|'": "a  |",
    "GREATEST(1, CAST(NULL AS INT))": "null",
    "LEAST(2, 1)": "1",
    "REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)')": "foothebar",
    "REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 2)": "bar",
    "REGEXP_EXTRACT('x', 'y')": "null",
    "STR_TO_MAP('a=1,b=2')['b']": "2",
    "TRUNCATE(42.345, 2)": "42.34",
    "TRUNCATE(-42.345, 1)": "-42.3",
    "SPLIT_INDEX(FROM_BASE64(TO_BASE64('a.b')), '.', 1)": "b",
    "ARRAY['x', 'y'][7 / 4]": "x",
    "'it''s \\n'": "it's \\n",
    "TIMESTAMPDIFF(HOUR, at, at + INTERVAL '90' MINUTE)": "1",
    "(SELECT SUM(x / 2) FROM (VALUES (3), (5)) AS v (x))": "3",
}


def test_functions_mean_what_they_mean_in_flink(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = (
        "\ufeffCREATE TABLE rows_ (n INT, d DECIMAL(6, 2), b BOOLEAN, at TIMESTAMP(3)) WITH "
        f"('connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/in');"
        "CREATE TABLE shown (v STRING) WITH ('connector' = 'print', 'print-identifier' = 'P');"
        "CREATE VIEW halves AS WITH rows_ AS (SELECT n / 2 AS h, n, d, b FROM db.rows_) "
        "SELECT AVG(n) AS n, AVG(d) AS d, SUM(h) AS h FROM rows_ GROUP BY b;"
        "INSERT INTO shown SELECT CONCAT_WS(' ', CAST(n AS STRING), CAST(d AS STRING), "
        "CAST(h / 3 AS STRING)) FROM halves;"
        "INSERT INTO shown SELECT v FROM (SELECT ARRAY["
        + ", ".join(f"'' || ({each})" for each in DIFFERENT)
        + "] AS vs FROM rows_ WHERE n = 2) LEFT JOIN UNNEST(vs) AS u (v) ON TRUE;"
    )
    (tmp_path / "in").mkdir()
    row = {"n": 2, "d": 1.5, "b": True, "at": "2020-01-01 00:00:01"}
    text = "".join(f"{json.dumps({**row, 'n': n})}\n" for n in (2, 9))
    (tmp_path / "in" / "a.json").write_text(text)
    script_file = tmp_path / "x.sql"
    script_file.write_text(script)
    run(spark, sql_program.read(script_file), tmp_path)
    printed = [line for line in capfd.readouterr().out.splitlines() if line.startswith("P> ")]
    # AVG of 2 and 9; a decimal's with 6 digits; (1 + 4) / 3
    assert printed[0] == "P> +I[5 1.500000 1]"
    assert dict(zip(DIFFERENT, (line[6:-1] for line in printed[1:]), strict=True)) == DIFFERENT


def test_what_is_done_is_not_done_again(
    spark: SparkSession,
    clicks: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A job that starts again, and two INSERTs of which the second has a fault."""
    spec = JobSpec(
        job_id="0" * 32,
        name="x",
        attempt=1,
        entry="x.sql",
        arguments=[],
        parallelism=1,
        checkpoint_dir=str(tmp_path / "checkpoints"),
    )
    context = run_context.platform(spec, tmp_path / "run", Events())
    monkeypatch.setattr(run_context, "launched", lambda: context)
    script = BATCH + clicks + sink("out", "k STRING, n BIGINT", tmp_path)
    script += "INSERT INTO out SELECT k, COUNT(*) FROM clicks GROUP BY k"
    for _ in range(2):
        run(spark, script, tmp_path)
        assert sorted(row["n"] for row in output(tmp_path / "out")) == [1, 1, 2]
    assert isinstance(context.reporter, Events)
    assert [type(each) for each in context.reporter.found[:2]] == [events.Planned, events.Running]

    faulty = script + "; INSERT INTO out (k) SELECT 1, 2"
    faulty = faulty.replace("SELECT k, COUNT", "SELECT 'new', COUNT")
    with pytest.raises(SqlError, match="2 columns"):
        run(spark, faulty, tmp_path)
    assert "new" not in str(output(tmp_path / "out"))


def test_records_that_cannot_be_read(spark: SparkSession) -> None:
    table = "CREATE TABLE x (a INT, at TIMESTAMP(3), s STRING) WITH ('connector' = 'print')"
    [statement] = statements.parse(table)
    assert isinstance(statement, statements.CreateTable)
    columns = statement.table.columns

    def read(kind: str, lenient: bool, *records: str) -> list[tuple[Any, ...]]:
        form = formats.Format(kind, lenient=lenient)
        rows = spark.createDataFrame([(bytearray(each, "utf-8"),) for each in records], "v binary")
        whole, fields = formats.read(F.col("v"), form, columns, "r")
        frame = rows.select("*", whole).where(formats.readable(form, "r", "v")).select(*fields)
        return [(row.a, row.at is not None, row.s) for row in frame.collect()]

    partly = '{"a": "x", "at": "nope", "s": "kept"}'
    good = ' {"a": 1, "at": "2020-01-01 00:00:00"}'
    broken = ("no json", '{"a": 1', "", "[]", "5")
    # as in Flink, a field that does not fit is NULL and the rest of the record is there
    assert read("json", True, partly, good, *broken) == [(None, False, "kept"), (1, True, None)]
    assert read("csv", True, "1,2020-01-01 00:00:00,", "x,,y", "1") == [(1, True, "")]
    for each in (partly, "", "5"):
        with pytest.raises(Exception, match=r"MALFORMED|no JSON object|parse|CAST_INVALID"):
            read("json", False, each)
