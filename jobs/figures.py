"""The latest figures of a job, under Flink's names.

An empty dict or list says that nothing is known: no figure is made up. Figures stay when the job
has ended; those of an earlier attempt go when another one begins. Times are milliseconds, sizes
are bytes, rates are per second.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from headrace.wire import columns
from jobs import job_times, vertices
from jobs.models import Job, JobFigures
from jobs.states import JobState

#: From these ratios of back-pressured time on, as in Flink.
LOW, HIGH = 0.10, 0.5

Figures = dict[str, float]


def of_job(job: Job) -> dict[str, float | str]:
    """Of the job as a whole."""
    return of_many([job]).get(job.pk, {})


def of_many(jobs: Iterable[Job]) -> dict[str, dict[str, float | str]]:
    """As `of_job` by the job's id, in one query for all of them."""
    known = list(jobs)
    rows = JobFigures.objects.in_bulk([job.pk for job in known])
    now = int(time.time() * 1000)
    return {job.pk: of_row(job, rows.get(job.pk), now) for job in known}


def rows_of(jobs: Iterable[Job]) -> dict[str, dict[str, Any]]:
    """All that was measured, by the job's id, as `headrace.wire.events.Measured` has it; for who
    needs vertices and operators of many jobs. One query."""
    known = {job.pk: job for job in jobs}
    found = JobFigures.objects.filter(pk__in=known).values_list("pk", "attempt", "figures")
    return {pk: own for pk, attempt, own in found if is_of(attempt, known[pk])}


def is_of(attempt: int, job: Job) -> bool:
    """Whether figures of this attempt say something of the job: another one counts anew."""
    return job.current_attempt in (None, attempt) or JobState(job.state).is_terminal


def measured(job: Job) -> dict[str, Any]:
    """As `rows_of`, of one job; kept on the object, so that a page asks once."""
    known: dict[str, Any] | None = getattr(job, "_measured", None)
    if known is None:
        known = rows_of([job]).get(job.pk, {})
        job._measured = known  # type: ignore[attr-defined]
    return known


def of_vertices(job: Job) -> dict[str, list[Figures]]:
    """Vertex's id -> the figures of each subtask, Flink's task scope."""
    return vertex_figures(vertices.of(job.plan or {}), measured(job))


def vertex_figures(
    of: Iterable[vertices.Vertex], found: Mapping[str, Any]
) -> dict[str, list[Figures]]:
    """As `of_vertices`, from one of `rows_of`."""
    tables = found.get("vertices", {})
    return {v.id: columns.rows(tables[v.id], v.parallelism) for v in of if v.id in tables}


def of_operators(job: Job, vertex_id: str) -> list[Figures]:
    """Of each subtask of a vertex: `<Operator_name>.<metric>` -> value, the job's own metrics
    among them."""
    vertex = vertices.find(job.plan or {}, vertex_id)
    return [] if vertex is None else operator_figures(vertex, measured(job))


def operator_figures(vertex: vertices.Vertex, found: Mapping[str, Any]) -> list[Figures]:
    """As `of_operators`, from one of `rows_of`."""
    tables = found.get("operators", {})
    subtasks: list[Figures] = [{} for _ in range(vertex.parallelism)]
    for operator in vertex.operators:
        name = vertices.metric_name(operator.name)
        rows = columns.rows(tables.get(operator.id, {}), vertex.parallelism)
        for all_, own in zip(subtasks, rows, strict=True):
            all_.update({f"{name}.{metric}": value for metric, value in own.items()})
    return subtasks if any(subtasks) else []


def back_pressure(subtask_figures: Mapping[str, float]) -> float:
    """The share of time, 0 to 1, in which a subtask was held back."""
    held = subtask_figures.get("backPressuredTimeMsPerSecond", 0.0)
    return min(1.0, max(0.0, held / 1000))


def level(ratio: float) -> str:
    """`ok`, `low` or `high`."""
    return "ok" if ratio <= LOW else "low" if ratio <= HIGH else "high"


def latency(job: Job) -> list[dict[str, Any]]:
    """A histogram for each pair of source and sink, `to` "pre-commit" and "visible": {"source",
    "sink": operators' ids, "to", "count", "min", "max", "mean", "stddev", "p50" … "p999"}."""
    return list(measured(job).get("latency", []))


def watermarks(job: Job) -> dict[str, dict[str, Any]]:
    """Operator's id -> {"watermark": ms or None, "held_by": generator's operator id, "split",
    "idle": splits that do not count at the moment}."""
    return dict(measured(job).get("watermarks", {}))


def lag_trend(job: Job) -> dict[str, dict[str, Figures]]:
    """topic -> partition -> {"lag", "arriving", "read" (per second), "trend" (lag per second),
    "catch_up" (seconds; absent while it cannot be said)}."""
    return dict(measured(job).get("partitions", {}))


def accumulators(job: Job, vertex_id: str | None = None) -> list[dict[str, str]]:
    """{"name", "type", "value"} as Flink's REST has them."""
    found = measured(job).get("accumulators", {})
    if vertex_id is None:
        return [each for of_vertex in found.values() for each in of_vertex]
    return list(found.get(vertex_id, []))


def of_row(job: Job, row: JobFigures | None, now: int) -> dict[str, float | str]:
    """As `of_job`, from the job's row, if it has one; `now` in ms since 1970."""
    known: dict[str, float | str] = dict(job_times.figures(job, now))
    if row is not None:
        known |= job_times.checkpoint_figures(job, row)
        doing = row.figures.get("job", {})
        if job.state != JobState.RUNNING or not is_of(row.attempt, job):
            doing = {name: 0.0 if name.endswith("PerSecond") else n for name, n in doing.items()}
        known |= doing
    return known
