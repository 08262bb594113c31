"""A micro-batch that is run again gives the same records in the same frames, and the same state."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.common import Duration, Time, WatermarkStrategy
from headrace.datastream import (
    AsyncDataStream,
    AsyncFunction,
    CoGroupFunction,
    DataStream,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    ProcessJoinFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
    TumblingEventTimeWindows,
)
from headrace.datastream.state import ListStateDescriptor, MapStateDescriptor
from headrace.runtime.frames import Frame
from headrace.runtime.local_run import LocalRun, Snapshot
from headrace.runtime.parts import Part
from headrace.runtime.sinks import CollectSink
from headrace.runtime.sources import CollectionSource
from tests.unit.runtime.local_jobs import First

RULES = MapStateDescriptor("rules")
#: (time, side, key, number)
Value = tuple[int, str, str, int]


class Pairs(ProcessJoinFunction):
    def process_element(
        self, left: Value, right: Value, ctx: ProcessJoinFunction.Context
    ) -> Iterable[Any]:
        yield left[3], right[3]


class Groups(CoGroupFunction):
    def co_group(self, first: list[Value], second: list[Value]) -> Iterable[Any]:
        yield [v[3] for v in first], [v[3] for v in second]


class Seen(KeyedCoProcessFunction):
    """What has come of a key, in order."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen"))

    def _see(self, value: Value, ctx: KeyedCoProcessFunction.Context) -> Iterable[Any]:
        self.seen.add(value[3])
        ctx.timer_service().register_event_time_timer(value[0] + 5)
        yield value[2], list(self.seen.get())

    process_element1 = process_element2 = _see

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext) -> Iterable[Any]:
        yield timestamp, len(list(self.seen.get()))


class Ruled(KeyedBroadcastProcessFunction):
    def process_element(
        self, value: Value, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext
    ) -> Iterable[Any]:
        yield value[3], list(ctx.get_broadcast_state(RULES).items())

    def process_broadcast_element(
        self, value: Value, ctx: KeyedBroadcastProcessFunction.Context
    ) -> Iterable[Any]:
        ctx.get_broadcast_state(RULES).put(value[2], value[3])
        yield "rule", value[3]


class Looked(AsyncFunction):
    async def async_invoke(self, value: Any) -> list[Any]:
        await asyncio.sleep(0)
        return [value, value]


def everything(stream: DataStream) -> list[DataStream]:
    left = stream.filter(lambda v: v[1] == "l")
    right = stream.filter(lambda v: v[1] == "r")
    assigner = TumblingEventTimeWindows.of(Time.milliseconds(10))
    loop = stream.map(lambda v: v[3] % 7).iterate()
    loop.close_with(loop.filter(lambda n: n > 0).map(lambda n: n - 1))
    return [
        left.key_by(2).interval_join(right.key_by(2)).between(-5, 5).process(Pairs()),
        left.co_group(right).where(2).equal_to(2).window(assigner).apply(Groups()),
        left.connect(right).key_by(2, 2).process(Seen()),
        left.key_by(2).connect(right.broadcast(RULES)).process(Ruled()),
        AsyncDataStream.unordered_wait(stream.rebalance(), Looked(), Time.seconds(9)),
        stream.shuffle().map(lambda v: v[3]),
        stream.partition_custom(lambda key, n: len(key) % n, lambda v: v[2]),
        stream.broadcast().map(lambda v: v[3]),
        loop,
    ]


def job() -> LocalRun:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2).set_max_parallelism(5)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(3))
    strategy = strategy.with_timestamp_assigner(First())
    for stream in everything(env.from_source(CollectionSource(()), strategy, "test")):
        stream.sink_to(CollectSink())
    return LocalRun(env.compile("test"), ("0", "1"))


def run(local: LocalRun, batch: list[list[Value]], time: int) -> list[Frame]:
    parts = [Part(str(n), [(None, v) for v in values]) for n, values in enumerate(batch)]
    return local.frames({1: parts}, time=time)


def contents(snapshot: Snapshot) -> dict[Any, Any]:
    return {where: entries for where, (_, entries) in snapshot.stores.items() if entries}


value = st.tuples(
    st.integers(0, 40), st.sampled_from("lr"), st.sampled_from(["a", "bb"]), st.integers(0, 99)
)
batch = st.tuples(st.lists(value, max_size=6), st.lists(value, max_size=6)).map(list)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.lists(batch, min_size=1, max_size=4), st.data())
def test_a_batch_run_again_is_the_same(batches: list[Any], data: st.DataObject) -> None:
    local = job()
    again_at = data.draw(st.integers(0, len(batches) - 1))
    for number, rows in enumerate(batches):
        before = local.snapshot()
        frames = run(local, rows, number)
        if number == again_at:
            after = contents(local.snapshot())
            local.restore(before)
            assert run(local, rows, number) == frames
            assert contents(local.snapshot()) == after


@settings(derandomize=True, deadline=None, max_examples=25)
@given(st.lists(batch, min_size=1, max_size=3))
def test_another_process_does_the_same(batches: list[Any]) -> None:
    one, other = job(), job()
    for number, rows in enumerate(batches):
        assert run(one, rows, number) == run(other, rows, number)
        other.restore(other.snapshot())  # all functions opened anew
