"""What each vertex, and each of its subtasks, did for one checkpoint. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from jobs.vertices import Vertex

#: Subtasks that a page lists: the busiest of each vertex, and of all of them.
SUBTASKS, ALL = 200, 2_000


@dataclass(frozen=True, slots=True)
class Subtask:
    """`busy` in milliseconds; `share` of the busiest one's, in percent."""

    number: int
    busy: int
    share: int


@dataclass(frozen=True, slots=True)
class Part:
    """A vertex's part. State is known where no other vertex keeps its own in the same place."""

    vertex: Vertex
    state_size: int | None
    state_rows: int | None
    busy: list[int]
    #: So many of the subtasks are listed.
    most: int = SUBTASKS

    @property
    def total(self) -> int | None:
        return sum(self.busy) if self.busy else None

    @property
    def longest(self) -> int | None:
        return max(self.busy, default=None)

    @property
    def subtasks(self) -> list[Subtask]:
        most = max(self.busy, default=0) or 1
        rows = [Subtask(n, ms, 100 * ms // most) for n, ms in enumerate(self.busy)]
        return sorted(rows, key=lambda each: -each.busy)[: self.most]


def of(tasks: Mapping[str, Mapping[str, Any]], vertices: Iterable[Vertex]) -> list[Part]:
    """Of the vertices that told something, in the order of the graph."""
    told = [each for each in vertices if each.id in tasks]
    most = min(SUBTASKS, max(4, ALL // max(1, len(told))))
    return [
        Part(
            each,
            _number(tasks[each.id].get("state_size")),
            _number(tasks[each.id].get("state_rows")),
            [int(ms) for ms in tasks[each.id].get("busy") or []],
            most,
        )
        for each in told
    ]


def _number(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) else None
