"""The broadcast state pattern."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from headrace.common import Configuration, Types
from headrace.datastream import (
    BroadcastProcessFunction,
    DataStream,
    KeyedBroadcastProcessFunction,
    OutputTag,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from headrace.datastream.state import MapStateDescriptor, ValueStateDescriptor
from headrace.runtime.operators.operator import OperatorError
from headrace.runtime.transformations import GraphError
from tests.unit.runtime.local_jobs import LocalJob

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())
REJECTED = OutputTag("rejected")


def rules(stream: DataStream) -> DataStream:
    """(time, "rule", name, factor)"""
    return stream.filter(lambda v: v[1] == "rule")


def data(stream: DataStream) -> DataStream:
    """(time, key, name of a rule, number)"""
    return stream.filter(lambda v: v[1] != "rule")


class Multiply(BroadcastProcessFunction):
    def process_element(
        self, value: Any, ctx: BroadcastProcessFunction.ReadOnlyContext
    ) -> Iterable[Any]:
        state = ctx.get_broadcast_state(RULES)
        if not state.contains(value[2]):
            yield REJECTED, value[3]
        else:
            yield value[3] * state.get(value[2])

    def process_broadcast_element(self, value: Any, ctx: BroadcastProcessFunction.Context) -> None:
        state = ctx.get_broadcast_state(RULES)
        if value[3] is None:
            state.remove(value[2])
        else:
            state.put(value[2], value[3])


def test_a_stream_without_keys_sees_the_broadcast_state() -> None:
    def build(stream: DataStream) -> list[DataStream]:
        joined = data(stream).connect(rules(stream).broadcast(RULES)).process(Multiply())
        return [joined, joined.get_side_output(REJECTED)]

    job = LocalJob(build, splits=("0", "1"))
    assert job.batch(s0=[(1, "x", "double", 4)]) == [[], [4]]
    # what is broadcast comes before the other data of a batch, wherever either is read
    assert job.batch(s0=[(2, "x", "double", 5)], s1=[(2, "rule", "double", 2)]) == [[10], []]
    assert job.batch(s0=[(3, "y", "double", 6)]) == [[12], []]
    assert job.batch(s1=[(4, "rule", "double", 3), (4, "rule", "double", 5)]) == [[], []]
    assert job.batch(s0=[(5, "x", "double", 1)], s1=[(5, "x", "double", 2)]) == [[5, 10], []]
    job.batch(s0=[(6, "rule", "double", None)])
    assert job.batch(s0=[(7, "x", "double", 1)]) == [[], [1]]
    assert job.run.state_entries() == 0


class Totals(KeyedBroadcastProcessFunction):
    """Sums per key; "report" gives all sums of at least its number, "clear" forgets them."""

    total = ValueStateDescriptor("total", Types.INT())

    def open(self, runtime_context: RuntimeContext) -> None:
        self.state = runtime_context.get_state(self.total)

    def process_element(
        self, value: Any, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext
    ) -> Iterable[Any]:
        state = ctx.get_broadcast_state(RULES)
        self.state.update((self.state.value() or 0) + value[3])
        ctx.timer_service().register_event_time_timer(value[0] + 100)
        yield ctx.get_current_key(), self.state.value(), dict(state.items())

    def process_broadcast_element(
        self, value: Any, ctx: KeyedBroadcastProcessFunction.Context
    ) -> Iterable[Any]:
        ctx.get_broadcast_state(RULES).put(value[2], value[3])
        found: list[Any] = []
        if value[2] == "report":
            ctx.apply_to_keyed_state(self.total, lambda key, s: found.append((key, s.value())))
        if value[2] == "clear":
            ctx.apply_to_keyed_state(self.total, lambda key, s: s.clear())
        return [(value[2], key, total) for key, total in found if total >= value[3]]

    def on_timer(
        self, timestamp: int, ctx: KeyedBroadcastProcessFunction.OnTimerContext
    ) -> Iterable[Any]:
        yield "timer", ctx.get_current_key(), timestamp, ctx.get_broadcast_state(RULES).get("a")


def test_a_keyed_stream_has_both_states_and_timers() -> None:
    def build(stream: DataStream) -> DataStream:
        keyed = data(stream).key_by(1)
        return keyed.connect(rules(stream).broadcast(RULES)).process(Totals())

    job = LocalJob(build)
    assert job.only(s0=[(1, "k", "", 4), (1, "rule", "a", 7)]) == [("k", 4, {"a": 7})]
    assert sorted(job.only(s0=[(2, "k", "", 1), (2, "m", "", 2)])) == [
        ("k", 5, {"a": 7}),
        ("m", 2, {"a": 7}),
    ]
    assert sorted(job.only(s0=[(3, "rule", "report", 0)])) == [
        ("report", "k", 5),
        ("report", "m", 2),
    ]
    assert job.only(s0=[(4, "rule", "report", 3)]) == [("report", "k", 5)]
    assert job.only(s0=[(5, "rule", "clear", 0)]) == []
    assert job.only(s0=[(6, "rule", "report", 0)]) == []
    assert sorted(job.only(s0=[(150, "rule", "a", 8)])) == [
        ("timer", "k", 101, 8),
        ("timer", "k", 102, 8),
        ("timer", "m", 102, 8),
    ]


def test_broadcast_elements_come_in_one_order_everywhere() -> None:
    """Also behind a keyed operator, whose key groups all send."""

    class History(KeyedBroadcastProcessFunction):
        def process_element(
            self, value: Any, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext
        ) -> Iterable[Any]:
            yield tuple(ctx.get_broadcast_state(RULES).items())

        def process_broadcast_element(
            self, value: Any, ctx: KeyedBroadcastProcessFunction.Context
        ) -> None:
            state = ctx.get_broadcast_state(RULES)
            state.put("all", (state.get("all") or ()) + (value[2],))

    def build(stream: DataStream) -> DataStream:
        broadcast = rules(stream).key_by(2).reduce(lambda a, b: b).broadcast(RULES)
        return data(stream).key_by(1).connect(broadcast).process(History())

    job = LocalJob(build, splits=("0", "1"))
    seen = job.only(
        s0=[(1, "rule", str(n), n) for n in range(10)] + [(1, str(n), "", n) for n in range(10)],
        s1=[(1, "rule", str(n), n) for n in range(10, 20)],
    )
    assert len(seen) == 10
    assert len(set(seen)) == 1
    assert sorted(seen[0][0][1], key=int) == [str(n) for n in range(20)]


def test_the_side_that_is_not_broadcast_may_only_read() -> None:
    class Writing(Multiply):
        def process_element(self, value: Any, ctx: Any) -> None:
            ctx.get_broadcast_state(RULES).put("a", 1)

    job = LocalJob(lambda s: data(s).connect(rules(s).broadcast(RULES)).process(Writing()))
    with pytest.raises(OperatorError, match=r"'Co-Process-Broadcast' failed on .*'x'"):
        job.only(s0=[(1, "x", "", 1)])


def test_a_state_that_broadcast_was_not_given_is_named() -> None:
    other = MapStateDescriptor("other")
    job = LocalJob(lambda s: data(s).connect(rules(s).broadcast(other)).process(Multiply()))
    with pytest.raises(OperatorError, match=r"was not given the state 'rules', only \['other'\]"):
        job.only(s0=[(1, "x", "", 1)])


def test_the_function_has_to_fit_the_stream() -> None:
    with pytest.raises(GraphError, match="on a keyed stream broadcast state takes a Keyed"):
        LocalJob(lambda s: data(s).key_by(1).connect(rules(s).broadcast(RULES)).process(Multiply()))
    with pytest.raises(GraphError, match="on a stream that is not keyed"):
        LocalJob(lambda s: data(s).connect(rules(s).broadcast(RULES)).process(Totals()))


def test_what_a_broadcast_element_emits_comes_once_per_subtask() -> None:
    class Told(Multiply):
        def process_broadcast_element(
            self, value: Any, ctx: BroadcastProcessFunction.Context
        ) -> Iterable[Any]:
            super().process_broadcast_element(value, ctx)
            yield "told", value[2]

    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration({"headrace.executor": "in-process"})
    )
    env.set_parallelism(2).set_max_parallelism(7)
    told = env.from_collection([(1, "rule", "double", 2)])
    numbers = env.from_collection([(1, "x", "double", n) for n in range(3)])
    joined = numbers.connect(told.broadcast(RULES)).process(Told())
    values = list(joined.execute_and_collect())
    assert sorted(values, key=str) == [("told", "double"), ("told", "double"), 0, 2, 4]
