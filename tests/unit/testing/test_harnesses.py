"""What tests of users' functions can see and move."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from headrace.common import Types
from headrace.datastream import (
    CoProcessFunction,
    FlatMapFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
    RuntimeContext,
)
from headrace.datastream.state import ValueStateDescriptor
from headrace.runtime.errors import JobFailed
from headrace.testing import (
    JobHarness,
    KeyedOneInputStreamOperatorTestHarness,
    OneInputStreamOperatorTestHarness,
    ProcessFunctionTestHarnesses,
    StreamRecord,
    Watermark,
)

SHORT = OutputTag("short", Types.STRING())


class Count(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(
        self, value: Any, ctx: KeyedProcessFunction.Context
    ) -> Iterable[Any] | None:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        ctx.timer_service().register_processing_time_timer(1000)
        yield ctx.get_current_key(), count
        if len(value) < 2:
            yield SHORT, value

    def on_timer(
        self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext
    ) -> Iterable[Any] | None:
        yield "timer", ctx.get_current_key(), timestamp


def counting() -> KeyedOneInputStreamOperatorTestHarness:
    return ProcessFunctionTestHarnesses.for_keyed_process_function(
        Count(), lambda word: word[0], Types.STRING(), side_outputs=(SHORT,)
    )


def test_records_watermarks_and_side_outputs_are_seen_in_order() -> None:
    with counting() as harness:
        harness.process_element("ab", 10)
        harness.process_watermark(10)
        harness.process_element(StreamRecord("a", 11))
        harness.process_watermark(Watermark(9))  # never goes back
        assert harness.get_output() == [
            StreamRecord(("a", 1), 10),
            Watermark(10),
            StreamRecord(("a", 2), 11),
        ]
        assert harness.get_side_output(SHORT) == [StreamRecord("a", 11)]
        assert harness.get_side_output(SHORT) == []


def test_a_tag_that_nobody_collects_is_named() -> None:
    with pytest.raises(KeyError, match="name 'other' in side_outputs"):
        counting().get_side_output(OutputTag("other"))


def test_processing_time_stands_until_it_is_moved() -> None:
    with counting() as harness:
        harness.process_elements("ab", "ba")
        harness.set_processing_time(999)
        assert harness.extract_output_values() == [("a", 1), ("b", 1)]
        harness.set_processing_time(1000)
        assert harness.extract_output_values()[2:] in (
            [("timer", "a", 1000), ("timer", "b", 1000)],
            [("timer", "b", 1000), ("timer", "a", 1000)],
        )
        assert harness.get_processing_time() == 1000
        with pytest.raises(ValueError, match="cannot go back"):
            harness.set_processing_time(1)


def test_state_goes_from_one_harness_to_the_next() -> None:
    with counting() as harness:
        harness.process_elements("ab", "ac")
        snapshot = harness.snapshot()
        harness.process_element("ad")
    with counting() as restored:
        restored.initialize_state(snapshot)
        restored.process_element("ae")
        assert restored.extract_output_values() == [("a", 3)]


def test_functions_without_a_key() -> None:
    class Upper(MapFunction):
        def map(self, value: Any) -> Any:
            return value.upper()

    class Split(FlatMapFunction):
        def flat_map(self, value: Any) -> Iterable[Any] | None:
            return value.split()

    class Both(ProcessFunction):
        def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Iterable[Any] | None:
            yield value
            yield SHORT, ctx.timestamp()

    for function, result in ((Upper(), ["A B"]), (Split(), ["a", "b"])):
        with OneInputStreamOperatorTestHarness(function) as harness:
            harness.process_element("a b", 5)
            assert harness.extract_output_values() == result
            assert {each.timestamp for each in harness.extract_output_stream_records()} == {5}
    both = ProcessFunctionTestHarnesses.for_process_function(Both(), side_outputs=(SHORT,))
    both.process_element("a", 7)
    assert both.get_side_output(SHORT) == [StreamRecord(7, 7)]


def test_the_watermark_of_two_inputs_is_the_smaller_one() -> None:
    class Sides(KeyedCoProcessFunction):
        def process_element1(
            self, value: Any, ctx: KeyedCoProcessFunction.Context
        ) -> Iterable[Any] | None:
            ctx.timer_service().register_event_time_timer(value)
            return None

        def process_element2(
            self, value: Any, ctx: KeyedCoProcessFunction.Context
        ) -> Iterable[Any] | None:
            yield "second", value

        def on_timer(
            self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext
        ) -> Iterable[Any] | None:
            yield "timer", timestamp

    harness = ProcessFunctionTestHarnesses.for_keyed_co_process_function(
        Sides(), lambda _: 0, lambda _: 0
    )
    with harness:
        harness.process_element1(100, 1)
        harness.process_element2(5, 2)
        harness.process_watermark1(100)
        assert harness.get_output() == [StreamRecord(("second", 5), 2)]
        harness.process_watermark2(200)
        assert harness.get_output()[1:] == [StreamRecord(("timer", 100), 100), Watermark(100)]
        harness.process_both_watermarks(300)
        assert harness.get_output()[-1] == Watermark(300)


def test_two_inputs_without_a_key() -> None:
    class Either(CoProcessFunction):
        def process_element1(
            self, value: Any, ctx: CoProcessFunction.Context
        ) -> Iterable[Any] | None:
            yield 1, value

        def process_element2(
            self, value: Any, ctx: CoProcessFunction.Context
        ) -> Iterable[Any] | None:
            yield 2, value

    with ProcessFunctionTestHarnesses.for_co_process_function(Either()) as harness:
        harness.process_element2("b")
        harness.process_element1("a")
        assert harness.extract_output_values() == [(2, "b"), (1, "a")]


def test_an_error_names_operator_and_value() -> None:
    with OneInputStreamOperatorTestHarness(lambda s: s.map(lambda n: 1 // n).name("Half")) as half:
        half.process_element(1)
        with pytest.raises(JobFailed, match="'Half' failed on 0: ZeroDivisionError"):
            half.process_element(0)


def test_sources_end_one_by_one() -> None:
    with JobHarness() as job:
        first, second = job.source("first"), job.source("second")
        fired = job.collect(first.stream.union(second.stream).key_by(len).process(Waiting()))
        first.push("a", timestamp=1)
        first.advance_watermark(50)
        assert fired.take() == []
        second.end()
        assert fired.take() == [10]
        job.end()
        assert fired.take() == []
        assert job.counters() == {"waits": 1}


class Waiting(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.waits = runtime_context.get_metrics_group().counter("waits")

    def process_element(
        self, value: Any, ctx: KeyedProcessFunction.Context
    ) -> Iterable[Any] | None:
        self.waits.inc()
        ctx.timer_service().register_event_time_timer(10)
        return None

    def on_timer(
        self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext
    ) -> Iterable[Any] | None:
        yield timestamp


def test_a_value_must_fit_the_sources_type() -> None:
    numbers = JobHarness().source("numbers", Types.INT())
    with pytest.raises(TypeError, match="'x', which is no INT"):
        numbers.push("x")


def test_outputs_are_collected_before_the_first_value() -> None:
    job = JobHarness()
    source = job.source()
    job.collect(source.stream)
    source.push(1)
    with pytest.raises(RuntimeError, match="before the first value"):
        job.collect(source.stream)
