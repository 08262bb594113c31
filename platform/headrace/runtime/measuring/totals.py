"""What the tasks of this attempt have done since it began, by vertex, operator and subtask."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from headrace.runtime.measuring.counts import (
    BYTES_IN,
    IN,
    OUT,
    SECONDS,
    TIMERS,
    Measured,
    Part,
)
from headrace.runtime.measuring.pressure import Spent
from headrace.runtime.measuring.shape import Shape

#: (vertex's id or operator's number, subtask, metric)
Key = tuple[str | int, int, str]

#: Names of metrics of functions that are kept of one operator.
MOST_NAMES = 300


class Totals:
    """`numbers` grow only; `values` are the newest."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self.numbers: defaultdict[Key, float] = defaultdict(float)
        #: (operator's number, subtask, name) -> value
        self.values: dict[tuple[int, int, str], float] = {}
        #: operator's number -> name -> subtask -> what its function measured
        self.user: defaultdict[int, dict[str, dict[int, Measured]]] = defaultdict(dict)
        #: (operator's number, subtask, name) -> what a meter of its function has marked
        self.meters: dict[Key, float] = {}
        #: accumulator's name -> the operator that has it
        self.accumulators: dict[str, int] = {}
        self.left_out = 0
        #: (vertex's id, subtask, "soft" or "hard") -> the longest in one batch, ms
        self.longest: defaultdict[Key, float] = defaultdict(float)

    def add(self, parts: Iterable[Part], spent: dict[tuple[str, int], Spent]) -> None:
        """Of one batch."""
        for part in parts:
            self._add(part)
        for (vertex, subtask), one in spent.items():
            self.numbers[vertex, subtask, "busy"] += one.busy
            self.numbers[vertex, subtask, "soft"] += one.soft
            self.numbers[vertex, subtask, "hard"] += one.hard
            for name, took in (("soft", one.soft), ("hard", one.hard)):
                self.longest[vertex, subtask, name] = max(took, self.longest[vertex, subtask, name])

    def _add(self, part: Part) -> None:
        shape, numbers = self._shape, self.numbers
        for node, counts in part.nodes.items():
            if node not in shape.vertex_of:
                continue
            vertex = shape.vertices[shape.vertex_of[node]]
            subtask = part.subtask % vertex.parallelism
            for name, at in (("in", IN), ("out", OUT), ("bytes_in", BYTES_IN)):
                numbers[node, subtask, name] += counts[at]
            numbers[node, subtask, "own"] += counts[SECONDS] * 1000
            numbers[vertex.id, subtask, "timers"] += counts[TIMERS]
            if node == vertex.head:
                numbers[vertex.id, subtask, "in"] += counts[IN]
                numbers[vertex.id, subtask, "bytes_in"] += counts[BYTES_IN]
            if node in vertex.outside:
                numbers[vertex.id, subtask, "out"] += counts[OUT]
            elif node in shape.sinks:
                numbers[vertex.id, subtask, "out"] += counts[IN]
        for (node, name), n in part.named.items():
            numbers[node, self._subtask(node, part), name] += n
        for (node, name), value in part.values.items():
            self.values[node, self._subtask(node, part), name] = value
        for (node, name), measured in part.user.items():
            self._add_measured(node, name, self._subtask(node, part), measured)
        for reader, size in part.sent.items():
            self._add_sent(part, reader, size)

    def _add_sent(self, part: Part, reader: int, size: int) -> None:
        """What goes to a sink of the same chain leaves no vertex."""
        sender = self._shape.sender(part.stage, reader)
        if sender is not None and self._shape.vertex_of[reader] != sender:
            subtask = part.subtask % self._shape.vertices[sender].parallelism
            self.numbers[sender, subtask, "bytes_out"] += size

    def _add_measured(self, node: int, name: str, subtask: int, measured: Measured) -> None:
        if measured.kind == "accumulator":
            self.accumulators[name] = node
            return
        names = self.user[node]
        if name not in names and len(names) >= MOST_NAMES:
            self.left_out += 1
            return
        of = names.setdefault(name, {})
        of[subtask] = of[subtask].merged(measured) if subtask in of else measured
        if measured.kind == "meter":
            self.meters[node, subtask, name] = of[subtask].numbers[0]

    def _subtask(self, node: int, part: Part) -> int:
        vertex = self._shape.vertex_of.get(node)
        return part.subtask % self._shape.vertices[vertex].parallelism if vertex else part.subtask
