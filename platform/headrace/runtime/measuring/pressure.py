"""What a vertex's subtasks did with the time of a batch: worked, waited for work, were held back.

A batch goes through the stages of a job one after the other, and is committed at its end. A subtask
is *busy* while its stage works on its share: the Python time of its operators, stretched by what
Spark took for the stage besides (shuffle, Arrow, state). For the rest of the batch it waits:

- Where records were left behind when the batch was planned, the job does not keep up, and the
  sources and what leads to the slowest vertex are *held back*: softly while other vertices work,
  hard while nothing works but planning and commit.
- Else, and behind the slowest vertex, it is *idle*, as it is between batches.

So the slowest vertex is the one that is busy with held-back vertices in front of it, as in Flink.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from headrace.runtime.measuring.counts import REST, SECONDS, Part
from headrace.runtime.measuring.shape import Shape

#: (vertex's id, subtask)
Place = tuple[str, int]


@dataclass(frozen=True)
class Batch:
    """Begin in ms since 1970, duration in ms; `behind`: whether records were left behind."""

    begun: int
    duration: int
    behind: bool


@dataclass
class Spent:
    """Milliseconds of one subtask in one batch."""

    busy: float = 0.0
    soft: float = 0.0
    hard: float = 0.0


@dataclass(frozen=True)
class _Span:
    begun: int
    ended: int


def spent(shape: Shape, batch: Batch, parts: Iterable[Part]) -> dict[Place, Spent]:
    """Of all subtasks of all vertices; what is missing to the batch's duration was idle."""
    known = list(parts)
    spans = _spans(known)
    found = {
        (vertex.id, subtask): Spent()
        for vertex in shape.vertices.values()
        for subtask in range(vertex.parallelism)
    }
    for place, busy in _busy(shape, known, spans).items():
        found[place].busy = min(float(batch.duration), found[place].busy + busy)
    if batch.behind and known:
        _hold_back(shape, batch, spans, found)
    return found


def _spans(parts: list[Part]) -> dict[int, _Span]:
    """From the first task's begin to the last one's end, by stage."""
    spans: dict[int, _Span] = {}
    for part in parts:
        known = spans.get(part.stage, _Span(part.begun, part.ended))
        spans[part.stage] = _Span(min(known.begun, part.begun), max(known.ended, part.ended))
    return spans


def _busy(shape: Shape, parts: list[Part], spans: dict[int, _Span]) -> dict[Place, float]:
    busy: defaultdict[Place, float] = defaultdict(float)
    for stage, span in spans.items():
        here = [part for part in parts if part.stage == stage]
        longest = max(sum(n[SECONDS] for n in part.nodes.values()) for part in here) * 1000
        stretch = max(1.0, (span.ended - span.begun) / longest) if longest > 0 else 1.0
        for part in here:
            for vertex, seconds in _by_vertex(shape, part).items():
                subtask = part.subtask % shape.vertices[vertex].parallelism
                busy[vertex, subtask] += seconds * 1000 * stretch
    return busy


def _by_vertex(shape: Shape, part: Part) -> dict[str, float]:
    """Seconds; those of no operator go to all alike, by what they have of their own."""
    own: defaultdict[str, float] = defaultdict(float)
    for node, numbers in part.nodes.items():
        if node in shape.vertex_of:
            own[shape.vertex_of[node]] += numbers[SECONDS]
    total = sum(own.values())
    rest = part.nodes[REST][SECONDS] if REST in part.nodes else 0.0
    if total <= 0:
        return dict.fromkeys(own, rest / len(own)) if own else {}
    return {vertex: seconds * (1 + rest / total) for vertex, seconds in own.items()}


def _hold_back(
    shape: Shape, batch: Batch, spans: dict[int, _Span], found: dict[Place, Spent]
) -> None:
    slowest = max(found, key=lambda place: found[place].busy)[0]
    leading = {shape.vertex_of[n] for n in shape.upstream(shape.vertices[slowest].nodes)}
    begun = min(span.begun for span in spans.values())
    ended = max(span.ended for span in spans.values())
    alone = max(0, begun - batch.begun) + max(0, batch.begun + batch.duration - ended)
    for (vertex_id, _), one in found.items():
        vertex = shape.vertices[vertex_id]
        reads = vertex.head in shape.sources
        if not reads and (vertex_id == slowest or vertex_id not in leading):
            continue
        free = max(0.0, batch.duration - one.busy)
        one.hard = min(free, float(alone))
        if reads:
            one.soft = free - one.hard
        elif vertex.stage in spans:
            since = ended - spans[vertex.stage].begun
            one.soft = min(free - one.hard, max(0.0, since - one.busy))
