"""State of a query's checkpoint, read as DataFrames."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace.common import Row, Time, TimestampAssigner, Types, WatermarkStrategy
from headrace.datastream import (
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    ProcessWindowFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from headrace.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ValueStateDescriptor,
)
from headrace.datastream.window import TumblingEventTimeWindows
from headrace.state_processor import OperatorState, SavepointReader

DOCS = Path(__file__).parents[2] / "docs"
SPENT = Types.ROW_NAMED(["customer", "spent", "at"], [Types.STRING(), Types.LONG(), Types.LONG()])


class Customers(KeyedProcessFunction):
    """What each customer has spent, on what, and when to write to them."""

    def open(self, runtime_context: RuntimeContext) -> None:
        context = runtime_context
        self.spent = context.get_state(ValueStateDescriptor("spent", Types.LONG()))
        self.orders = context.get_list_state(ListStateDescriptor("orders", Types.STRING()))
        self.items = context.get_map_state(
            MapStateDescriptor("items", Types.STRING(), Types.LONG())
        )

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterator[Row]:
        self.spent.update((self.spent.value() or 0) + value.price)
        self.orders.add(f"{value.item} for {value.price}")
        self.items.put(value.item, (self.items.get(value.item) or 0) + 1)
        ctx.timer_service().register_event_time_timer(1_000_000)
        yield Row(customer=value.customer, spent=self.spent.value(), at=value.at)


class Total(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterator[int]:
        yield sum(row.spent for row in elements)


DISCOUNTS = MapStateDescriptor("discounts", Types.STRING(), Types.LONG())


class Discounted(KeyedBroadcastProcessFunction):
    def process_element(
        self, value: Any, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext
    ) -> Iterator[int]:
        yield value.price - (ctx.get_broadcast_state(DISCOUNTS).get(value.item) or 0)

    def process_broadcast_element(
        self, value: Any, ctx: KeyedBroadcastProcessFunction.Context
    ) -> None:
        ctx.get_broadcast_state(DISCOUNTS).put(value.item, value.discount)


class At(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value.at)


@pytest.fixture(scope="module")
def checkpoint(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a query with two levels, after one batch that did not end its input."""
    folder = tmp_path_factory.mktemp("state")
    (folder / "in").mkdir()
    (folder / "discounts").mkdir()
    (folder / "discounts" / "1.csv").write_text("book,5\npen,1\n")
    (folder / "in" / "1.csv").write_text("ann,book,70,1\nbob,pen,3,2\nann,book,40,20000\n")
    schema = "customer string, item string, price long, at long"
    orders = spark.readStream.schema(schema).csv(str(folder / "in"))
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2).set_max_parallelism(4)
    times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(At())
    customers = env.from_dataframe(orders, times).key_by("customer")
    windows = (
        customers.process(Customers(), SPENT).uid("customers")
        .key_by(lambda row: len(row.customer))
        .window(TumblingEventTimeWindows.of(Time.seconds(60)))
        .process(Total(), Types.LONG()).uid("totals")
    )  # fmt: skip
    columns = "item string, discount long"
    discounts = spark.readStream.schema(columns).csv(str(folder / "discounts"))
    paid = (
        customers.connect(env.from_dataframe(discounts).broadcast(DISCOUNTS))
        .process(Discounted(), Types.LONG()).uid("paid")
    )  # fmt: skip
    query = windows.union(paid).to_dataframe().writeStream.format("noop").trigger(availableNow=True)
    query.option("checkpointLocation", str(folder / "checkpoint")).start().awaitTermination()
    return folder / "checkpoint"


def test_the_example_of_the_documentation_reads_all_kinds(
    spark: SparkSession, checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (DOCS / "state-processor.md").read_text()
    [code] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    example: dict[str, Any] = {}
    exec(code, example)
    spent, orders, items, timers = example["look_into"](spark, checkpoint)
    assert "customers orders list 2" in capsys.readouterr().out
    assert [tuple(row) for row in spent.collect()] == [("ann", 110)]
    bought = {row.key: row.value for row in orders.collect()}
    assert bought == {"ann": ["book for 70", "book for 40"], "bob": ["pen for 3"]}
    assert {row.key: row.value for row in items.collect()} == {
        "ann": {"book": 2},
        "bob": {"pen": 1},
    }
    waiting = sorted(tuple(row) for row in timers.collect())
    assert waiting == [(key, 1_000_000, "EVENT_TIME", None, None) for key in ("ann", "bob")]


def test_open_windows_and_what_there_is_are_read(spark: SparkSession, checkpoint: Path) -> None:
    savepoint = SavepointReader.read(spark, checkpoint)
    listed = savepoint.operators()
    assert OperatorState("customers", "spent", "value", 2) in listed
    assert OperatorState("totals", "content", "window", 1) in listed
    [window] = savepoint.read_windows("totals", Types.LIST(SPENT), Types.INT()).collect()
    assert (window.key, window.window_start, window.window_end) == (3, 0, 60_000)
    assert sorted(row.spent for row in window.content) == [3, 70, 110]


def test_broadcast_state_is_read_once_whatever_the_key_groups(
    spark: SparkSession, checkpoint: Path
) -> None:
    savepoint = SavepointReader.read(spark, checkpoint)
    found = savepoint.read_broadcast_state("paid", DISCOUNTS)
    assert found.columns == ["key", "value"]
    assert sorted(tuple(row) for row in found.collect()) == [("book", 5), ("pen", 1)]
    # kept once in each of the four key groups
    assert OperatorState("paid", "discounts", "broadcast", 4) in savepoint.operators()
    undeclared = MapStateDescriptor("discounts", Types.STRING(), Types.PICKLED_BYTE_ARRAY())
    with pytest.raises(TypeError, match="type of the value is not declared"):
        savepoint.read_broadcast_state("paid", undeclared)


def test_what_cannot_be_read_is_said(spark: SparkSession, checkpoint: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no checkpoint"):
        SavepointReader.read(spark, checkpoint / "nothing")
    savepoint = SavepointReader.read(spark, checkpoint, batch=0)
    with pytest.raises(TypeError, match="type of the value is not declared"):
        savepoint.read_keyed_state("customers", ValueStateDescriptor("spent"))
