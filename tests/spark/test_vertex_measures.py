"""What the vertices of a job measure of themselves on Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace.common import Duration, Time, TimestampAssigner, WatermarkStrategy
from headrace.datastream import MapFunction, RuntimeContext
from headrace.datastream.window import TumblingEventTimeWindows
from headrace.runtime.context import NoReporter
from headrace.wire import columns, events
from tests.spark import programs

RECORDS = 1_000


class Seconds(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value) * 1000


class Seen(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = runtime_context.get_metrics_group().counter("seen")
        self.sizes = runtime_context.get_metrics_group().distribution("sizes")
        self.added = runtime_context.get_long_counter("added")

    def map(self, value: Any) -> Any:
        self.seen.inc()
        self.sizes.update(value)
        self.added.add(1)
        return value


@pytest.fixture(scope="module")
def told(on_spark: SparkSession) -> Iterator[list[events.Event]]:
    """What a job of a source, a window and a sink tells."""
    found: list[events.Event] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NoReporter, "report", lambda self, event: found.append(event))
        env = programs.environment("spark")
        in_order = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
        numbers = env.from_collection(list(range(RECORDS))).uid("numbers").map(Seen()).uid("seen")
        numbers.assign_timestamps_and_watermarks(
            in_order.with_timestamp_assigner(Seconds())
        ).key_by(lambda value: value % 5).window(
            TumblingEventTimeWindows.of(Time.seconds(100))
        ).reduce(lambda a, b: a + b).uid("sums").add_sink(lambda value: None)
        env.execute("measured")
        yield found


def rows_of(table: dict[str, Any]) -> list[dict[str, float]]:
    return columns.rows(table, 2)


def total(table: dict[str, Any], metric: str) -> float:
    return sum(row.get(metric, 0.0) for row in rows_of(table))


def test_the_last_figures_are_told_at_the_end(told: list[events.Event]) -> None:
    checkpoints = [each for each in told if isinstance(each, events.CheckpointCompleted)]
    last = [each for each in told if isinstance(each, events.Measured)][-1]

    source, window = last.vertices.values()
    assert total(source, "numRecordsIn") == total(source, "numRecordsOut") == RECORDS
    assert total(window, "numRecordsIn") == RECORDS
    assert total(window, "numFiredTimers") == total(window, "numRecordsOut") == 50
    assert total(source, "numBytesOut") == total(window, "numBytesIn") > 0
    assert last.job["numRecordsIn"] == sum(each.records_in for each in checkpoints) == RECORDS


def test_time_is_told_of_each_subtask(told: list[events.Event]) -> None:
    [*_, last] = [each for each in told if isinstance(each, events.Measured)]
    for table in last.vertices.values():
        for row in rows_of(table):
            times = [row[f"{kind}TimeMsPerSecond"] for kind in ("busy", "idle", "backPressured")]
            assert sum(times) == pytest.approx(1000, abs=0.01)
    assert all(total(each, "accumulateBusyTimeMs") > 0 for each in last.vertices.values())


def test_functions_measure_by_operator(told: list[events.Event]) -> None:
    [*_, last] = [each for each in told if isinstance(each, events.Measured)]
    seen = next(table for table in last.operators.values() if "seen" in table)
    assert total(seen, "seen") == total(seen, "sizes_count") == RECORDS
    assert max(row.get("sizes_max", 0) for row in rows_of(seen)) == RECORDS - 1
    source = next(iter(last.vertices))
    assert last.accumulators == {
        source: [{"name": "added", "type": "LongCounter", "value": str(RECORDS)}]
    }
