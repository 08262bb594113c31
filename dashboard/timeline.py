"""A job's life as bars on a time line: its states, its attempts, and its vertices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from jobs import vertices
from jobs.models import Attempt, Event, Job
from jobs.states import AttemptState, JobState
from jobs.vertices import Vertex

#: Changes of state, and attempts, that are drawn: the newest; and vertices.
CHANGES, ATTEMPTS, VERTICES = 200, 40, 40
#: Places and widths are in percent of the drawing, which stretches with the page.
#: `END` is the width of the mark where an attempt ended.
WIDTH, END = 100, 0.5
_MS = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Span:
    """One bar: from x, so wide, in percent."""

    label: str
    colour: str
    start: datetime
    end: datetime
    x: float
    width: float
    runs: bool = False

    @property
    def ms(self) -> int:
        return (self.end - self.start) // _MS


@dataclass(slots=True)
class Lane:
    """One row. `attempt` and `vertex`: whose it is, by number and id."""

    label: str
    spans: list[Span] = field(default_factory=list)
    attempt: int | None = None
    vertex: str = ""
    subtasks: int = 0


@dataclass(frozen=True, slots=True)
class Tick:
    x: float
    at: datetime


@dataclass(frozen=True, slots=True)
class Timeline:
    """Lanes from `start` to `end`."""

    start: datetime
    end: datetime
    lanes: list[Lane]
    ticks: list[Tick]
    #: When failures were: places.
    failures: list[Tick]

    @property
    def clock(self) -> str:
        return clock(self.end - self.start)

    @property
    def spans(self) -> list[tuple[str, Span]]:
        """All bars in the order of time, with their lanes: the drawing in words."""
        found = [(lane.label, span) for lane in self.lanes for span in lane.spans]
        return sorted(found, key=lambda each: each[1].start, reverse=True)


def clock(length: timedelta) -> str:
    """How ticks are written."""
    if length > timedelta(hours=20):
        return "j M H:i"
    return "H:i" if length > timedelta(minutes=15) else "H:i:s"


def of(job: Job, now: datetime) -> Timeline:
    """Of the job's newest CHANGES changes of state and ATTEMPTS attempts: three queries."""
    states = job.events.filter(kind=Event.Kind.STATE).order_by("-id")
    changes = list(states.values_list("at", "detail")[:CHANGES])[::-1]
    attempts = list(job.attempts.order_by("-number")[:ATTEMPTS])
    failures = job.events.filter(kind=Event.Kind.FAILURE).order_by("-id")
    whole = len(changes) < CHANGES and len(attempts) < ATTEMPTS
    start = job.created_at if whole else _oldest(changes, attempts, job.created_at)
    end = max(start + timedelta(seconds=1), job.ended_at or now)
    scale = Scale(start, end)
    lanes = [Lane("Job", _states(job, changes, scale))]
    lanes += [_attempt(each, scale) for each in attempts]
    lanes += [_vertex(each, attempts, scale) for each in vertices.of(job.plan or {})[:VERTICES]]
    marks = [at for at in failures.values_list("at", flat=True)[:CHANGES] if start <= at <= end]
    return Timeline(start, end, lanes, ticks(scale), [Tick(scale.x(at), at) for at in marks])


@dataclass(frozen=True, slots=True)
class Scale:
    start: datetime
    end: datetime

    def x(self, at: datetime) -> float:
        share = (at - self.start) / (self.end - self.start)
        return round(WIDTH * min(1.0, max(0.0, share)), 2)

    def span(
        self, label: str, colour: str, start: datetime, end: datetime, *, runs: bool = False
    ) -> Span:
        start = max(start, self.start)
        x = self.x(start)
        width = max(0.2, self.x(max(start, end)) - x)
        return Span(label, colour, start, max(start, end), x, round(width, 2), runs)

    def at_end(self, label: str, colour: str, at: datetime) -> Span:
        """A mark at the end of a bar."""
        x = max(0.0, self.x(at) - END)
        return Span(label, colour, at, at, x, END)


def _oldest(
    changes: Sequence[tuple[datetime, object]], attempts: Sequence[Attempt], created: datetime
) -> datetime:
    first = [changes[0][0]] if len(changes) == CHANGES else []
    if len(attempts) == ATTEMPTS:
        first.append(attempts[-1].created_at)
    return max(first, default=created)


def _states(job: Job, changes: Sequence[tuple[datetime, object]], scale: Scale) -> list[Span]:
    """What the job was, from change to change. What it was before the first comes from that."""
    spans: list[Span] = []
    at, state = scale.start, ""
    for moment, detail in changes:
        told = detail if isinstance(detail, dict) else {}
        before = state or str(told.get("from", ""))
        _add(spans, before, at, moment, scale)
        at, state = moment, str(told.get("to", ""))
    last = state or job.state
    if not JobState(last).is_terminal if last in JobState.__members__ else True:
        _add(spans, last, at, scale.end, scale, runs=job.ended_at is None)
    return spans


def _add(
    spans: list[Span],
    name: str,
    start: datetime,
    end: datetime,
    scale: Scale,
    *,
    runs: bool = False,
) -> None:
    if name in JobState.__members__ and end > start:
        info = JobState(name)
        spans.append(scale.span(info.label, info.colour, start, end, runs=runs))


def _attempt(attempt: Attempt, scale: Scale) -> Lane:
    """Waiting for its driver, then running; the colour of the second says how it ended."""
    info = AttemptState(attempt.state)
    lane = Lane(f"Attempt {attempt.number}", attempt=attempt.number)
    end = attempt.ended_at or scale.end
    begun = attempt.started_at or end
    if begun > attempt.created_at:
        lane.spans.append(scale.span("Deploying", "info", attempt.created_at, begun))
    if attempt.started_at is not None:
        runs = attempt.ended_at is None
        lane.spans.append(scale.span("Running", "running", begun, end, runs=runs))
    if attempt.ended_at is not None:
        lane.spans.append(scale.at_end(info.label, info.colour, end))
    return lane


def _vertex(vertex: Vertex, attempts: Sequence[Attempt], scale: Scale) -> Lane:
    """Its subtasks are under way together, for as long as the driver of an attempt runs."""
    lane = Lane(vertex.name, vertex=vertex.id, subtasks=vertex.parallelism)
    for each in reversed(attempts):
        if each.started_at is not None:
            runs, end = each.ended_at is None, each.ended_at or scale.end
            label = f"Attempt {each.number}"
            lane.spans.append(scale.span(label, "running", each.started_at, end, runs=runs))
    return lane


def ticks(scale: Scale) -> list[Tick]:
    """At most eight round times."""
    length = scale.end - scale.start
    steps = (
        *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600),
        *(43_200, 86_400, 172_800, 604_800, 1_209_600, 2_592_000, 7_776_000, 31_536_000),
    )
    wide = next((s for s in steps if length.total_seconds() / s <= 8), steps[-1])
    at = (int(scale.start.timestamp()) // wide + 1) * wide
    found = []
    while at < scale.end.timestamp():
        moment = datetime.fromtimestamp(at, scale.start.tzinfo)
        found.append(Tick(scale.x(moment), moment))
        at += wide
    return found
