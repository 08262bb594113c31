"""map_in_arrow and map_in_pandas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from headrace.common import Configuration, Row, Time, Types
from headrace.datastream import (
    DataStream,
    KeyedProcessFunction,
    StreamExecutionEnvironment,
)
from headrace.datastream.window import TumblingEventTimeWindows
from headrace.runtime.errors import JobFailed
from headrace.runtime.transformations import GraphError
from headrace.testing import JobHarness

NUMBERS = Types.ROW_NAMED(["n"], [Types.LONG()])


def doubled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.record_batch({"n": pc.multiply(batch.column("n"), 2)})


def odd(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in batches:
        yield frame[frame.n % 2 == 1]


def environment() -> StreamExecutionEnvironment:
    settings = Configuration({"headrace.executor": "in-process", "parallelism.default": "1"})
    return StreamExecutionEnvironment.get_execution_environment(settings)


def numbers(count: int) -> DataStream:
    return environment().from_collection([(n,) for n in range(count)], NUMBERS)


def test_all_rows_come_through_one_after_the_other() -> None:
    stream = numbers(12_345).map_in_pandas(odd, NUMBERS).map_in_arrow(doubled, NUMBERS)
    found = [row[0] for row in stream.execute_and_collect()]
    assert found == [2 * n for n in range(1, 12_345, 2)]


@dataclass
class Point:
    x: int
    y: float


def moved(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in batches:
        yield frame.assign(y=frame.y + frame.x)


def named(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in batches:
        yield pd.DataFrame({"f0": "p" + frame.x.astype(str)})


def test_dataclasses_tuples_and_single_values_have_columns() -> None:
    points = environment().from_collection([Point(1, 2.0), Point(3, 4.0)], Types.OF(Point))
    moved_points = list(points.map_in_pandas(moved, Point).execute_and_collect())
    assert moved_points == [Point(1, 3.0), Point(3, 7.0)]
    points = environment().from_collection([Point(1, 2.0)], Types.OF(Point))
    assert list(points.map_in_pandas(named, Types.STRING()).execute_and_collect()) == ["p1"]


class Firsts(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterator[Row]:
        yield Row(value[0])


def test_rows_keep_their_times_behind_a_key_where_none_are_left_out() -> None:
    with JobHarness() as job:
        source = job.source("numbers", NUMBERS)
        firsts = source.stream.key_by(lambda row: row[0] % 3).process(Firsts(), NUMBERS)
        sums = (
            firsts.map_in_arrow(doubled, NUMBERS)
            .window_all(TumblingEventTimeWindows.of(Time.milliseconds(10)))
            .reduce(lambda a, b: Row(a[0] + b[0]))
        )
        results = job.collect(sums)
        source.push(Row(1), timestamp=1)
        source.push(Row(2), timestamp=2)
        source.push(Row(5), timestamp=11)
        source.advance_watermark(19)
        assert [row[0] for row in results.take()] == [6, 10]


def failing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        raise ValueError(f"no {batch.num_rows}")
        yield batch


def without_column(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch.rename_columns(["m"])


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (failing, r"operator 'doubling' failed on .*a batch of 3 rows.*: ValueError: no 3"),
        (without_column, "no column n: they have m"),
        (lambda batches: [1], "has to yield pyarrow.RecordBatch, not a int"),
    ],
)
def test_errors_name_the_operator_and_the_batch(function: Any, said: str) -> None:
    stream = numbers(3).map_in_arrow(function, NUMBERS).name("doubling")
    with pytest.raises(JobFailed, match=said):
        list(stream.execute_and_collect())


def test_a_stream_without_columns_is_refused_with_its_line() -> None:
    with pytest.raises(GraphError, match=r"the stream's type .*test_batches.py:\d+"):
        numbers(3).map(lambda row: row).map_in_arrow(doubled, NUMBERS)
