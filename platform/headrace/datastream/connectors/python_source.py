"""Sources written in Python, with a position that the checkpoints hold. Headrace's own."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace.common.typeinfo import TypeInformation
from headrace.datastream.connectors.base import Source


@dataclass(frozen=True)
class SourceContext:
    """What a source may know where its positions are found out."""

    #: Outlives the run where the job's checkpoint does.
    state_dir: Path
    parallelism: int


@dataclass(frozen=True)
class Timestamped:
    """A value with the event time (ms) its source knows; assigners get it as the record's."""

    value: Any
    timestamp: int


@dataclass(frozen=True)
class SourceWatermark:
    """What a source says among its values: of what it gives in later micro-batches nothing is
    of this time (ms) or before. Goes on as it is where `from_source` got
    `WatermarkStrategy.no_watermarks()`; any other strategy counts in its place."""

    timestamp: int


class PythonSource(Source, abc.ABC):
    """Base of custom sources, for `StreamExecutionEnvironment.from_source`.

    A position says how far the source was read: JSON, of any form that `==` compares. A
    micro-batch reads from one position to another; both are kept in the checkpoint before it
    begins, so that it can be read again after a failure.

    Instances are pickled before `open`, and `read` is called on copies elsewhere."""

    #: A source that ends: once `latest` gives the position it was given.
    bounded: bool = True
    #: What the values are declared to be.
    produced_type: TypeInformation | None = None

    @property
    def described(self) -> str:
        return type(self).__name__

    def open(self, context: SourceContext) -> None:
        """Called once per run, in the driver, before the methods below."""

    @abc.abstractmethod
    def start(self) -> Any:
        """The position at the first start of the job."""

    @abc.abstractmethod
    def latest(self, position: Any) -> Any:
        """How far the source can be read now, from `position` on; `position` itself when nothing
        is there. Called in the driver before each micro-batch. What it gives at a time decides
        how large the batch becomes."""

    @abc.abstractmethod
    def pieces(self, start: Any, end: Any) -> Sequence[Any]:
        """What lies between two positions, in parts that are read in parallel; picklable.
        Called in the driver, after a restart also for positions of an earlier run."""

    @abc.abstractmethod
    def read(self, piece: Any) -> Iterable[Any]:
        """The values (or `Timestamped` ones) of a piece, and a `SourceWatermark` now and then:
        the same in the same order each time. Called anywhere."""

    def committed(self, position: Any) -> None:
        """What lies before `position` is not read again. May be called late or not at all."""

    def close(self) -> None:
        """Called when the run ends in order."""


def stamped(values: Iterable[Any]) -> Iterable[tuple[int | None, Any]]:
    """(timestamp or None, value) of what `read` gave."""
    for value in values:
        if isinstance(value, Timestamped):
            yield value.timestamp, value.value
        else:
            yield None, value


def ranges(start: int, end: int, parts: int) -> list[tuple[int, int]]:
    """`start` to `end` in at most so many parts of nearly the same size."""
    size = max(1, -(-(end - start) // max(1, parts)))
    return [(at, min(at + size, end)) for at in range(start, end, size)]
