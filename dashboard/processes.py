"""What the pages of TaskManagers and JobManagers show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from dashboard import figures_of, live
from dashboard.listing import Query
from dashboard.overview import Overview, Seats, seats
from dashboard.scope import Scope
from jobs import cluster_figures, jobmanagers
from jobs.models import Attempt, Event, JobManagerProcess, TaskManager
from jobs.states import AttemptState

#: Rows of a process's history, and of the drivers that ran in it.
EVENTS, DRIVERS = 20, 20


def taskmanagers(scope: Scope, _: Query) -> Mapping[str, Any]:
    overview = Overview(timezone.now(), scope)
    found = seats(TaskManager.objects.all(), scope, overview.now)
    known = cluster_figures.of_taskmanagers(each.taskmanager for each in found)
    return {
        "overview": overview,
        "rows": [_line(each, known[each.taskmanager.name]) for each in found],
        "usable": [each for each in found if each.usable],
    }


@dataclass(frozen=True, slots=True)
class Line:
    """One TaskManager in the table; a gauge is None while it is not known."""

    seats: Seats
    cpu: figures_of.Gauge | None
    memory: figures_of.Gauge | None


def _line(found: Seats, figures: figures_of.Figures) -> Line:
    return Line(found, figures_of.cpu(figures), figures_of.memory(figures))


def taskmanager(scope: Scope, query: Query) -> Mapping[str, Any]:
    """Raises live.Gone for one that is not known any more."""
    now = timezone.now()
    found = seats(TaskManager.objects.filter(name=query.get("name")), scope, now)
    if not found:
        raise live.Gone
    row = found[0].taskmanager
    return {
        "title": row.name,
        "now": now,
        "seats": found[0],
        "tm": row,
        "gauges": figures_of.gauges(cluster_figures.of_taskmanager(row)),
        "memory": figures_of.memory(cluster_figures.of_taskmanager(row)),
        "drivers": _drivers(found[0], scope),
        "events": _events(Event.Kind.TASKMANAGER, detail__taskmanager=row.name),
    }


def _drivers(found: Seats, scope: Scope) -> list[Attempt]:
    """Those that run in it, then the newest that have ended."""
    rows = Attempt.objects.filter(taskmanager=found.taskmanager)
    mine = scope.rows(rows, "job__team").select_related("job")
    live_ones = mine.filter(state__in=AttemptState.live()).order_by("-created_at")[:DRIVERS]
    ended = mine.filter(state__in=AttemptState.terminal()).order_by("-pk")[:DRIVERS]
    return [*live_ones, *ended][:DRIVERS]


def jobmanager(scope: Scope, _: Query) -> Mapping[str, Any]:
    overview = Overview(timezone.now(), scope)
    return {
        "overview": overview,
        "lease": overview.lease,
        "gauges": figures_of.gauges(cluster_figures.of_jobmanager()),
        "processes": [
            (row, row.name == overview.leader, jobmanagers.is_silent(row, overview.now))
            for row in JobManagerProcess.objects.all()
        ],
        "events": _events(Event.Kind.JOBMANAGER),
    }


def _events(kind: Event.Kind, **about: Any) -> list[Event]:
    rows = Event.objects.filter(job=None, kind=kind, **about)
    return list(rows.order_by("-at", "-id")[:EVENTS])
