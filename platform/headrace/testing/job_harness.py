"""A graph of streams in one process, fed and clocked by a test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from headrace.common.configuration import Configuration
from headrace.common.type_hints import type_of
from headrace.common.typeinfo import TypeInformation, Types
from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.datastream.connectors.base import Source
from headrace.datastream.data_stream import DataStream
from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment
from headrace.runtime.errors import from_error
from headrace.runtime.frames import MAX_WATERMARK, MIN_WATERMARK
from headrace.runtime.local_run import LocalRun, Snapshot
from headrace.runtime.operators.operator import Element
from headrace.runtime.parts import Part
from headrace.runtime.program import Program
from headrace.runtime.sinks import CollectSink
from headrace.runtime.transformations import SinkTransformation, Transformation
from headrace.runtime.watermarks import ANY

SPLIT = "0"


class _GivenByTest(Source):
    """Its values are handed to the run directly, with timestamps or without."""

    described = "test"


class TestSource:
    """Where a test puts values in. Made by `JobHarness.source`."""

    __test__ = False  # for pytest

    def __init__(self, harness: JobHarness, stream: DataStream, node: Transformation) -> None:
        self._harness = harness
        self._node = node
        self._type = type_of(stream.get_type())
        #: What the job under test reads.
        self.stream = stream

    def push(self, *values: Any, timestamp: int | None = None) -> None:
        """One value after the other, each a micro-batch of its own, as Flink would take them."""
        for value in values:
            self.push_batch([(value, timestamp)])

    def push_batch(self, values: Iterable[tuple[Any, int | None]]) -> None:
        """Values with their event times, in one micro-batch, as they come on Spark."""
        kind = self._type or Types.PICKLED_BYTE_ARRAY()
        elements = [(timestamp, kind.check(value)) for value, timestamp in values]
        self._harness._take(self._node, elements)

    def advance_watermark(self, timestamp: int) -> None:
        """Event time of this source has come to `timestamp`: due timers fire, windows close."""
        self._harness._advance_watermark(self._node, timestamp)

    def end(self) -> None:
        """Nothing more comes from this source."""
        self._harness._end_source(self._node)


class Output:
    """What a stream has sent since the test looked last."""

    def __init__(self) -> None:
        self._elements: list[Element] = []

    def take(self) -> list[Any]:
        """The values, in order; the next call gives those that came since."""
        return [value for _, value in self.take_with_timestamps()]

    def take_with_timestamps(self) -> list[Element]:
        """(timestamp or None, value)."""
        taken, self._elements = self._elements, []
        return taken

    def _add(self, elements: Iterable[Element]) -> None:
        self._elements += elements


class JobHarness:
    """1. `source` for each input, 2. the job's own code on their `stream`s, 3. `collect` for each
    output, 4. push, move time, look.

    The operators are those that run on Spark, with state in memory. Event time stands still until
    a source's `advance_watermark`, or follows the job's own watermark strategy if it has one.
    Processing time stands where it was put."""

    def __init__(self, configuration: Mapping[str, str] | None = None) -> None:
        settings = {"parallelism.default": "1", "pipeline.max-parallelism": "4"}
        settings |= configuration or {}
        self.env = StreamExecutionEnvironment(Configuration(settings))
        self.processing_time = 0
        self._sources: list[TestSource] = []
        self._outputs: list[tuple[SinkTransformation, Output]] = []
        self._started: _Started | None = None

    # --- the graph

    def source(self, name: str = "source", type_info: TypeInformation | None = None) -> TestSource:
        """An input of the job."""
        stream = self.env.from_source(
            _GivenByTest(), WatermarkStrategy.no_watermarks(), name, type_info
        )
        source = TestSource(self, stream, stream._node)
        self._sources.append(source)
        return source

    def collect(self, stream: DataStream) -> Output:
        """What a stream sends; side outputs are streams, too (`get_side_output`)."""
        if self._started is not None:
            raise RuntimeError("the job has begun; collect all outputs before the first value")
        node = SinkTransformation(name="Sink: Collect", inputs=stream._edges, sink=CollectSink())
        self.env._add_sink_node(node)
        output = Output()
        self._outputs.append((node, output))
        return output

    # --- time

    def set_processing_time(self, time: int) -> None:
        """ms; due timers fire. It never goes back."""
        if time < self.processing_time:
            raise ValueError(f"time cannot go back from {self.processing_time} to {time}")
        self.processing_time = time
        self._batch(tick=True)

    def advance_processing_time(self, millis: int) -> None:
        self.set_processing_time(self.processing_time + millis)

    def end(self) -> None:
        """All input has ended: event time goes to its end, and every window closes."""
        self._batch(ended=True)

    # --- state

    def snapshot(self) -> Snapshot:
        """State as a checkpoint would hold it now."""
        return self._running.run.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """As after a failure: state as it was at the snapshot (of this harness or of another with
        the same job), functions opened anew."""
        self._running.run.restore(snapshot)

    def state_entries(self) -> int:
        """Entries in all stores, timers included: what is left shows what was not cleaned up."""
        return self._running.run.state_entries()

    def counters(self) -> dict[str, int]:
        """What functions and operators have counted."""
        return dict(self._running.run.metrics.counters)

    def accumulators(self) -> dict[str, Any]:
        found = self._running.run.metrics.accumulators
        return {name: each.get_local_value() for name, each in found.items()}

    def close(self) -> None:
        """Functions are closed."""
        if self._started is not None:
            self._started.run.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- running

    @property
    def _running(self) -> _Started:
        if self._started is None:
            self._started = _Started(self.env.compile("test"), self._sources, self._outputs)
        return self._started

    def _take(self, node: Transformation, elements: list[Element]) -> None:
        number = self._running.sources[node.id]
        self._batch(rows={number: [Part(SPLIT, elements)]})

    def _advance_watermark(self, node: Transformation, timestamp: int) -> None:
        if not MIN_WATERMARK <= timestamp <= MAX_WATERMARK:
            raise ValueError(f"{timestamp} is no watermark")
        number = self._running.sources[node.id]
        splits = ANY, f"{number}:{SPLIT}"
        self._batch(watermarks={f"silent-{number}/{split}": timestamp for split in splits})

    def _end_source(self, node: Transformation) -> None:
        self._batch(ended_splits=[f"{self._running.sources[node.id]}:{SPLIT}"])

    def _batch(self, **what: Any) -> None:
        running = self._running
        try:
            received = running.run.batch(time=self.processing_time, **what)
        except Exception as error:
            raise from_error(error) from error
        for number, elements in received.items():
            running.outputs[number]._add(elements)


class _Started:
    """A compiled job, and which number its nodes got."""

    def __init__(
        self,
        program: Program,
        sources: list[TestSource],
        outputs: list[tuple[SinkTransformation, Output]],
    ) -> None:
        numbers = program.numbers
        #: A source's transformation -> its node.
        self.sources = {s._node.id: numbers[s._node.id] for s in sources if s._node.id in numbers}
        self.outputs = {numbers[node.id]: output for node, output in outputs}
        self.run = LocalRun(program, (SPLIT,))
