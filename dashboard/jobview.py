"""What the pages of one job show. Each property is one query, made when a template asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from django.db.models import Q

from dashboard import (
    checkpoints,
    failures,
    flame,
    graph,
    holding,
    lag,
    overview,
    recent,
    series,
    staleness,
    timeline,
    verbs,
    vertexview,
)
from dashboard.checkpoints import Checkpoints, Filter
from dashboard.vertexview import OperatorRow, Spread, VertexView
from jobs import diagnostics, figures, vertices
from jobs.models import (
    Alert,
    AlertRule,
    Attempt,
    Beginning,
    Checkpoint,
    Diagnosis,
    Event,
    Job,
    JobFigures,
    Savepoint,
    Slot,
    Upgrade,
)
from jobs.states import AttemptState, JobState, Wanted

#: Rows of one page of a history, and of the short list on the job's first page.
PAGE, SHORT = 50, 8
#: Bytes of a job file that the page shows.
SOURCE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of a batch: `share` is its part of the longest, in percent."""

    name: str
    ms: int
    share: int


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter of the job. `colour` is "warn" for records that went another way."""

    name: str
    value: int
    colour: str


class JobView:
    """`chosen` is what a page of history shows: rows older than an id only, or of one kind."""

    def __init__(self, job: Job, now: datetime, chosen: Filter | None = None) -> None:
        self.job = job
        self.now = now
        self.chosen = chosen or Filter()
        self.before = self.chosen.before

    # --- what it does ----------------------------------------------------------------------

    @cached_property
    def recent(self) -> recent.Recent | None:
        return recent.of([self.job], self.now).get(self.job.pk)

    @property
    def overdue(self) -> staleness.Overdue | None:
        return overview.overdue(self.job, self.recent, self.now)

    @property
    def runs(self) -> bool:
        return self.job.state_info is JobState.RUNNING

    @property
    def verbs(self) -> list[verbs.Verb]:
        return verbs.offered(self.job)

    @property
    def heading_elsewhere(self) -> str:
        """What is wanted of the job, while that is not what it is yet."""
        wanted, state = Wanted(self.job.wanted), self.job.state_info
        if wanted is Wanted.RUNNING or state.is_terminal:
            return ""
        return wanted.label.lower()

    @cached_property
    def slots(self) -> list[Slot]:
        return list(self.job.slots.select_related("taskmanager"))

    @property
    def newest(self) -> int:
        """Of the charts' data: when this changes there are new points to ask for."""
        return self.recent.checkpoint_id if self.recent else 0

    @property
    def counters(self) -> list[Counter]:
        counted = self.recent.counters if self.recent else {}
        return [
            Counter(_words(name), value, _colour(name, value)) for name, value in counted.items()
        ]

    # --- histories -------------------------------------------------------------------------

    @cached_property
    def attempts(self) -> list[Attempt]:
        return list(self.job.attempts.select_related("taskmanager").order_by("-number")[:PAGE])

    @property
    def attempt(self) -> Attempt | None:
        return self.attempts[0] if self.attempts else None

    @cached_property
    def checkpoints(self) -> Checkpoints:
        return Checkpoints(self.job, self.chosen)

    @property
    def latest_checkpoints(self) -> list[Checkpoint]:
        rows = self.job.checkpoints.order_by("-checkpoint_id").defer("offsets", "phases", "tasks")
        return checkpoints.with_attempts(list(rows[:SHORT]), self.job)

    @cached_property
    def timeline(self) -> timeline.Timeline:
        return timeline.of(self.job, self.now)

    @cached_property
    def failures(self) -> list[Event]:
        rows = self.job.events.filter(kind=Event.Kind.FAILURE)
        rows = rows.select_related("attempt__taskmanager")
        if self.before is not None:
            rows = rows.filter(pk__lt=self.before)
        return list(rows.order_by("-at", "-id")[:PAGE])

    @property
    def causes(self) -> list[failures.Cause]:
        return failures.causes(self.failures)

    @property
    def older_failures(self) -> int | None:
        return self.failures[-1].pk if len(self.failures) == PAGE else None

    @property
    def last_failure(self) -> Event | None:
        """The newest failure, while the job has not come through behind it."""
        if not self.failures:
            return None
        failure = self.failures[0]
        recovered = self.runs and self.recent and self.recent.completed_at > failure.at
        return None if recovered or self.job.state_info is JobState.FINISHED else failure

    @cached_property
    def events(self) -> list[Event]:
        rows = self.job.events.order_by("-id")
        if self.before is not None:
            rows = rows.filter(pk__lt=self.before)
        return list(rows[:PAGE])

    @property
    def older_events(self) -> int | None:
        return self.events[-1].pk if len(self.events) == PAGE else None

    @cached_property
    def savepoints(self) -> list[Savepoint]:
        return list(self.job.savepoints.order_by("-created_at")[:PAGE])

    @property
    def beginning(self) -> Beginning | None:
        return Beginning.objects.filter(job=self.job).first()

    @cached_property
    def upgrades(self) -> list[Upgrade]:
        return list(self.job.upgrades.select_related("before", "after", "savepoint")[:SHORT])

    @cached_property
    def alerts(self) -> list[Alert]:
        return list(self.job.alerts.select_related("rule").order_by("-id")[:PAGE])

    @cached_property
    def rules(self) -> list[AlertRule]:
        """That watch this job, or all of them."""
        return list(AlertRule.objects.filter(Q(job=self.job) | Q(job=None))[:PAGE])

    @cached_property
    def restarted(self) -> list[Attempt]:
        """The newest attempts that failed."""
        rows = self.job.attempts.filter(state=AttemptState.FAILED).order_by("-number")
        return list(rows.only("number", "ended_at", "cause", "verdict", "job_id")[:SHORT])

    # --- where it reads --------------------------------------------------------------------

    @cached_property
    def topics(self) -> list[lag.Topic]:
        """Topics and partitions with their place, from the last checkpoint."""
        return lag.topics(self.job)

    # --- its vertices ----------------------------------------------------------------------

    @cached_property
    def vertices(self) -> dict[str, VertexView]:
        """In the order of the graph, by id."""
        known = figures.of_vertices(self.job)
        seats = self.slots
        return {
            each.id: VertexView(each, known.get(each.id, []), seats)
            for each in vertices.of(self.job.plan or {})
        }

    @property
    def graph(self) -> graph.Graph:
        return graph.of_vertices(self.vertices.values())

    @cached_property
    def measured_at(self) -> datetime | None:
        """When the figures of its vertices were measured."""
        return JobFigures.objects.filter(pk=self.job.pk).values_list("at", flat=True).first()

    def operator_figures(self, vertex_id: str) -> list[dict[str, float]]:
        return figures.of_operators(self.job, vertex_id)

    def operators(self, vertex: VertexView) -> list[OperatorRow]:
        """A vertex's operators with the sums of what their subtasks have counted."""
        rows = self.operator_figures(vertex.id)
        return [vertexview.operator_row(each, rows) for each in vertex.vertex.operators]

    def way(self, vertex: VertexView) -> list[holding.Step]:
        """What holds the vertex's watermark back."""
        marks = {
            each.id: [row.get("currentInputWatermark") for row in each.figures]
            for each in self.vertices.values()
        }
        known = {each.id: each.vertex for each in self.vertices.values()}
        return holding.way(vertex.vertex, known, marks)

    @cached_property
    def watermarks(self) -> Mapping[str, Mapping[str, Any]]:
        """Operator's id -> what its driver says of its watermark."""
        return figures.watermarks(self.job)

    @cached_property
    def latencies(self) -> list[dict[str, Any]]:
        """A histogram for each pair of source and sink, with the operators' names."""
        names = {
            operator.id: operator.name
            for each in self.vertices.values()
            for operator in each.vertex.operators
        }
        return [
            {
                **each,
                "source_name": names.get(each.get("source", ""), "all sources"),
                "sink_name": names.get(each.get("sink", ""), "all sinks"),
            }
            for each in figures.latency(self.job)
        ]

    @cached_property
    def job_figures(self) -> list[tuple[str, float | str]]:
        """Of the job as a whole, by name."""
        return sorted(figures.of_job(self.job).items())

    def spreads(self, vertex: VertexView) -> list[Spread]:
        """Every metric of a vertex and of its operators, over its subtasks."""
        return [*vertex.spreads, *vertexview.spreads(self.operator_figures(vertex.id))]

    @cached_property
    def diagnosis(self) -> Diagnosis | None:
        """The flame graph asked for last, answered or not."""
        rows = Diagnosis.objects.filter(attempt__job=self.job, kind=Diagnosis.Kind.FLAME_GRAPH)
        return rows.select_related("attempt").first()

    @property
    def flame_kind(self) -> str:
        known = self.chosen.type in diagnostics.TYPES
        return self.chosen.type if known else diagnostics.FULL

    @cached_property
    def flame(self) -> flame.Flame | None:
        """The last flame graph that there is, and when it is of: `flame_row`."""
        tree = diagnostics.tree(self.flame_row, self.flame_kind) if self.flame_row else None
        return flame.draw(tree, self.chosen.at) if tree else None

    @cached_property
    def flame_row(self) -> Diagnosis | None:
        return diagnostics.newest_of_job(self.job, Diagnosis.Kind.FLAME_GRAPH)

    @property
    def flame_waits(self) -> bool:
        return self.diagnosis is not None and diagnostics.is_pending(self.diagnosis)

    @property
    def flame_error(self) -> str:
        return diagnostics.error_of(self.diagnosis) if self.diagnosis is not None else ""

    def accumulators(self, vertex_id: str | None = None) -> list[dict[str, str]]:
        return figures.accumulators(self.job, vertex_id)

    # --- what it is ------------------------------------------------------------------------

    @property
    def source(self) -> str | None:
        """The job's Python file; None when it is not on this machine."""
        try:
            with Path(self.job.entry).open("rb") as file:
                return file.read(SOURCE_BYTES).decode("utf-8", errors="replace")
        except OSError:
            return None

    @property
    def ranges(self) -> list[str]:
        return list(series.RANGES)


def phases(durations: Mapping[str, int]) -> list[Phase]:
    """The phases of a batch, longest first."""
    most = max(durations.values(), default=0) or 1
    ordered = sorted(durations.items(), key=lambda phase: -phase[1])
    return [Phase(name, ms, 100 * ms // most) for name, ms in ordered]


def _words(name: str) -> str:
    """dead_letters, dead-letters, deadLetters -> Dead letters."""
    spaced = "".join(f" {c.lower()}" if c.isupper() else c for c in name)
    return " ".join(spaced.replace("_", " ").replace("-", " ").split()).capitalize()


def _colour(name: str, value: int) -> str:
    told = ("dead", "late", "dropped", "rejected", "malformed", "failed")
    return "warn" if value and any(word in name.lower() for word in told) else ""
