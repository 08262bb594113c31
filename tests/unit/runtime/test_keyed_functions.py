"""reduce, process, timers and state on keyed streams."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from headrace.common import Row, Types
from headrace.datastream import DataStream, KeyedProcessFunction, OutputTag, ProcessFunction
from headrace.datastream.functions import RuntimeContext
from headrace.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from headrace.runtime.operators.operator import OperatorError
from headrace.runtime.transformations import GraphError
from tests.unit.runtime.local_jobs import LocalJob

ODD = OutputTag("odd")


def test_reduce_emits_for_each_record_and_keeps_state() -> None:
    job = LocalJob(lambda s: s.key_by(0).sum(1), out_of_orderness=None)
    assert sorted(job.only(s0=[("a", 1), ("b", 5), ("a", 2)])) == [("a", 1), ("a", 3), ("b", 5)]
    assert sorted(job.only(s0=[("a", 1), ("b", 1)])) == [("a", 4), ("b", 6)]


def test_sum_min_and_max_of_rows_and_numbers() -> None:
    rows = LocalJob(lambda s: s.key_by("k").max("n"), out_of_orderness=None)
    assert [r.as_dict() for r in rows.only(s0=[Row(k=1, n=2), Row(k=1, n=1), Row(k=1, n=3)])] == [
        {"k": 1, "n": 2},
        {"k": 1, "n": 2},
        {"k": 1, "n": 3},
    ]
    numbers = LocalJob(lambda s: s.key_by(lambda n: n % 2).min(), out_of_orderness=None)
    assert numbers.only(s0=[5, 3, 7]) == [5, 3, 3]


class Sessions(KeyedProcessFunction):
    """Emits (key, values, state sizes) 10 ms after the last value of a key."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))
        self.values = runtime_context.get_list_state(ListStateDescriptor("values"))
        self.by_value = runtime_context.get_map_state(MapStateDescriptor("by value"))
        self.total = runtime_context.get_reducing_state(
            ReducingStateDescriptor("total", lambda a, b: a + b)
        )
        self.seen = runtime_context.get_metrics_group().counter("seen")

    def process_element(
        self, value: Any, ctx: KeyedProcessFunction.Context
    ) -> Iterable[Any] | None:
        self.seen.inc()
        timers = ctx.timer_service()
        if self.last.value() is not None:
            timers.delete_event_time_timer(self.last.value() + 10)
        self.last.update(ctx.timestamp())
        timers.register_event_time_timer(int(ctx.timestamp() or 0) + 10)
        self.values.add(value[2])
        self.by_value.put(value[2], ctx.timestamp())
        self.total.add(value[2])
        return None

    def on_timer(
        self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext
    ) -> Iterable[Any] | None:
        yield ctx.get_current_key(), timestamp, list(self.values.get()), self.total.get()
        yield ODD, sorted(self.by_value.items())
        for state in (self.last, self.values, self.by_value, self.total):
            state.clear()


def test_timers_and_every_kind_of_state() -> None:
    def build(stream: DataStream) -> list[DataStream]:
        main = stream.key_by(lambda value: value[1]).process(Sessions())
        return [main, main.get_side_output(ODD)]

    job = LocalJob(build)
    assert job.batch(s0=[(1, "a", 3), (2, "b", 1)]) == [[], []]
    assert job.batch(s0=[(8, "a", 4)]) == [[], []]
    assert job.batch(s0=[(11, "b", 2)]) == [[], []]
    main, side = job.batch(s0=[(40, "c", 0)])
    assert sorted(main) == [("a", 18, [3, 4], 7), ("b", 21, [1, 2], 3)]
    assert sorted(side) == [[(1, 2), (2, 11)], [(3, 1), (4, 8)]]
    job.batch(ended=True)
    assert job.run.state_entries() == 0
    assert job.run.metrics.counters == {"seen": 5}


def test_timers_fire_in_order_of_time_and_may_set_more() -> None:
    class Countdown(KeyedProcessFunction):
        def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> None:
            for at in (5000, 30, 20):
                ctx.timer_service().register_event_time_timer(at)

        def on_timer(
            self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext
        ) -> Iterable[Any]:
            if timestamp == 20:
                ctx.timer_service().register_event_time_timer(25)
            yield timestamp

    job = LocalJob(lambda s: s.key_by(lambda v: v[1]).process(Countdown()))
    job.only(s0=[(1, "a")])
    assert job.only(s0=[(100, "a")]) == [20, 25, 30]
    assert job.only(ended=True) == [5000]


def test_a_process_function_sends_to_side_outputs() -> None:
    class Split(ProcessFunction):
        def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Iterable[Any]:
            if value % 2:
                yield ODD, value
            else:
                yield value

    def build(stream: DataStream) -> list[DataStream]:
        main = stream.process(Split())
        return [main, main.get_side_output(ODD), main.union(main.get_side_output(ODD))]

    job = LocalJob(build, out_of_orderness=None)
    assert job.batch(s0=[1, 2, 3]) == [[2], [1, 3], [2, 1, 3]]


def test_two_exchanges_run_one_behind_the_other() -> None:
    job = LocalJob(
        lambda s: s.key_by(0).sum(1).map(lambda v: (v[1] % 2, 1)).key_by(0).sum(1),
        out_of_orderness=None,
    )
    assert sorted(job.only(s0=[("a", 1), ("a", 2), ("b", 2)])) == [(0, 1), (1, 1), (1, 2)]


def test_an_error_names_operator_record_and_line() -> None:
    job = LocalJob(
        lambda s: s.map(lambda v: 1 / v).name("inverse").key_by(lambda v: v).sum(),
        out_of_orderness=None,
    )
    with pytest.raises(OperatorError) as caught:
        job.only(s0=[1, 0])
    assert "operator 'inverse' failed on 0" in str(caught.value)
    assert "1 / v" in caught.value.traceback


def test_keyed_state_on_an_unkeyed_stream_is_refused_by_name() -> None:
    class Stateful(ProcessFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            runtime_context.get_state(ValueStateDescriptor("s"))

        def process_element(self, value: Any, ctx: ProcessFunction.Context) -> None: ...

    with pytest.raises(GraphError, match=r"stream is not keyed; call key_by.*test_keyed_func"):
        LocalJob(lambda s: s.process(Stateful()), out_of_orderness=None)
