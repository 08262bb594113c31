"""Programs that run on Spark and in this process: each gives streams by name, whose values are
compared."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from headrace.common import (
    Configuration,
    Duration,
    Row,
    Time,
    TimestampAssigner,
    Types,
    WatermarkStrategy,
)
from headrace.datastream import (
    AggregateFunction,
    AsyncDataStream,
    AsyncFunction,
    AsyncRetryStrategy,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoGroupFunction,
    CoMapFunction,
    DataStream,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    Partitioner,
    ProcessFunction,
    ProcessJoinFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from headrace.datastream.async_retry_predicates import exception_type_predicate
from headrace.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from headrace.datastream.connectors.python_source import PythonSource, Timestamped
from headrace.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from headrace.datastream.window import TumblingEventTimeWindows

Streams = dict[str, DataStream]
NONE = WatermarkStrategy.no_watermarks()


def environment(executor: str, parallelism: int = 2) -> StreamExecutionEnvironment:
    settings = Configuration({"headrace.executor": executor})
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    return env.set_parallelism(parallelism).set_max_parallelism(8)


def results(build: Callable[[StreamExecutionEnvironment], Streams], executor: str) -> Any:
    """All values of each stream of one job, in a fixed order."""
    streams = [Named.of(stream, name) for name, stream in build(environment(executor)).items()]
    found: defaultdict[str, list[Any]] = defaultdict(list)
    with streams[0].union(*streams[1:]).execute_and_collect() as values:
        for name, value in values:
            found[name].append(value)
    return {name: sorted(values, key=repr) for name, values in found.items()}


class Named(MapFunction):
    """Puts the stream's name to its values."""

    def __init__(self, name: str) -> None:
        self.name = name

    def map(self, value: Any) -> Any:
        return self.name, value

    @classmethod
    def of(cls, stream: DataStream, name: str) -> DataStream:
        return stream.map(cls(name)).name(name)


# --- one stream


def single(env: StreamExecutionEnvironment) -> Streams:
    """Functions, keys, aggregations, state, side outputs, async I/O and loops on one stream."""
    words = env.from_collection(
        [("to", 2, 0.1), ("be", 1, 0.2), ("or", 3, 0.3), ("not", 4, 0.4), ("to", 5, 0.5)],
        Types.TUPLE([Types.STRING(), Types.INT(), Types.FLOAT()]),
    )
    numbers = env.from_sequence(1, 40)
    split = numbers.process(Split(), Types.LONG())
    keyed = words.key_by(lambda word: word[0])
    return {
        "map": words.map(lambda word: Row(word[0], word[1] * 2)),
        "flat_map": words.flat_map(lambda word: [word[0]] * word[1], Types.STRING()),
        "filter": numbers.filter(lambda n: n % 7 == 0),
        "project": words.project(2, 0),
        "sum": keyed.sum(1),
        "max_by": words.key_by(lambda word: len(word[0])).max_by(1),
        "by field": words.map(
            lambda word: Row(name=word[0], size=word[1]),
            Types.ROW_NAMED(["name", "size"], [Types.STRING(), Types.INT()]),
        )
        .key_by(lambda row: row.name)
        .min("size"),
        "dataclass": words.map(Word.of, Types.OF(Word)).key_by("text").reduce(Word.longer),
        "count": keyed.count_window(2).reduce(lambda a, b: (a[0], a[1] + b[1], a[2])),
        "state": keyed.process(AllStates()),
        "main": split,
        "side": split.get_side_output(ODD),
        "async": AsyncDataStream.ordered_wait(numbers, Doubled(), Time.seconds(60), 5),
        "retried": AsyncDataStream.unordered_wait_with_retry(
            numbers, Flaky(), Time.seconds(60), TRY_AGAIN, 3
        ),
        "timed out": AsyncDataStream.unordered_wait(
            numbers.filter(lambda n: n < 3), Never(), Time.milliseconds(20)
        ),
        "loop": collatz(numbers.filter(lambda n: n in (6, 7, 9))),
        "generated": env.from_source(
            DataGeneratorSource(lambda n: n * n, 12, RateLimiterStrategy.per_checkpoint(5)),
            NONE,
            "squares",
        ),
    }


ODD = OutputTag("odd", Types.STRING())


class Split(ProcessFunction):
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Iterable[Any]:
        yield value
        if value % 2:
            yield ODD, f"odd {value}"


@dataclass(frozen=True)
class Word:
    text: str
    size: int

    @staticmethod
    def of(word: Any) -> Word:
        return Word(word[0], word[1])

    @staticmethod
    def longer(one: Word, other: Word) -> Word:
        return max(one, other, key=lambda word: word.size)


class AllStates(KeyedProcessFunction):
    """What each kind of state holds behind a value."""

    def open(self, runtime_context: RuntimeContext) -> None:
        kind = Types.INT()
        self.value = runtime_context.get_state(ValueStateDescriptor("value", kind))
        self.all = runtime_context.get_list_state(ListStateDescriptor("list", kind))
        self.by_size = runtime_context.get_map_state(MapStateDescriptor("map", kind, kind))
        self.most = runtime_context.get_reducing_state(ReducingStateDescriptor("most", max, kind))
        self.mean = runtime_context.get_aggregating_state(
            AggregatingStateDescriptor("mean", Mean(), Types.PICKLED_BYTE_ARRAY())
        )

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterable[Any]:
        word, size, _ = value
        self.value.update((self.value.value() or 0) + size)
        self.all.add(size)
        self.by_size.put(size, len(word))
        self.most.add(size)
        self.mean.add(size)
        states = self.value.value(), list(self.all.get()), sorted(self.by_size.items())
        yield ctx.get_current_key(), *states, self.most.get(), self.mean.get()


class Mean(AggregateFunction):
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: int, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: tuple[int, int]) -> float:
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a: tuple[int, int], acc_b: tuple[int, int]) -> tuple[int, int]:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


AWAY = partial(exception_type_predicate, expected_error_type=ConnectionError)
TRY_AGAIN = AsyncRetryStrategy.fixed_delay(5, 1, None, AWAY)


class Doubled(AsyncFunction):
    async def async_invoke(self, value: int) -> list[int]:
        await asyncio.sleep(0.002 * (value % 3))
        return [value * 2]


class Flaky(AsyncFunction):
    """Fails once for every third value."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.failed: set[int] = set()

    async def async_invoke(self, value: int) -> list[str]:
        if value % 3 == 0 and value not in self.failed:
            self.failed.add(value)
            raise ConnectionError("try again")
        return [f"got {value}"]


class Never(AsyncFunction):
    async def async_invoke(self, value: int) -> list[int]:
        await asyncio.Event().wait()
        return []

    def timeout(self, value: int) -> list[str]:
        return [f"{value} took too long"]


def collatz(numbers: DataStream) -> DataStream:
    """(number, steps to 1)"""
    loop = numbers.map(lambda n: (n, n, 0)).iterate()
    running = loop.filter(lambda v: v[1] != 1)
    loop.close_with(
        running.map(lambda v: (v[0], v[1] // 2 if v[1] % 2 == 0 else 3 * v[1] + 1, v[2] + 1))
    )
    return loop.filter(lambda v: v[1] == 1).map(lambda v: (v[0], v[2]))


# --- two streams


def double(env: StreamExecutionEnvironment) -> Streams:
    """Connected, joined, co-grouped and broadcast streams, in event time."""
    orders = env.from_source(Events(ORDERS), in_order(), "orders")
    payments = env.from_source(Events(PAYMENTS), in_order(), "payments")
    rules = env.from_collection([("de", 2), ("fr", 3)])
    both = orders.connect(payments)
    keyed_both = both.key_by(lambda order: order[0], lambda payment: payment[0])
    window = TumblingEventTimeWindows.of(Time.seconds(10))
    paid = matched(orders, payments)
    return {
        "co_map": both.map(Marked()),
        "co_flat_map": keyed_both.flat_map(Counted()),
        "co_process": paid,
        "unpaid": paid.get_side_output(UNPAID),
        "join": orders.join(payments)
        .where(lambda order: order[0])
        .equal_to(lambda payment: payment[0])
        .window(window)
        .apply(lambda order, payment: (order[0], order[2], payment[2])),
        "co_group": orders.co_group(payments)
        .where(lambda order: order[1])
        .equal_to(lambda payment: payment[1])
        .window(window)
        .apply(Sizes()),
        "interval": orders.key_by(lambda order: order[0])
        .interval_join(payments.key_by(lambda payment: payment[0]))
        .between(Time.seconds(0), Time.seconds(5))
        .process(Took()),
        "broadcast": orders.connect(rules.broadcast(RULES)).process(Priced()),
        "keyed broadcast": orders.key_by(lambda order: order[0])
        .connect(rules.broadcast(RULES))
        .process(KeyedPriced()),
        "union": orders.union(payments).map(lambda each: each[2]),
        "window_all": orders.window_all(window).reduce(lambda a, b: (*a[:2], a[2] + b[2])),
    }


def matched(orders: DataStream, payments: DataStream) -> DataStream:
    both = orders.connect(payments)
    return both.key_by(lambda order: order[0], lambda payment: payment[0]).process(Unpaid())


#: (id, country, amount), each at a second of event time
ORDERS = [(1, ("a", "de", 10)), (3, ("b", "fr", 20)), (11, ("c", "de", 30)), (25, ("d", "it", 40))]
PAYMENTS = [(4, ("a", "de", 10)), (12, ("c", "de", 25)), (13, ("c", "de", 5)), (40, ("b", "fr", 9))]
RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())
UNPAID = OutputTag("unpaid")


def in_order() -> WatermarkStrategy:
    """The source's own times."""
    return WatermarkStrategy.for_bounded_out_of_orderness(
        Duration.of_seconds(1)
    ).with_timestamp_assigner(Own())


class Own(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return record_timestamp


class Events(PythonSource):
    """Values of a list with their seconds, two in each micro-batch."""

    def __init__(self, events: Sequence[tuple[int, Any]]) -> None:
        self.events = events

    def start(self) -> dict[str, int]:
        return {"read": 0}

    def latest(self, position: dict[str, int]) -> dict[str, int]:
        return {"read": min(position["read"] + 2, len(self.events))}

    def pieces(self, start: dict[str, int], end: dict[str, int]) -> list[Any]:
        return list(self.events[start["read"] : end["read"]])

    def read(self, piece: Any) -> Iterable[Timestamped]:
        yield Timestamped(piece[1], piece[0] * 1000)


class Marked(CoMapFunction):
    def map1(self, value: Any) -> Any:
        return "order", value[0]

    def map2(self, value: Any) -> Any:
        return "payment", value[0] if value[2] > 5 else None


class Counted(CoFlatMapFunction):
    """The number of a key's payments, at each order's end."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.INT()))

    def flat_map1(self, value: Any) -> Iterable[Any]:
        return [("ordered", value[0])] * (value[2] // 10)

    def flat_map2(self, value: Any) -> Iterable[Any]:
        self.total.update((self.total.value() or 0) + value[2])
        yield "paid", value[0], self.total.value()


class Unpaid(KeyedCoProcessFunction):
    """What is paid of an order; what is still open ten seconds later goes to a side output."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.open_amount = runtime_context.get_state(ValueStateDescriptor("open", Types.INT()))

    def process_element1(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> Iterable[Any]:
        self.open_amount.update((self.open_amount.value() or 0) + value[2])
        timestamp = ctx.timestamp()
        assert timestamp is not None
        ctx.timer_service().register_event_time_timer(timestamp + 10_000)
        return ()

    def process_element2(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> Iterable[Any]:
        self.open_amount.update((self.open_amount.value() or 0) - value[2])
        yield "paid", ctx.get_current_key(), value[2]

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext) -> Iterable[Any]:
        left = self.open_amount.value()
        yield ("settled" if left == 0 else "open"), ctx.get_current_key(), timestamp
        if left:
            yield UNPAID, (ctx.get_current_key(), left)


class Sizes(CoGroupFunction):
    def co_group(self, first: list[Any], second: list[Any]) -> Iterable[Any]:
        yield sorted(each[2] for each in first), sorted(each[2] for each in second)


class Took(ProcessJoinFunction):
    def process_element(
        self, left: Any, right: Any, ctx: ProcessJoinFunction.Context
    ) -> Iterable[Any]:
        yield left[0], ctx.get_right_timestamp() - ctx.get_left_timestamp()


class Priced(BroadcastProcessFunction):
    def process_element(
        self, value: Any, ctx: BroadcastProcessFunction.ReadOnlyContext
    ) -> Iterable[Any]:
        rules = ctx.get_broadcast_state(RULES)
        yield value[0], value[2] * (rules.get(value[1]) or 1)

    def process_broadcast_element(self, value: Any, ctx: BroadcastProcessFunction.Context) -> None:
        ctx.get_broadcast_state(RULES).put(*value)


class KeyedPriced(KeyedBroadcastProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.INT()))

    def process_element(
        self, value: Any, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext
    ) -> Iterable[Any]:
        self.seen.update((self.seen.value() or 0) + 1)
        timestamp = ctx.timestamp()
        assert timestamp is not None
        ctx.timer_service().register_event_time_timer(timestamp)
        yield ctx.get_current_key(), dict(ctx.get_broadcast_state(RULES).items()).get(value[1])

    def process_broadcast_element(
        self, value: Any, ctx: KeyedBroadcastProcessFunction.Context
    ) -> Iterable[Any]:
        ctx.get_broadcast_state(RULES).put(*value)
        return ()

    def on_timer(
        self, timestamp: int, ctx: KeyedBroadcastProcessFunction.OnTimerContext
    ) -> Iterable[Any]:
        yield ctx.get_current_key(), self.seen.value(), timestamp


# --- subtasks


def spread(env: StreamExecutionEnvironment) -> Streams:
    """Where each partitioning sends its values, and what functions know of their subtask."""
    numbers = env.from_collection(list(range(20)))
    return {
        "rebalance": numbers.rebalance().map(Subtask()),
        "rescale": numbers.rescale().map(Subtask()),
        "shuffle": numbers.shuffle().map(Subtask()),
        "global": numbers.global_().map(Subtask()),
        "broadcast": numbers.broadcast().map(Subtask()),
        "custom": numbers.partition_custom(Modulo(), lambda n: n).map(Subtask()),
        "forward": numbers.forward().map(lambda n: n),
    }


class Modulo(Partitioner):
    def partition(self, key: Any, num_partitions: int) -> int:
        return int(key) % num_partitions


class Subtask(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.index = runtime_context.get_index_of_this_subtask()
        self.of = runtime_context.get_number_of_parallel_subtasks()

    def map(self, value: Any) -> Any:
        return f"{self.index}/{self.of}", value
