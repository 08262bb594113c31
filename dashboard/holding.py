"""What holds a watermark back: the way from a vertex to the source that is furthest behind. Pure.

A vertex's watermark is the least of its inputs' watermarks, and a source's that of its slowest
split; so the way back follows the least one at each step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jobs.vertices import Vertex

#: What Flink reports before the first watermark, and at the end of all input.
NONE_YET, AT_END = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True)
class Step:
    """One vertex on the way; `subtask` is its slowest. `watermark` is ms since 1970, or None
    before the first one."""

    vertex: Vertex
    subtask: int
    watermark: int | None


def known(value: float | None) -> int | None:
    """A reported watermark as a time; None for what is none (yet, or any more)."""
    if value is None or value != value or not NONE_YET < value < AT_END:
        return None
    return int(value)


def slowest(watermarks: Sequence[float | None]) -> tuple[int, int | None] | None:
    """Subtask and watermark of the one furthest behind; one without a watermark is behind all
    others. None when no subtask reports any."""
    reported = [(n, value) for n, value in enumerate(watermarks) if value is not None]
    if not reported:
        return None
    number, value = min(reported, key=lambda each: each[1])
    return number, known(value)


def way(
    vertex: Vertex,
    vertices: Mapping[str, Vertex],
    watermarks: Mapping[str, Sequence[float | None]],
) -> list[Step]:
    """From the vertex itself up to the source that holds it back; empty when nothing is
    reported. A loop ends it."""
    steps: list[Step] = []
    at: Vertex | None = vertex
    seen: set[str] = set()
    while at is not None and at.id not in seen:
        seen.add(at.id)
        found = slowest(watermarks.get(at.id, ()))
        if found is None:
            return steps
        steps.append(Step(at, *found))
        before = [vertices[each.vertex] for each in at.inputs if each.vertex in vertices]
        at = min(before, key=lambda each: _least(watermarks.get(each.id, ())), default=None)
    return steps


def _least(watermarks: Sequence[float | None]) -> float:
    return min((value for value in watermarks if value is not None), default=float("inf"))
