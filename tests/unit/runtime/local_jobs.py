"""Jobs for the runtime's tests: a stream of (timestamp, value) per split, run without Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from headrace.common import Duration, TimestampAssigner, WatermarkStrategy
from headrace.datastream import DataStream, StreamExecutionEnvironment
from headrace.runtime.local_run import LocalRun
from headrace.runtime.parts import Part
from headrace.runtime.sinks import CollectSink
from headrace.runtime.sources import CollectionSource


class First(TimestampAssigner):
    """Values are tuples whose first field is the event time."""

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[0])


class LocalJob:
    """A job with one source and one sink per stream that `build` returns."""

    def __init__(
        self,
        build: Callable[[DataStream], DataStream | list[DataStream]],
        *,
        out_of_orderness: int | None = 0,
        idle: int | None = None,
        splits: Iterable[str] = ("0",),
        max_parallelism: int = 4,
    ) -> None:
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(1).set_max_parallelism(max_parallelism)
        strategy = WatermarkStrategy.no_watermarks()
        if out_of_orderness is not None:
            strategy = WatermarkStrategy.for_bounded_out_of_orderness(
                Duration.of_millis(out_of_orderness)
            ).with_timestamp_assigner(First())
        if idle is not None:
            strategy = strategy.with_idleness(Duration.of_millis(idle))
        built = build(env.from_source(CollectionSource(()), strategy, "test"))
        for stream in built if isinstance(built, list) else [built]:
            stream.sink_to(CollectSink())
        program = env.compile("test")
        self._source = next(iter(program.sources))
        self.run = LocalRun(program, splits)

    def end(self, split: str) -> list[Any]:
        """Nothing more comes from the split."""
        received = self.run.batch(ended_splits=[f"{self._source}:{split}"])
        return [value for values in received.values() for _, value in values]

    def batch(self, time: int = 0, ended: bool = False, **splits: Iterable[Any]) -> list[list[Any]]:
        """Values per split (`s0=[...]` is split "0"); what each sink got, in order."""
        parts = [
            Part(name[1:], [(None, value) for value in values]) for name, values in splits.items()
        ]
        received = self.run.batch({self._source: parts}, time=time, ended=ended)
        return [[value for _, value in received[number]] for number in sorted(received)]

    def only(self, time: int = 0, ended: bool = False, **splits: Iterable[Any]) -> list[Any]:
        """As `batch`, for a job with one sink."""
        [values] = self.batch(time, ended, **splits)
        return values
