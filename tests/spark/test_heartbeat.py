"""What a driver's heartbeat sees of Spark: work, waiting, standing still, a JVM that hangs."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from headrace.runtime import heartbeat
from headrace.runtime.vitals import Sign, Vitals

SECONDS = 400.0


@pytest.fixture
def started(spark: SparkSession, tmp_path: Path) -> Iterator[Callable[..., StreamingQuery]]:
    """Starts queries over one row that see to each batch with the given function."""
    queries = []

    def start(name: str, each: Callable[[DataFrame, int], None]) -> StreamingQuery:
        (tmp_path / name).mkdir()
        (tmp_path / name / "row.txt").write_text("row")
        rows = spark.readStream.text(str(tmp_path / name))
        query = rows.writeStream.queryName(name).foreachBatch(each).start()
        queries.append(query)
        return query

    yield start
    for query in queries:
        query.stop()


def look(spark: SparkSession) -> Sign:
    return heartbeat._sign(spark.sparkContext, spark)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_function_of_a_batch_that_stands_still_changes_nothing(
    spark: SparkSession, started: Callable[..., StreamingQuery]
) -> None:
    entered, go = threading.Event(), threading.Event()

    def stuck(batch: DataFrame, number: int) -> None:
        entered.set()
        go.wait(SECONDS)

    query = started("stuck", stuck)
    try:
        assert entered.wait(SECONDS)
        first = look(spark)
        assert first.tasks == 0
        assert "stuck" in first.at_work
        until(lambda: look(spark) == look(spark))
    finally:
        go.set()
    until(lambda: "stuck" not in look(spark).at_work)
    assert query.isActive


def test_a_task_that_takes_long_is_work(
    spark: SparkSession, started: Callable[..., StreamingQuery], tmp_path: Path
) -> None:
    go = tmp_path / "go"

    def slow(batch: DataFrame, number: int) -> None:
        wait = F.udf(lambda _: _wait_for(str(go)), "int")
        batch.select(wait("value")).collect()

    started("slow", slow)
    until(lambda: look(spark).tasks > 0)
    assert "slow" in look(spark).at_work
    go.touch()
    until(lambda: look(spark) == Sign())


def _wait_for(path: str) -> int:
    deadline = time.monotonic() + SECONDS
    while not Path(path).exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return 0


def test_a_jvm_that_hangs_does_not_answer(spark: SparkSession) -> None:
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    vitals = Vitals(30, 600)
    jvm = gateway.proc.pid
    looked = threading.Event()

    def ask() -> None:
        vitals.asked(0)
        vitals.answered(look(spark), 1000)
        looked.set()

    os.kill(jvm, signal.SIGSTOP)
    try:
        threading.Thread(target=ask, daemon=True).start()
        until(lambda: vitals.complaint(31) != "")
        assert "JVM has not answered for 31 s" in vitals.complaint(31)
        assert not looked.is_set()
    finally:
        os.kill(jvm, signal.SIGCONT)
    assert looked.wait(SECONDS)
    assert vitals.complaint(1000) == ""
