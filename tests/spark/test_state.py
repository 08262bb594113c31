"""State and event-time timers on Spark: through crashes, restarts and another parallelism."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headrace.common import Time, Types, WatermarkStrategy
from headrace.datastream import (
    AggregateFunction,
    DataStream,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from headrace.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from headrace.datastream.window import EventTimeSessionWindows
from headrace.runtime.errors import JobFailed
from tests.spark.two_executors import (
    Batches,
    Job,
    Streams,
    assert_same,
    by_first_field,
    in_process,
    results,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("on_spark")

PARTITIONS = "spark.sql.shuffle.partitions"
RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())
ODD = OutputTag("odd")
#: (time, key, number)
Value = tuple[int, str, int]


def records(seed: int, count: int = 180, batches: int = 6) -> list[list[Value]]:
    chance = random.Random(seed)
    values = [(3 * n + chance.randrange(8), chance.choice("abcde"), n) for n in range(count)]
    size = count // batches
    return [values[at : at + size] for at in range(0, count, size)]


class Mean(AggregateFunction):
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: int, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: tuple[int, int]) -> float:
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a: tuple[int, int], acc_b: tuple[int, int]) -> tuple[int, int]:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class EveryState(KeyedProcessFunction):
    """All five kinds, each changed, read, and cleared now and then."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.value = runtime_context.get_state(ValueStateDescriptor("value", Types.INT()))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", Types.INT()))
        self.map = runtime_context.get_map_state(
            MapStateDescriptor("map", Types.INT(), Types.STRING())
        )
        self.sum = runtime_context.get_reducing_state(
            ReducingStateDescriptor("sum", lambda a, b: a + b, Types.INT())
        )
        self.mean = runtime_context.get_aggregating_state(
            AggregatingStateDescriptor("mean", Mean(), Types.PICKLED_BYTE_ARRAY())
        )

    def process_element(self, value: Value, ctx: KeyedProcessFunction.Context) -> Iterable[Any]:
        number = value[2]
        self.value.update(number)
        self.list.add_all([number, -number])
        self.map.put(number % 5, f"{number}")
        self.sum.add(number)
        self.mean.add(number)
        if number % 11 == 0:
            self.list.update([number])
            self.map.remove(number % 5)
        if number % 23 == 0:
            for state in (self.value, self.list, self.map, self.sum, self.mean):
                state.clear()
        yield value[1], number, *self._shown()

    def _shown(self) -> tuple[Any, ...]:
        entries = sorted(self.map.items())
        return self.value.value(), list(self.list), entries, self.sum.get(), self.mean.get()


class Timed(KeyedProcessFunction):
    """Timers of event time: set, set again, deleted, and set by timers."""

    def process_element(self, value: Value, ctx: KeyedProcessFunction.Context) -> Iterable[Any]:
        timers = ctx.timer_service()
        timers.register_event_time_timer(value[0] + 40)
        timers.register_event_time_timer(value[0] // 50 * 50 + 49)  # many coalesce
        if value[2] % 3 == 0:
            timers.delete_event_time_timer(value[0] + 40)
        if value[2] % 2:
            yield ODD, (value[1], value[2], ctx.timestamp())

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterable[Any]:
        if timestamp % 7 == 0:
            ctx.timer_service().register_event_time_timer(timestamp + 3)
        yield ctx.get_current_key(), timestamp, ctx.timestamp(), ctx.time_domain().name


class Numbered(MapFunction):
    """A rich function on a keyed stream, which is open to state."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def map(self, value: Value) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        return value[1], self.count.value()


class Ruled(KeyedBroadcastProcessFunction):
    def process_element(
        self, value: Value, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext
    ) -> Iterable[Any]:
        ctx.timer_service().register_event_time_timer(value[0] + 100)
        yield value[1], value[2], sorted(ctx.get_broadcast_state(RULES).items())

    def process_broadcast_element(
        self, value: Value, ctx: KeyedBroadcastProcessFunction.Context
    ) -> Iterable[Any]:
        rules = ctx.get_broadcast_state(RULES)
        rules.put(f"rule {value[2] % 4}", value[2])
        if value[2] % 50 == 0:
            rules.remove("rule 1")
        return ()

    def on_timer(
        self, timestamp: int, ctx: KeyedBroadcastProcessFunction.OnTimerContext
    ) -> Iterable[Any]:
        yield ctx.get_current_key(), timestamp, len(list(ctx.get_broadcast_state(RULES).keys()))


class Both(KeyedCoProcessFunction):
    """What each side has seen of the other."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = [
            runtime_context.get_list_state(ListStateDescriptor(f"seen {n}", Types.INT()))
            for n in range(2)
        ]

    def process_element1(self, value: Value, ctx: KeyedCoProcessFunction.Context) -> Any:
        self.seen[0].add(value[2])
        yield value[1], "left", list(self.seen[1])[-3:]

    def process_element2(self, value: Value, ctx: KeyedCoProcessFunction.Context) -> Any:
        self.seen[1].add(value[2])
        ctx.timer_service().register_event_time_timer(value[0] + 30)
        yield value[1], "right", len(list(self.seen[0]))

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext) -> Any:
        yield ctx.get_current_key(), "timer", timestamp, len(list(self.seen[1]))


def streams(stream: DataStream) -> Streams:
    keyed = stream.key_by(lambda v: v[1])
    timed = keyed.process(Timed())
    rules = stream.filter(lambda v: v[2] % 10 == 0).broadcast(RULES)
    left, right = stream.filter(lambda v: v[2] % 2 == 0), stream.filter(lambda v: v[2] % 3 == 0)
    longest = keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(20)))
    return {
        "states": keyed.process(EveryState()),
        "timers": timed,
        "odd": timed.get_side_output(ODD),
        "numbered": keyed.map(Numbered()),
        "ruled": keyed.connect(rules).process(Ruled()),
        "both": left.connect(right).key_by(lambda v: v[1], lambda v: v[1]).process(Both()),
        "reduced": keyed.reduce(lambda a, b: (b[0], b[1], a[2] + b[2])).map(lambda v: v[1:]),
        "sessions": longest.reduce(lambda a, b: (a[0], a[1], a[2] + b[2])).map(lambda v: v[1:]),
    }


class CrashOnce(MapFunction):
    """Fails at a number, unless a file says that it has done so before."""

    def __init__(self, number: int, done: Path) -> None:
        self.number = number
        self.done = done

    def map(self, value: Value) -> Value:
        if value[2] == self.number and not self.done.exists():
            self.done.touch()
            raise OSError("the plug was pulled")
        return value


class PassOn(KeyedProcessFunction):
    def process_element(self, value: Value, ctx: KeyedProcessFunction.Context) -> Iterable[Any]:
        yield value


@dataclass
class Disturbed:
    """The program of `streams`; behind a keyed operator it fails once. Of its source so many
    batches are there; None: it ends behind the last."""

    folder: Path
    there: int | None = None

    def __call__(self, env: StreamExecutionEnvironment) -> Streams:
        source = Batches(records(3)[: self.there], bounded=self.there is None)
        stream = env.from_source(source, by_first_field(12), "records")
        last = stream.key_by(lambda v: v[1]).process(PassOn())
        last = last.map(CrashOnce(131, self.folder / "crashed"))
        return {**streams(stream), "last": last.map(lambda v: (v[1], v[2]))}


def test_state_survives_a_stop_another_parallelism_and_a_crash_within_a_batch(
    tmp_path: Path, spark: SparkSession
) -> None:
    """The batch with the crash is run again, as it was planned; each record counts once."""
    (tmp_path / "here" / "crashed").mkdir(parents=True)
    expected = in_process(Disturbed(tmp_path / "here"), tmp_path / "here")
    job = Job(Disturbed(tmp_path, there=2), tmp_path / "spark")

    job.run_until(lambda found: len(found.get("numbered", ())) == 60)
    given = job.collected
    job.build = Disturbed(tmp_path)
    with parallelism(job, spark, 3), pytest.raises(JobFailed, match="the plug was pulled"):
        job.run()
    given = given + job.collected
    assert job.offsets.planned is not None
    assert job.offsets.partitions(job.offsets.planned) == 3
    with parallelism(job, spark, 1):  # the start after this one may: a batch has to be run again
        job.run()

    assert_same(results(given + job.collected), results(expected.collected))
    assert job.offsets.partitions(job.offsets.planned) == 3


@contextmanager
def parallelism(job: Job, spark: SparkSession, number: int) -> Iterator[None]:
    """What a start with so many slots sets."""
    before = spark.conf.get(PARTITIONS)
    spark.conf.set(PARTITIONS, number)
    job.parallelism = number
    yield
    spark.conf.set(PARTITIONS, before)


class Living(KeyedProcessFunction):
    """State that lives an hour beside state that lives a millisecond: batches are further apart."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.states = [self._states(runtime_context, ttl) for ttl in (3_600_000, 1)]

    def _states(self, context: RuntimeContext, ttl: int) -> tuple[Any, Any, Any, Any, Any]:
        config = StateTtlConfig.new_builder(Time.milliseconds(ttl)).build()
        value = ValueStateDescriptor(f"value {ttl}", Types.INT())
        list_ = ListStateDescriptor(f"list {ttl}", Types.INT())
        map_ = MapStateDescriptor(f"map {ttl}", Types.INT(), Types.INT())
        sum_ = ReducingStateDescriptor(f"sum {ttl}", lambda a, b: a + b, Types.INT())
        mean = AggregatingStateDescriptor(f"mean {ttl}", Mean(), Types.PICKLED_BYTE_ARRAY())
        for descriptor in (value, list_, map_, sum_, mean):
            descriptor.enable_time_to_live(config)
        return (
            context.get_state(value),
            context.get_list_state(list_),
            context.get_map_state(map_),
            context.get_reducing_state(sum_),
            context.get_aggregating_state(mean),
        )

    def process_element(self, number: int, ctx: KeyedProcessFunction.Context) -> Iterable[Any]:
        yield "key", number, *(self._next(number, *states) for states in self.states)

    def _next(self, number: int, value: Any, list_: Any, map_: Any, sum_: Any, mean: Any) -> Any:
        before = value.value()
        value.update(number)
        list_.add(number)
        map_.put(number, number)
        sum_.add(number)
        mean.add(number)
        return before, list(list_), sorted(map_.keys()), sum_.get(), mean.get()


def test_state_lives_as_long_as_it_was_given(tmp_path: Path) -> None:
    """Each batch has one number; the clock has moved on between them."""

    def build(env: StreamExecutionEnvironment) -> Streams:
        stream = env.from_source(
            Batches([[1], [2], [3]]), WatermarkStrategy.no_watermarks(), "numbers"
        )
        return {"lived": stream.key_by(lambda v: 0).process(Living())}

    found = Job(build, tmp_path).run()

    assert found["lived"] == [
        ("key", 1, (None, [1], [1], 1, 1.0), (None, [1], [1], 1, 1.0)),
        ("key", 2, (1, [1, 2], [1, 2], 3, 1.5), (None, [2], [2], 2, 2.0)),
        ("key", 3, (2, [1, 2, 3], [1, 2, 3], 6, 2.0), (None, [3], [3], 3, 3.0)),
    ]
