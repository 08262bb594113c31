"""DataFrames as streams and streams as DataFrames, in one query or one job."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headrace.common import Duration, Row, Time, TimestampAssigner, Types, WatermarkStrategy
from headrace.datastream import (
    DataStream,
    KeyedProcessFunction,
    ProcessWindowFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from headrace.datastream.dataframes import DataFrameSource
from headrace.datastream.state import ValueStateDescriptor
from headrace.datastream.window import TumblingEventTimeWindows
from headrace.runtime import dataframe_rows, query_stop
from headrace.runtime.transformations import GraphError

COUNTED = Types.ROW_NAMED(["user", "n"], [Types.STRING(), Types.LONG()])


class Counting(KeyedProcessFunction):
    """The how manyth of its user each click is."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.LONG()))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterator[Row]:
        self.seen.update((self.seen.value() or 0) + 1)
        yield Row(user=value.user, n=self.seen.value())


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    env = StreamExecutionEnvironment.get_execution_environment()
    return env.set_parallelism(2).set_max_parallelism(4)


class Clicks:
    """A folder of JSON files, read as a stream."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.folder = folder / "clicks"
        self.folder.mkdir()
        schema = "user string, at timestamp"
        self.stream = spark.readStream.schema(schema).json(str(self.folder))

    def write(self, name: str, *users: str, second: int = 0) -> None:
        at = f"2026-01-31T12:00:{second:02d}Z"
        clicks = [{"user": user, "page": "/", "at": at} for user in users]
        lines = "".join(f"{json.dumps(click)}\n" for click in clicks)
        (self.folder / f"{name}.json").write_text(lines)


@pytest.fixture
def clicks(spark: SparkSession, tmp_path: Path) -> Clicks:
    return Clicks(spark, tmp_path)


def run(frame: DataFrame, folder: Path) -> list[tuple[Any, ...]]:
    """All rows that queries into this folder have written, this one included."""
    query = (
        frame.writeStream.format("parquet")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "out"))
    )
    query.awaitTermination()
    schema = frame.schema
    out = frame.sparkSession.read.schema(schema).parquet(str(folder / "out"))
    return sorted(tuple(row) for row in out.collect())


def test_native_code_operators_and_native_code_in_one_query(
    spark: SparkSession, env: StreamExecutionEnvironment, clicks: Clicks, tmp_path: Path
) -> None:
    native = clicks.stream.where("user <> 'robot'").select(F.upper("user").alias("user"))
    names = spark.createDataFrame(
        [("ANN", "Ann B."), ("BOB", "Bob C.")], "user string, name string"
    )
    counted = env.from_dataframe(native).key_by("user").process(Counting()).uid("counting")
    out = counted.to_dataframe("user string, n long").join(names, "user").select("name", "n")

    assert out.isStreaming
    clicks.write("1", "ann", "robot", "bob", "ann")
    assert run(out, tmp_path) == [("Ann B.", 1), ("Ann B.", 2), ("Bob C.", 1)]
    clicks.write("2", "ann")
    assert run(out, tmp_path)[2] == ("Ann B.", 3)  # state is in the query's own checkpoint


class At(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value.at.to_epoch_milli())


class PerMinute(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterator[Row]:
        yield Row(user=key, n=len(list(elements)))


def per_ten_seconds(stream: DataStream) -> DataStream:
    windows = stream.key_by("user").window(TumblingEventTimeWindows.of(Time.seconds(10)))
    return windows.process(PerMinute(), COUNTED).uid("windows")


WATERMARKS = WatermarkStrategy.for_bounded_out_of_orderness(
    Duration.of_seconds(1)
).with_timestamp_assigner(At())


def test_event_time_is_a_column_and_windows_close_behind_it(
    env: StreamExecutionEnvironment, clicks: Clicks, tmp_path: Path
) -> None:
    out = per_ten_seconds(env.from_dataframe(clicks.stream, WATERMARKS)).to_dataframe()
    assert out.columns == ["user", "n"]
    clicks.write("1", "ann", "ann", second=3)
    assert run(out, tmp_path) == []
    clicks.write("2", "bob", second=12)
    assert run(out, tmp_path) == [("ann", 2)]


class Later(KeyedProcessFunction):
    """Says who clicked, some time afterwards."""

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> None:
        timers = ctx.timer_service()
        timers.register_processing_time_timer(timers.current_processing_time() + 1)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[str]:
        yield ctx.get_current_key()


def test_with_ticks_timers_fire_without_data(
    spark: SparkSession, env: StreamExecutionEnvironment, clicks: Clicks, tmp_path: Path
) -> None:
    later = env.from_dataframe(clicks.stream).key_by("user").process(Later())
    out = later.to_dataframe("user string", ticks=Duration.of_seconds(1))
    clicks.write("1", "ann")
    writer = out.writeStream.format("memory").queryName("later")
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    deadline = time.monotonic() + 600
    while not (found := spark.table("later").collect()) and time.monotonic() < deadline:
        assert query.isActive, query.exception()
        time.sleep(0.1)
    query_stop.stop(query)
    assert [row.user for row in found] == ["ann"]


def test_a_static_dataframe_ends_and_so_do_its_windows(
    spark: SparkSession, env: StreamExecutionEnvironment, tmp_path: Path
) -> None:
    at = datetime(2026, 1, 31, 12, tzinfo=UTC)
    table = spark.createDataFrame([("ann", at), ("ann", at)], "user string, at timestamp")
    out = per_ten_seconds(env.from_dataframe(table, WATERMARKS)).to_dataframe()
    assert run(out, tmp_path) == [("ann", 2)]
    assert run(out, tmp_path) == [("ann", 2)]  # it is not read a second time


def doubled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.record_batch({"id": pc.multiply(batch.column("id"), 2)})


def test_a_job_reads_dataframes_and_leaves_their_session_open(
    spark: SparkSession, env: StreamExecutionEnvironment
) -> None:
    number = Types.ROW_NAMED(["id"], [Types.LONG()])
    numbers = DataStream.from_dataframe(spark.range(100), env).map_in_arrow(doubled, number)
    assert sorted(row[0] for row in numbers.execute_and_collect()) == list(range(0, 200, 2))
    assert spark.range(3).count() == 3


def test_what_became_a_dataframe_may_come_back(
    spark: SparkSession, env: StreamExecutionEnvironment
) -> None:
    table = spark.createDataFrame([("ann",), ("bob",), ("ann",)], "user string")
    counted = env.from_dataframe(table).key_by("user").process(Counting(), COUNTED)
    again = env.from_dataframe(counted.to_dataframe().where("n > 1"))
    with again.map(lambda row: (row.user, row.n)).execute_and_collect() as values:
        assert next(values) == ("ann", 2)


def test_columns_of_all_types_come_and_go(
    spark: SparkSession, env: StreamExecutionEnvironment, tmp_path: Path
) -> None:
    table = spark.sql(
        "SELECT CAST(1 AS TINYINT) a, CAST(2.5 AS DECIMAL(10, 2)) b, DATE'2026-01-31' c, "
        "TIMESTAMP'2026-01-31 12:00:00.25' d, TIMESTAMP_NTZ'2026-01-31 12:00:00' e, X'00ff' f, "
        "array(1, NULL) g, map('k', 1.5D) h, named_struct('x', 'y', 'z', array(true)) i, "
        "CAST(NULL AS STRING) j"
    )
    out = env.from_dataframe(table).map(lambda row: row).to_dataframe(table.schema)
    query = out.writeStream.format("memory").queryName("types_").trigger(availableNow=True)
    query.option("checkpointLocation", str(tmp_path)).start().awaitTermination()
    assert spark.table("types_").collect() == table.collect()


def test_what_cannot_be_is_said_at_once(
    spark: SparkSession, env: StreamExecutionEnvironment
) -> None:
    with pytest.raises(GraphError, match=r"no declared type.*test_dataframes.py:\d+"):
        env.from_dataframe(spark.range(1)).map(lambda row: row).to_dataframe()
    with pytest.raises(TypeError, match="column 'v' is interval"):
        env.from_dataframe(spark.sql("SELECT INTERVAL 1 DAY v"))
    with pytest.raises(ValueError, match="several columns id"):
        env.from_dataframe(spark.range(1).join(spark.range(1), F.lit(True)))
    with pytest.raises(NotImplementedError, match="positions are kept beside a job's checkpoint"):
        env.from_sequence(1, 3).to_dataframe("n long")


def test_the_script_of_the_documentation_runs(
    spark: SparkSession, clicks: Clicks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (Path(__file__).parents[2] / "docs" / "dataframes.md").read_text()
    [script] = re.findall(r"```python sessions\.py\n(.*?)```", text, re.DOTALL)
    out = tmp_path / "out"
    monkeypatch.setattr("sys.argv", ["sessions.py", str(clicks.folder), str(out)])
    clicks.write("1", "Ann", "Ann", second=1)
    exec(script, {"__name__": "__main__"})
    clicks.write("2", "bob", second=30)
    exec(script, {"__name__": "__main__"})
    rows = spark.read.parquet(str(out)).collect()
    assert [tuple(row) for row in rows] == [("ann", "Ann B.", 2)]


def test_a_dataframe_may_read_several_streams(spark: SparkSession, clicks: Clicks) -> None:
    """Spark keeps the offsets of each, in this order, before those of what comes next."""
    rate = spark.readStream.format("rate").load().selectExpr("CAST(value AS STRING) AS user")
    both = clicks.stream.select("user").union(rate)
    assert dataframe_rows.count(DataFrameSource(both)) == 2
    assert dataframe_rows.count(DataFrameSource(rate)) == 1
    assert dataframe_rows.count(DataFrameSource(spark.range(1))) == 1
