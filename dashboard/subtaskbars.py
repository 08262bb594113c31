"""How long each subtask of a vertex worked for each of the last checkpoints, as bars."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from dashboard.timeline import Scale, Tick, clock, ticks
from jobs.models import Job
from jobs.vertices import Vertex

#: What is drawn: the newest checkpoints, and of the subtasks the busiest.
CHECKPOINTS, SUBTASKS = 40, 40


@dataclass(frozen=True, slots=True)
class Bar:
    """Of one checkpoint: `ms` busy. Places in percent."""

    checkpoint: int
    ms: int
    x: float
    width: float


@dataclass(slots=True)
class Row:
    """One subtask."""

    number: int
    total: int = 0
    bars: list[Bar] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Bars:
    """`rows` of the busiest subtasks, by number; there are `subtasks` of them."""

    vertex: Vertex
    start: datetime
    end: datetime
    rows: list[Row]
    ticks: list[Tick]
    subtasks: int

    @property
    def clock(self) -> str:
        return clock(self.end - self.start)


def of(job: Job, vertex: Vertex) -> Bars | None:
    """One query; None where no checkpoint tells of the vertex's subtasks."""
    names = ("checkpoint_id", "started_at", "completed_at", "tasks")
    newest = job.checkpoints.order_by("-checkpoint_id").values_list(*names)[:CHECKPOINTS]
    told = [
        (number, start, end, busy)
        for number, start, end, tasks in reversed(newest)
        if (busy := (tasks or {}).get(vertex.id, {}).get("busy"))
    ]
    if not told:
        return None
    first, last = min(each[1] for each in told), max(each[2] for each in told)
    scale = Scale(first, max(last, first + timedelta(milliseconds=1)))
    rows: dict[int, Row] = {}
    for number, start, end, busy in told:
        for subtask, ms in enumerate(map(int, busy)):
            row = rows.setdefault(subtask, Row(subtask))
            row.total += ms
            until = min(end, start + timedelta(milliseconds=ms))
            width = round(max(0.1, scale.x(until) - scale.x(start)), 2)
            row.bars.append(Bar(number, ms, scale.x(start), width))
    busiest = sorted(rows.values(), key=lambda row: -row.total)[:SUBTASKS]
    shown = sorted(busiest, key=lambda row: row.number)
    return Bars(vertex, scale.start, scale.end, shown, ticks(scale), len(rows))
