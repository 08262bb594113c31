"""The stream graph as the API builds it: lazy, untouched until `execute`."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from headrace.common.type_hints import type_of
from headrace.common.typeinfo import TypeInformation
from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.datastream.output_tag import OutputTag

_ids = itertools.count(1)


class GraphError(ValueError):
    """The job's graph cannot run."""


def line_of_program() -> str:
    """Where the job's author called the API: `file:line`; empty where nobody can say."""
    frame = sys._getframe(1)
    while frame is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in ("headrace", "dataclasses") and frame.f_code.co_filename != "<string>":
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        if frame.f_back is None:
            break
        frame = frame.f_back
    return ""


@dataclass(eq=False, kw_only=True)
class Transformation:
    """One node of the stream graph. Inputs are edges from other nodes."""

    name: str
    inputs: list[Edge] = field(default_factory=list)
    output_type: TypeInformation | None = None
    uid: str | None = None
    parallelism: int | None = None
    max_parallelism: int | None = None
    #: Whether it may run in one task with its neighbours: "ALWAYS", "HEAD" (a new chain begins
    #: here) or "NEVER". Shown in the plan; on Spark a stage is one task whatever it says.
    chaining: str = "ALWAYS"
    slot_sharing_group: str | None = None
    description: str | None = None
    #: The line of the job's program that asked for it.
    line: str = field(default_factory=line_of_program)
    id: int = field(default_factory=lambda: next(_ids))

    def __post_init__(self) -> None:
        """Raises GraphError for an output type that is none."""
        try:
            self.output_type = type_of(self.output_type)
        except TypeError as error:
            raise GraphError(f"the output type of {self.name!r}: {error} ({self.line})") from None


@dataclass(frozen=True)
class Edge:
    """From a node's main output, or one of its side outputs, perhaps exchanged, by key or else."""

    source: Transformation
    tag: OutputTag | None = None
    key: Callable[[Any], Any] | None = None
    #: An `exchanges.Exchange` where no key decides.
    exchange: Any = None
    #: Of an operator that tells its inputs apart.
    input: int = 0


@dataclass(eq=False, kw_only=True)
class SourceTransformation(Transformation):
    source: Any


@dataclass(eq=False, kw_only=True)
class MapTransformation(Transformation):
    """Stateless: `kind` is one of map, flat_map, filter, process; `function` a Function or a
    callable."""

    kind: str
    function: Any


@dataclass(eq=False, kw_only=True)
class CoTransformation(Transformation):
    """Stateless, of two inputs; `function` is a CoMapFunction or one of its kind."""

    function: Any


@dataclass(eq=False, kw_only=True)
class AsyncTransformation(Transformation):
    """Stateless; `operator` is an `operators.async_wait.AsyncWait`."""

    operator: Any


@dataclass(eq=False, kw_only=True)
class TimestampsTransformation(Transformation):
    strategy: WatermarkStrategy


@dataclass(eq=False, kw_only=True)
class KeyedTransformation(Transformation):
    """An operator behind a keyed exchange; `operator` is a `runtime.operators` class instance."""

    operator: Any


@dataclass(eq=False, kw_only=True)
class LoopTransformation(KeyedTransformation):
    """The head of an iteration; `feedback` are the edges that come back to it."""

    feedback: list[Edge] = field(default_factory=list)


@dataclass(eq=False, kw_only=True)
class SinkTransformation(Transformation):
    sink: Any


def upstream(sinks: list[Transformation]) -> Iterator[Transformation]:
    """Every node that leads to a sink, each once, inputs before what reads them."""
    seen: set[int] = set()

    def visit(node: Transformation) -> Iterator[Transformation]:
        if node.id in seen:
            return
        seen.add(node.id)
        for edge in node.inputs:
            yield from visit(edge.source)
        yield node
        if isinstance(node, LoopTransformation):
            ends.extend(edge.source for edge in node.feedback)

    ends = list(sinks)  # and what only leads back into a loop
    for end in ends:
        yield from visit(end)
