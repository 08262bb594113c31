"""The watermarks of all operators as the driver sees them, and what holds them back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headrace.runtime.frames import MIN_WATERMARK
from headrace.runtime.measuring.counts import Part
from headrace.runtime.measuring.shape import Shape
from headrace.runtime.program import Generator, Program
from headrace.runtime.watermarks import Holding, SplitWatermarks

#: Smallest and largest say that there is none yet, or none any more; they are no times.
_TIMES = 1 << 61


class WatermarkFigures:
    """Knows what the sources' splits said in this attempt, and what keyed operators have."""

    def __init__(self, program: Program, shape: Shape) -> None:
        self._program = program
        self._shape = shape
        self._splits = SplitWatermarks()
        self._marks: dict[str, int] = {}
        #: "<generator>/<split>" -> the subtask that read it last
        self._readers: dict[str, int] = {}
        self._operators: dict[int, int] = {}
        self._time = 0
        self._reaching: dict[int, frozenset[str]] = {}

    def observe(self, time: int, parts: Iterable[Part], operators: dict[int, int]) -> None:
        """`time`: ms, the batch's; `operators`: what keyed ones have, by number."""
        self._time = max(time, self._time)
        said: dict[str, int] = {}
        for part in parts:
            for split, mark in part.watermarks.items():
                said[split] = max(mark, said.get(split, MIN_WATERMARK))
                self._marks[split] = max(mark, self._marks.get(split, MIN_WATERMARK))
                if part.stage == 0:
                    self._readers[split] = part.subtask
        self._splits.advance(said, time)
        self._operators |= operators

    def idle(self, time: int) -> None:
        """Time has gone on without a batch."""
        self._time = max(time, self._time)

    def output(self, node: int, subtask: int | None = None) -> int | None:
        """What an operator passes on, ms; of a subtask that reads splits that of its own."""
        prefixes = f"generator-{node}/", f"silent-{node}/"
        own = [
            self._marks[split]
            for split, reader in self._readers.items()
            if reader == subtask and split.startswith(prefixes)
        ]
        if own:
            return as_time(min(own))
        known = self._operators.get(node)
        return as_time(self._holding(node).watermark if known is None else known)

    def of_source(self, source: int, subtask: int) -> int | None:
        """What leaves a source, by itself or by what assigns timestamps behind it, ms."""
        assigners = [
            node
            for node in self._program.nodes
            if f"generator-{node}" in self._program.generators and source in self._shape.reads(node)
        ]
        marks = [self.output(node, subtask) for node in [source, *assigners]]
        return next((mark for mark in marks if mark is not None), None)

    def of_split(self, source: int, split: str) -> int | None:
        """What was said of a split, ms."""
        marks = [mark for name, mark in self._marks.items() if name.endswith(f"/{source}:{split}")]
        return as_time(max(marks)) if marks else None

    def input(self, node: int) -> int | None:
        """The smallest of what an operator reads, ms; None for a source, or before there is one."""
        before = self._shape.reads(node)
        if node in self._operators:
            return as_time(self._operators[node])
        marks = [self.output(number) for number in before]
        known = [mark for mark in marks if mark is not None]
        return min(known) if known and len(known) == len(marks) else None

    def told(self) -> dict[str, dict[str, Any]]:
        """Operator's id -> {"watermark": ms or None, "held_by": the operator's id whose generator
        holds it back, "split", "idle": splits that do not count at the moment}."""
        return {
            self._shape.operator_ids[node]: self._told(node)
            for node in self._program.nodes
            if self._generators(node)
        }

    def _told(self, node: int) -> dict[str, Any]:
        holding = self._holding(node)
        generator, _, split = holding.split.partition("/")
        number = generator.rpartition("-")[2]
        by = self._shape.operator_ids.get(int(number)) if number.isdigit() else None
        return {
            "watermark": self.output(node),
            "held_by": by,
            "split": split.partition(":")[2] or split,
            "idle": [each.partition("/")[2].partition(":")[2] for each in holding.idle],
        }

    def _holding(self, node: int) -> Holding:
        return self._splits.holding(self._generators(node), self._time)

    def _generators(self, node: int) -> list[Generator]:
        known = self._program.generators
        return [known[name] for name in sorted(self._names(node)) if name in known]

    def _names(self, node: int) -> frozenset[str]:
        """Of the generators whose watermarks an operator passes on."""
        found = self._reaching.get(node)
        if found is None:
            self._reaching[node] = frozenset()  # a loop ends here
            own = [f"{kind}-{node}" for kind in ("generator", "silent")]
            made = [name for name in own if name in self._program.generators]
            before = [self._names(number) for number in self._shape.reads(node)]
            found = frozenset(made[:1]) or frozenset().union(*before)
            self._reaching[node] = found
        return found


def as_time(watermark: int) -> int | None:
    """None for what is no time."""
    return watermark if abs(watermark) < _TIMES else None
