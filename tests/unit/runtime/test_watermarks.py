"""Where watermarks come from, and what holds them back."""

from __future__ import annotations

from typing import Any

import pytest

from headrace.common import Configuration, Duration, Time, WatermarkStrategy
from headrace.common.watermark_generator import WatermarkGenerator, WatermarkOutput
from headrace.datastream import (
    DataStream,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    StreamExecutionEnvironment,
)
from headrace.datastream.connectors.python_source import PythonSource, SourceWatermark
from headrace.datastream.window import TumblingEventTimeWindows
from headrace.runtime.local_run import LocalRun
from headrace.runtime.operators.operator import OperatorError
from headrace.runtime.parts import Part
from headrace.runtime.sinks import CollectSink
from headrace.runtime.sources import CollectionSource
from tests.unit.runtime.local_jobs import First, LocalJob


class Watermark(KeyedProcessFunction):
    """The watermark at each value, and at a timer that any advance fires."""

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        yield ctx.timer_service().current_watermark()


def watermark_behind(strategy: WatermarkStrategy, *records: Any, time: int = 0) -> int:
    """The watermark that a batch of records leaves."""

    def build(stream: DataStream) -> DataStream:
        marked = stream.assign_timestamps_and_watermarks(strategy)
        return marked.key_by(lambda value: 0).process(Watermark())

    job = LocalJob(build, out_of_orderness=None)
    job.only(time=time, s0=records)
    [watermark] = job.only(time=time, s0=[(-(10**6), "probe")])
    return int(watermark)


MIN = -(1 << 63)


def test_monotonous_and_bounded_timestamps() -> None:
    monotonous = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(First())
    assert watermark_behind(monotonous, (5, "a"), (9, "a"), (7, "a")) == 8
    bounded = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(4))
    assert watermark_behind(bounded.with_timestamp_assigner(First()), (5, "a"), (9, "a")) == 4


def test_without_watermarks_time_stands_still_whatever_came_before() -> None:
    assert watermark_behind(WatermarkStrategy.no_watermarks(), (5, "a")) == MIN

    def build(stream: DataStream) -> DataStream:
        silent = WatermarkStrategy.no_watermarks().with_timestamp_assigner(First())
        marked = stream.assign_timestamps_and_watermarks(silent)
        return marked.key_by(lambda value: 0).process(Watermark())

    job = LocalJob(build)
    job.only(s0=[(9, "a")])
    assert job.only(s0=[(9, "a")]) == [MIN]


class Punctuated(WatermarkGenerator):
    """A record that says "mark" is a watermark."""

    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        if event[1] == "mark":
            output.emit_watermark(event_timestamp)

    def on_periodic_emit(self, output: WatermarkOutput) -> None: ...


class Lagging(WatermarkGenerator):
    def __init__(self, lag: int) -> None:
        self.lag = lag
        self.newest: int | None = None

    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        self.newest = max(event_timestamp, self.newest or 0)

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        if self.newest is not None:
            output.emit_watermark(self.newest - self.lag)


def test_generators_of_ones_own() -> None:
    punctuated = WatermarkStrategy.for_generator(Punctuated).with_timestamp_assigner(First())
    assert watermark_behind(punctuated, (3, "x"), (5, "mark"), (4, "mark"), (9, "x")) == 5
    assert watermark_behind(punctuated, (3, "x")) == MIN
    lagging = WatermarkStrategy.for_generator(lambda: Lagging(20))
    assert watermark_behind(lagging.with_timestamp_assigner(First()), (50, "x"), (40, "x")) == 30


def test_a_generator_that_fails_is_named_with_its_record() -> None:
    class Broken(Punctuated):
        def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
            raise LookupError("no such thing")

    strategy = WatermarkStrategy.for_generator(Broken).with_timestamp_assigner(First())
    with pytest.raises(OperatorError, match="no such thing"):
        watermark_behind(strategy, (3, "x"))


def test_each_split_has_a_generator_of_its_own() -> None:
    strategy = WatermarkStrategy.for_generator(lambda: Lagging(0)).with_timestamp_assigner(First())
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1).set_max_parallelism(4)
    stream = env.from_source(CollectionSource(()), strategy, "test")
    stream.key_by(lambda v: 0).process(Watermark()).sink_to(CollectSink())
    program = env.compile("test")
    [source] = program.sources
    [sink] = program.sinks
    run = LocalRun(program, ["0", "1"])
    parts = [Part("0", [(None, (50, "a"))]), Part("1", [(None, (7, "a"))])]
    run.batch({source: parts})
    probe = run.batch({source: [Part("0", [(None, (1, "a"))])]})[sink]
    assert [value for _, value in probe] == [7]


def test_ingestion_time_is_the_batchs_time() -> None:
    strategy = WatermarkStrategy.for_ingestion_time()
    assert watermark_behind(strategy, "a", "b", time=1000) == 999
    windows = TumblingEventTimeWindows.of(Time.milliseconds(100))

    def build(stream: DataStream) -> DataStream:
        marked = stream.assign_timestamps_and_watermarks(strategy)
        return marked.key_by(lambda v: 0).window(windows).reduce(lambda a, b: a + b)

    job = LocalJob(build, out_of_orderness=None)
    assert job.only(time=1010, s0=["a", "b"]) == []
    assert job.only(time=1090, s0=["c"]) == []
    assert job.only(time=1100, s0=["d"]) == ["abc"]
    with pytest.raises(ValueError, match="ingestion time"):
        strategy.with_timestamp_assigner(First())


def test_a_later_strategy_replaces_an_earlier_one() -> None:
    class Second(First):
        def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
            return int(value[1]) + record_timestamp

    def build(stream: DataStream) -> DataStream:
        again = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
        marked = stream.assign_timestamps_and_watermarks(again)
        return marked.key_by(lambda value: 0).process(Watermark())

    job = LocalJob(build)
    job.only(s0=[(5, 100)])
    assert job.only(s0=[(0, 0)]) == [104]


def test_timestamps_can_be_assigned_behind_a_keyed_operator() -> None:
    def build(stream: DataStream) -> DataStream:
        sums = stream.key_by(lambda v: v[1]).reduce(lambda a, b: (b[0], b[1], a[2] + b[2]))
        again = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(First())
        windows = TumblingEventTimeWindows.of(Time.milliseconds(10))
        return (
            sums.assign_timestamps_and_watermarks(again)
            .key_by(lambda v: v[1])
            .window(windows)
            .reduce(lambda a, b: b)
        )

    job = LocalJob(build, out_of_orderness=None)
    assert job.only(s0=[(1, "a", 1), (2, "b", 1), (9, "a", 2)]) == []
    assert sorted(job.only(s0=[(10, "a", 4)])) == [(2, "b", 1), (9, "a", 3)]
    assert job.only(s0=[(3, "b", 4)]) == []  # late
    assert job.run.metrics.counters == {"numLateRecordsDropped": 1}
    assert job.only(ended=True) == [(10, "a", 7)]


def test_the_minimum_over_inputs_counts() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1).set_max_parallelism(4)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(First())
    one = env.from_source(CollectionSource(()), strategy, "one")
    two = env.from_source(CollectionSource(()), strategy, "two")
    one.union(two).key_by(lambda v: 0).process(Watermark()).sink_to(CollectSink())
    program = env.compile("test")
    first, second = program.sources
    [sink] = program.sinks
    run = LocalRun(program, ["0"])

    def probe(source: int, timestamp: int) -> list[Any]:
        return [v for _, v in run.batch({source: [Part("0", [(None, (timestamp, "a"))])]})[sink]]

    assert probe(first, 50) == [MIN]
    assert probe(first, 60) == [MIN]  # the second has not spoken
    assert probe(second, 10) == [MIN]
    assert probe(first, 70) == [9]
    assert probe(second, 90) == [9]
    assert probe(second, 90) == [69]


def test_alignment_is_taken_and_changes_no_result(caplog: pytest.LogCaptureFixture) -> None:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(First())
    aligned = strategy.with_watermark_alignment("group", Duration.of_seconds(1))
    assert aligned.alignment is not None
    assert aligned.alignment.update_interval == Duration.of_seconds(1)
    assert watermark_behind(strategy, (5, "a")) == 4
    assert not caplog.messages
    assert watermark_behind(aligned, (5, "a")) == 4
    [told] = caplog.messages
    assert "with_watermark_alignment('group') has no effect" in told
    assert __file__ in told


def test_a_source_without_timestamps_holds_time_back_until_it_has_ended() -> None:
    """As rules from a collection do beside a stream of events."""
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(First())
    untimed = WatermarkStrategy.no_watermarks()
    events = env.from_source(CollectionSource(()), strategy, "events")
    rules = env.from_source(CollectionSource(()), untimed, "rules").key_by(lambda v: v[1])
    words = env.from_collection([]).key_by(lambda v: v[1])
    ticking = events.key_by(lambda v: v[1]).connect(rules).process(Ticking())
    ticking.key_by(lambda v: "").connect(words).process(Ticking()).sink_to(CollectSink())
    program = env.compile("test")
    run = LocalRun(program, ("0",))
    first, second, third = program.sources

    def given(**told: Any) -> list[Any]:
        [values] = run.batch(**told).values()
        return [value for _, value in values]

    assert given(rows={first: [Part("0", [(None, (5, "a")), (None, (50, "a"))])]}) == []
    assert given(ended_splits=[f"{second}:0"]) == []
    assert given(ended_splits=[f"{third}:0"]) == [5]
    assert given(ended=True) == [50]


class Ticking(KeyedCoProcessFunction):
    """Numbers come out when event time has reached them."""

    def process_element1(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> None:
        number = value[0] if isinstance(value, tuple) else value
        ctx.timer_service().register_event_time_timer(number)

    def process_element2(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> None: ...

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext) -> Any:
        yield timestamp


class Speaking(PythonSource):
    """Each list is a micro-batch."""

    def __init__(self, *batches: list[Any]) -> None:
        self.batches = batches

    def start(self) -> int:
        return 0

    def latest(self, position: int) -> int:
        return min(position + 1, len(self.batches))

    def pieces(self, start: int, end: int) -> list[Any]:
        return list(self.batches[start:end])

    def read(self, piece: list[Any]) -> list[Any]:
        return piece


def test_what_a_source_says_of_time_goes_on_unless_a_strategy_counts() -> None:
    def seen(strategy: WatermarkStrategy) -> list[Any]:
        settings = Configuration({"headrace.executor": "in-process"})
        env = StreamExecutionEnvironment.get_execution_environment(settings).set_parallelism(1)
        source = Speaking(
            [(1, "a"), SourceWatermark(20)],
            [(21, "b")],
            [SourceWatermark(30), SourceWatermark(25)],
            [(31, "c")],
        )
        stream = env.from_source(source, strategy, "speaking").key_by(lambda v: 0)
        return list(stream.process(Watermark()).execute_and_collect())

    assert seen(WatermarkStrategy.no_watermarks()) == [MIN, 20, 30]
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(First())
    assert seen(strategy) == [MIN, 0, 20]
