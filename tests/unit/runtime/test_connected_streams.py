"""Two streams in one function."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import pytest

from headrace.common import Configuration, Types
from headrace.datastream import (
    CoFlatMapFunction,
    CoMapFunction,
    ConnectedStreams,
    CoProcessFunction,
    DataStream,
    KeyedCoProcessFunction,
    OutputTag,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from headrace.datastream.state import ValueStateDescriptor
from headrace.datastream.time_domain import TimeDomain
from headrace.runtime.operators.operator import OperatorError
from headrace.runtime.transformations import GraphError
from tests.unit.runtime.local_jobs import LocalJob

LATE = OutputTag("late")


def connected(stream: DataStream) -> ConnectedStreams:
    """Numbers and texts: values are (time, key, number or text)."""
    numbers = stream.filter(lambda v: isinstance(v[2], int))
    texts = stream.filter(lambda v: isinstance(v[2], str))
    return numbers.connect(texts)


class Marked(CoMapFunction):
    def map1(self, value: Any) -> Any:
        return ("one", value[2])

    def map2(self, value: Any) -> Any:
        return ("two", value[2]) if value[2] else None


class Spelt(CoFlatMapFunction):
    def flat_map1(self, value: Any) -> Iterable[Any]:
        return range(value[2])

    def flat_map2(self, value: Any) -> Iterable[Any] | None:
        return list(value[2]) or None


def test_co_map_and_co_flat_map_have_a_method_for_each_stream() -> None:
    values = [(1, "a", 2), (2, "a", "xy"), (3, "a", "")]
    mapped = LocalJob(lambda s: connected(s).map(Marked()))
    assert sorted(mapped.only(s0=values)) == [("one", 2), ("two", "xy")]
    spelt = LocalJob(lambda s: connected(s).flat_map(Spelt()))
    assert sorted(spelt.only(s0=values), key=str) == [0, 1, "x", "y"]


def test_a_declared_output_type_is_checked() -> None:
    job = LocalJob(lambda s: connected(s).flat_map(Spelt(), output_type=Types.INT()))
    assert job.only(s0=[(1, "a", 2)]) == [0, 1]
    with pytest.raises(OperatorError, match=r"operator 'Co-Flat Map' failed on .*'x'"):
        job.only(s0=[(1, "a", "x")])


class LastNumber(CoFlatMapFunction):
    """Each text with the newest number of its key."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.INT()))

    def flat_map1(self, value: Any) -> Iterable[Any] | None:
        self.last.update(value[2])
        return None

    def flat_map2(self, value: Any) -> Iterable[Any]:
        yield value[1], value[2], self.last.value()


def test_keyed_streams_share_the_key_s_state() -> None:
    job = LocalJob(
        lambda s: connected(s).key_by(lambda v: v[1], lambda v: v[1]).flat_map(LastNumber())
    )
    assert job.only(s0=[(1, "a", 7), (1, "b", 8)]) == []
    assert job.only(s0=[(2, "a", "x"), (2, "b", "y"), (2, "c", "z")]) == [
        *sorted([("a", "x", 7), ("b", "y", 8), ("c", "z", None)], key=lambda v: _order(job, v[0]))
    ]
    keyed_before = LocalJob(
        lambda s: (
            s.filter(lambda v: isinstance(v[2], int))
            .key_by(1)
            .connect(s.filter(lambda v: isinstance(v[2], str)).key_by(1))
            .flat_map(LastNumber())
        )
    )
    assert keyed_before.only(s0=[(1, "a", 7)]) == []
    assert keyed_before.only(s0=[(2, "a", "x")]) == [("a", "x", 7)]


def _order(job: LocalJob, key: str) -> int:
    from headrace.runtime.keys import key_group

    return key_group(key, job.run.program.max_parallelism)


class Answered(KeyedCoProcessFunction):
    """A number is a question, open until a text of its key comes, or 10 ms later."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.asked = runtime_context.get_state(ValueStateDescriptor("asked", Types.LONG()))

    def process_element1(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> None:
        self.asked.update(ctx.timestamp())
        ctx.timer_service().register_event_time_timer(int(ctx.timestamp() or 0) + 10)

    def process_element2(
        self, value: Any, ctx: KeyedCoProcessFunction.Context
    ) -> Iterable[Any] | None:
        asked = self.asked.value()
        if asked is not None:
            ctx.timer_service().delete_event_time_timer(asked + 10)
            self.asked.clear()
            yield ctx.get_current_key(), value[2], ctx.timestamp()

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext) -> Iterable[Any]:
        assert ctx.time_domain() is TimeDomain.EVENT_TIME
        self.asked.clear()
        yield LATE, (ctx.get_current_key(), timestamp, ctx.timestamp())


def test_a_keyed_co_process_function_has_timers_and_side_outputs() -> None:
    def build(stream: DataStream) -> list[DataStream]:
        answers = connected(stream).key_by(1, 1).process(Answered())
        return [answers, answers.get_side_output(LATE)]

    job = LocalJob(build)
    assert job.batch(s0=[(1, "a", 1), (2, "b", 1)]) == [[], []]
    assert job.batch(s0=[(5, "a", "yes")]) == [[("a", "yes", 5)], []]
    assert job.batch(s0=[(50, "c", "no")]) == [[], [("b", 12, 12)]]
    job.batch(ended=True)
    assert job.run.state_entries() == 0


class Times(CoProcessFunction):
    def process_element1(self, value: Any, ctx: CoProcessFunction.Context) -> Iterable[Any]:
        yield value[2], ctx.timestamp(), ctx.timer_service().current_processing_time()

    def process_element2(self, value: Any, ctx: CoProcessFunction.Context) -> Iterable[Any]:
        yield LATE, value[2]
        ctx.timer_service().register_event_time_timer(1)


def test_an_unkeyed_co_process_function_has_times_but_no_timers() -> None:
    def build(stream: DataStream) -> list[DataStream]:
        both = connected(stream).process(Times())
        return [both, both.get_side_output(LATE)]

    job = LocalJob(build)
    assert job.batch(time=99, s0=[(3, "a", 1)]) == [[(1, 3, 99)], []]
    with pytest.raises(OperatorError, match="timers need a keyed stream"):
        job.batch(s0=[(4, "a", "x")])


def test_what_needs_keyed_streams_is_refused_with_its_line() -> None:
    with pytest.raises(GraphError, match=r"needs two keyed streams.*test_connected_streams.py:\d"):
        LocalJob(lambda s: connected(s).process(Answered()))
    with pytest.raises(GraphError, match=r"LastNumber asks for keyed state \(get_state\)"):
        LocalJob(lambda s: connected(s).flat_map(LastNumber()))
    with pytest.raises(TypeError, match="takes a CoMapFunction"):
        LocalJob(lambda s: connected(s).map(lambda v: v))  # type: ignore[arg-type]


def test_a_client_with_a_get_state_of_its_own_is_no_keyed_state() -> None:
    class Client:
        def get_state(self) -> int:
            return 7

    class Asking(CoMapFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            client = Client()
            self.state = client.get_state()

        def map1(self, value: Any) -> Any:
            return self.state

        map2 = map1

    assert LocalJob(lambda s: connected(s).map(Asking())).only(s0=[(1, "a", 1)]) == [7]


class Switch(CoFlatMapFunction):
    """Numbers pass while the last text is "on"; keeps a lock, too, which belongs to a process."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.on, self.passed, self.lock = False, [0], threading.Lock()
        self.seen = runtime_context.get_metrics_group().counter("seen")

    def flat_map1(self, value: Any) -> Iterable[Any]:
        self.seen.inc()
        if self.on:
            self.passed.append(value[2])
            yield sum(self.passed)

    def flat_map2(self, value: Any) -> None:
        with self.lock:
            self.on = value[2] == "on"


def test_streams_without_keys_share_the_attributes_of_the_function() -> None:
    job = LocalJob(lambda s: connected(s).flat_map(Switch()))
    assert job.only(s0=[(1, "", 1)]) == []
    assert job.only(s0=[(2, "", "on")]) == []
    assert job.only(s0=[(3, "", 5), (4, "", 6)]) == [5, 11]
    job.run.restore(job.run.snapshot())  # another process goes on
    assert job.only(s0=[(5, "", 7)]) == [18]
    assert job.run.metrics.counters == {"seen": 4}


def test_a_batch_that_failed_leaves_nothing_in_the_attributes() -> None:
    class Fails(Switch):
        def flat_map1(self, value: Any) -> Iterable[Any]:
            yield from super().flat_map1(value)
            if value[2] == 0:
                raise ValueError

    job = LocalJob(lambda s: connected(s).flat_map(Fails()))
    job.only(s0=[(1, "", "on")])
    assert job.only(s0=[(2, "", 1)]) == [1]
    with pytest.raises(OperatorError):
        job.only(s0=[(3, "", 2), (4, "", 0)])
    assert job.only(s0=[(3, "", 2)]) == [3]


def test_two_sources_meet_in_one_object() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration({"headrace.executor": "in-process"})
    )
    env.set_parallelism(1)
    switch = env.from_collection([(0, "", "on")])
    numbers = env.from_collection([(0, "", n) for n in (1, 2)])
    results = list(switch.union(switch).connect(numbers).flat_map(Swapped()).execute_and_collect())
    assert results == [1, 3]


class Swapped(Switch):
    """In the order in which the sources are named."""

    def flat_map1(self, value: Any) -> Any:
        return Switch.flat_map2(self, value)

    def flat_map2(self, value: Any) -> Any:
        return Switch.flat_map1(self, value)


def test_a_function_that_keeps_nothing_costs_no_exchange() -> None:
    assert LocalJob(lambda s: connected(s).map(Marked())).run.program.levels == 0
    assert LocalJob(lambda s: connected(s).flat_map(Switch())).run.program.levels == 1
