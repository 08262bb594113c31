"""One function in a test, as Flink's operator test harnesses have it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from headrace.common.typeinfo import TypeInformation
from headrace.datastream.data_stream import DataStream
from headrace.datastream.functions import (
    FilterFunction,
    FlatMapFunction,
    MapFunction,
    ReduceFunction,
)
from headrace.datastream.output_tag import OutputTag
from headrace.runtime.local_run import Snapshot
from headrace.testing.job_harness import JobHarness, Output, TestSource


@dataclass(frozen=True)
class StreamRecord:
    """A value with its event time."""

    value: Any
    timestamp: int | None = None


@dataclass(frozen=True)
class Watermark:
    """How far event time had come."""

    timestamp: int


#: A function of the job's author, or what builds a stream from one.
Operator = Any


class _Harness:
    """What the harnesses share. `side_outputs` are the tags that the test wants to look at."""

    def __init__(self, side_outputs: tuple[OutputTag, ...]) -> None:
        self._job = JobHarness()
        self._tags = side_outputs
        self._output: list[StreamRecord | Watermark] = []
        self._sides: dict[str, Output] = {}
        self._watermarks: dict[int, int] = {}

    def _collect(self, stream: DataStream) -> None:
        self._main = self._job.collect(stream)
        for tag in self._tags:
            self._sides[tag.tag_id] = self._job.collect(stream.get_side_output(tag))

    def open(self) -> None:
        """Compile the operator; done by the first element as well. Raises GraphError."""
        self._job.snapshot()

    def close(self) -> None:
        self._job.close()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- time

    def set_processing_time(self, time: int) -> None:
        """ms; due timers fire."""
        self._job.set_processing_time(time)
        self._take()

    def get_processing_time(self) -> int:
        return self._job.processing_time

    def end_input(self) -> None:
        """All input has ended: event time goes to its end."""
        self._job.end()
        self._take()

    # --- results

    def get_output(self) -> list[StreamRecord | Watermark]:
        """Everything sent so far, watermarks between what came before and after them."""
        return self._output

    def extract_output_values(self) -> list[Any]:
        return [each.value for each in self._output if isinstance(each, StreamRecord)]

    def extract_output_stream_records(self) -> list[StreamRecord]:
        return [each for each in self._output if isinstance(each, StreamRecord)]

    def get_side_output(self, tag: OutputTag) -> list[StreamRecord]:
        """What came to a side output since the last call."""
        if tag.tag_id not in self._sides:
            raise KeyError(f"name {tag.tag_id!r} in side_outputs when the harness is made")
        return [
            StreamRecord(value, timestamp)
            for timestamp, value in self._sides[tag.tag_id].take_with_timestamps()
        ]

    # --- state

    def snapshot(self) -> Snapshot:
        """For `initialize_state`, of this harness or a new one of the same function."""
        return self._job.snapshot()

    def initialize_state(self, snapshot: Snapshot) -> None:
        self._job.restore(snapshot)

    def state_entries(self) -> int:
        """Entries in the state's stores, timers included."""
        return self._job.state_entries()

    def _watermark(self, source: TestSource, number: int, timestamp: int, inputs: int) -> None:
        before = self._lowest(inputs)
        self._watermarks[number] = max(timestamp, self._watermarks.get(number, timestamp))
        source.advance_watermark(timestamp)
        self._take()
        now = self._lowest(inputs)
        if now is not None and now != before:
            self._output.append(Watermark(now))

    def _lowest(self, inputs: int) -> int | None:
        known = self._watermarks.values()
        return min(known) if len(known) == inputs else None

    def _take(self) -> None:
        self._output += [
            StreamRecord(value, timestamp) for timestamp, value in self._main.take_with_timestamps()
        ]


class OneInputStreamOperatorTestHarness(_Harness):
    """A function on a stream that is not keyed, or any function from a DataStream to one."""

    def __init__(
        self,
        operator: Operator,
        *,
        type_info: TypeInformation | None = None,
        side_outputs: tuple[OutputTag, ...] = (),
    ) -> None:
        super().__init__(side_outputs)
        self._source = self._job.source("input", type_info)
        self._collect(applied(self._input(self._source.stream), operator))

    def _input(self, stream: DataStream) -> DataStream:
        return stream

    def process_element(self, value: Any, timestamp: int | None = None) -> None:
        """A value, or a StreamRecord."""
        record = value if isinstance(value, StreamRecord) else StreamRecord(value, timestamp)
        self._source.push(record.value, timestamp=record.timestamp)
        self._take()

    def process_elements(self, *values: Any) -> None:
        for value in values:
            self.process_element(value)

    def process_watermark(self, timestamp: int | Watermark) -> None:
        at = timestamp.timestamp if isinstance(timestamp, Watermark) else timestamp
        self._watermark(self._source, 1, at, 1)


class KeyedOneInputStreamOperatorTestHarness(OneInputStreamOperatorTestHarness):
    """A function on a keyed stream, or any function from a KeyedStream to a stream: as
    `lambda keyed: keyed.window(...).aggregate(...)`."""

    def __init__(
        self,
        operator: Operator,
        key_selector: Any,
        key_type: TypeInformation | None = None,
        *,
        type_info: TypeInformation | None = None,
        side_outputs: tuple[OutputTag, ...] = (),
    ) -> None:
        self._key = key_selector, key_type
        super().__init__(operator, type_info=type_info, side_outputs=side_outputs)

    def _input(self, stream: DataStream) -> DataStream:
        return stream.key_by(*self._key)


class TwoInputStreamOperatorTestHarness(_Harness):
    """A function on two connected streams."""

    def __init__(
        self,
        operator: Operator,
        *,
        side_outputs: tuple[OutputTag, ...] = (),
    ) -> None:
        super().__init__(side_outputs)
        self._sources = self._job.source("input 1"), self._job.source("input 2")
        first, second = (source.stream for source in self._sources)
        self._collect(applied_to_both(self._connected(first, second), operator))

    def _connected(self, first: DataStream, second: DataStream) -> Any:
        return first.connect(second)

    def process_element1(self, value: Any, timestamp: int | None = None) -> None:
        self._process(0, value, timestamp)

    def process_element2(self, value: Any, timestamp: int | None = None) -> None:
        self._process(1, value, timestamp)

    def process_watermark1(self, timestamp: int) -> None:
        self._watermark(self._sources[0], 1, timestamp, 2)

    def process_watermark2(self, timestamp: int) -> None:
        self._watermark(self._sources[1], 2, timestamp, 2)

    def process_both_watermarks(self, timestamp: int) -> None:
        self.process_watermark1(timestamp)
        self.process_watermark2(timestamp)

    def _process(self, input_: int, value: Any, timestamp: int | None) -> None:
        record = value if isinstance(value, StreamRecord) else StreamRecord(value, timestamp)
        self._sources[input_].push(record.value, timestamp=record.timestamp)
        self._take()


class KeyedTwoInputStreamOperatorTestHarness(TwoInputStreamOperatorTestHarness):
    """A function on two connected keyed streams."""

    def __init__(
        self,
        operator: Operator,
        key_selector1: Any,
        key_selector2: Any,
        *,
        side_outputs: tuple[OutputTag, ...] = (),
    ) -> None:
        self._keys = key_selector1, key_selector2
        super().__init__(operator, side_outputs=side_outputs)

    def _connected(self, first: DataStream, second: DataStream) -> Any:
        return first.connect(second).key_by(*self._keys)


class ProcessFunctionTestHarnesses:
    """Flink's shortcuts."""

    @staticmethod
    def for_process_function(
        function: Any, *, side_outputs: tuple[OutputTag, ...] = ()
    ) -> OneInputStreamOperatorTestHarness:
        return OneInputStreamOperatorTestHarness(function, side_outputs=side_outputs)

    @staticmethod
    def for_keyed_process_function(
        function: Any,
        key_selector: Any,
        key_type: TypeInformation | None = None,
        *,
        side_outputs: tuple[OutputTag, ...] = (),
    ) -> KeyedOneInputStreamOperatorTestHarness:
        return KeyedOneInputStreamOperatorTestHarness(
            function, key_selector, key_type, side_outputs=side_outputs
        )

    @staticmethod
    def for_co_process_function(
        function: Any, *, side_outputs: tuple[OutputTag, ...] = ()
    ) -> TwoInputStreamOperatorTestHarness:
        return TwoInputStreamOperatorTestHarness(function, side_outputs=side_outputs)

    @staticmethod
    def for_keyed_co_process_function(
        function: Any,
        key_selector1: Any,
        key_selector2: Any,
        *,
        side_outputs: tuple[OutputTag, ...] = (),
    ) -> KeyedTwoInputStreamOperatorTestHarness:
        return KeyedTwoInputStreamOperatorTestHarness(
            function, key_selector1, key_selector2, side_outputs=side_outputs
        )


def applied(stream: Any, operator: Operator) -> DataStream:
    """The stream behind a function of any kind."""
    kinds: list[tuple[Any, Callable[[Any], DataStream]]] = [
        (MapFunction, stream.map),
        (FlatMapFunction, stream.flat_map),
        (FilterFunction, stream.filter),
        (ReduceFunction, getattr(stream, "reduce", stream.process)),
    ]
    for kind, apply in kinds:
        if isinstance(operator, kind):
            return apply(operator)
    if hasattr(operator, "process_element"):
        return stream.process(operator)  # type: ignore[no-any-return]
    return operator(stream)  # type: ignore[no-any-return]


def applied_to_both(streams: Any, operator: Operator) -> DataStream:
    for method, apply in (
        ("map1", streams.map),
        ("flat_map1", streams.flat_map),
        ("process_element1", streams.process),
    ):
        if hasattr(operator, method):
            return apply(operator)  # type: ignore[no-any-return]
    return operator(streams)  # type: ignore[no-any-return]
