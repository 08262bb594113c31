"""GET /jobs/:jobid/vertices/:vertexid and what else is told of a vertex as a whole."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from jobs import diagnostics, figures, vertices
from jobs.flink import (
    answers,
    distributions,
    io_metrics,
    job_lists,
    metrics,
    reading,
    tasks,
    times,
)
from jobs.models import Diagnosis, Job, JobFigures
from jobs.vertices import Vertex

#: Instead of a flame graph's time, as Flink has them: the task has ended, or it waits for the first
#: samples.
TERMINATED, WAITING = -1, -3


@dataclass(frozen=True, slots=True)
class Task:
    """A vertex of a job as it runs, or last ran; one entry of `measured` per subtask."""

    job: Job
    vertex: Vertex
    run: tasks.Run
    measured: list[dict[str, float]]
    now: int

    def figures(self, subtask: int) -> dict[str, float]:
        """Empty when nothing is known."""
        return self.measured[subtask] if subtask < len(self.measured) else {}

    @property
    def subtasks(self) -> range:
        return range(self.vertex.parallelism)


class View(answers.View):
    """Of one vertex."""

    def vertex(self, job: Job, vertex_id: str) -> Vertex:
        """Raises Refused (404)."""
        found = vertices.find(job.plan, vertex_id.lower())
        if found is None:
            raise answers.not_found(f"JobVertex {vertex_id.lower()} not found")
        return found

    def task(self, job_id: str, vertex_id: str) -> Task:
        job = self.job(job_id)
        vertex = self.vertex(job, vertex_id)
        measured = figures.of_vertices(job).get(vertex.id, [])
        return Task(job, vertex, tasks.current(job), measured, times.now())

    def subtask(self, task: Task, subtask: str) -> int:
        """Raises Refused (404) for one that the vertex has not."""
        if int(subtask) not in task.subtasks:
            raise answers.not_found(f"Invalid subtask index: {int(subtask)}")
        return int(subtask)


class Details(View):
    """GET /jobs/:jobid/vertices/:vertexid"""

    def get(self, request: Request, job_id: str, vertex_id: str) -> Response:
        task = self.task(job_id, vertex_id)
        vertex = task.vertex
        return Response(
            {
                "id": vertex.id,
                "name": vertex.name,
                "parallelism": vertex.parallelism,
                "maxParallelism": vertex.max_parallelism,
                "now": task.now,
                "subtasks": [execution(task, number) for number in task.subtasks],
                "aggregated": _aggregated(task),
            }
        )


class Times(View):
    """GET /jobs/:jobid/vertices/:vertexid/subtasktimes"""

    def get(self, request: Request, job_id: str, vertex_id: str) -> Response:
        task = self.task(job_id, vertex_id)
        told = {
            "endpoint": task.run.endpoint,
            "duration": task.run.duration(task.now),
            "timestamps": task.run.entered,
        }
        subtasks = [{"subtask": number, **told} for number in task.subtasks]
        names = {"id": task.vertex.id, "name": task.vertex.name}
        return Response({**names, "now": task.now, "subtasks": subtasks})


class TaskManagers(View):
    """GET /jobs/:jobid/vertices/:vertexid/taskmanagers: one, as all of a job is on one."""

    def get(self, request: Request, job_id: str, vertex_id: str) -> Response:
        task = self.task(job_id, vertex_id)
        run = task.run
        told = {
            "endpoint": run.endpoint,
            "status": run.state,
            "start-time": run.start,
            "end-time": run.end,
            "duration": run.duration(task.now),
            "metrics": io_metrics.of(task.measured),
            "status-counts": tasks.counts(run.state, task.vertex.parallelism),
            "taskmanager-id": run.taskmanager,
            "aggregated": _aggregated(task),
        }
        names = {"id": task.vertex.id, "name": task.vertex.name}
        return Response({**names, "now": task.now, "taskmanagers": [told]})


class Accumulators(View):
    """GET /jobs/:jobid/vertices/:vertexid/accumulators"""

    def get(self, request: Request, job_id: str, vertex_id: str) -> Response:
        job = self.job(job_id)
        vertex = self.vertex(job, vertex_id)
        found = figures.accumulators(job, vertex.id)
        return Response({"id": vertex.id, "user-accumulators": found})


class BackPressure(View):
    """GET /jobs/:jobid/vertices/:vertexid/backpressure; "deprecated" while nothing is known."""

    def get(self, request: Request, job_id: str, vertex_id: str) -> Response:
        task = self.task(job_id, vertex_id)
        if not task.measured or task.job.state in job_lists.ENDED:
            return Response({"status": "deprecated", "subtasks": []})
        at = JobFigures.objects.filter(job=task.job).values_list("at", flat=True).first()
        subtasks = [_pressed(task, number) for number in range(len(task.measured))]
        worst = figures.level(max(each["ratio"] for each in subtasks))
        return Response(
            {
                "status": "ok",
                "backpressureLevel": worst,
                "end-timestamp": times.of(at, task.now),
                "subtasks": subtasks,
                "backpressure-level": worst,
            }
        )


class FlameGraph(View):
    """GET /jobs/:jobid/vertices/:vertexid/flamegraph

    Of all Python processes of the job: which vertex a sample is of is not known. Asking begins
    with new samples when the last are old, and answers the last there are."""

    def get(self, request: Request, job_id: str, vertex_id: str) -> Response:
        task = self.task(job_id, vertex_id)
        job = task.job
        kind = reading.choice(request, "type", diagnostics.TYPES, diagnostics.FULL)
        if reading.parameter(request, "subtaskindex"):
            self.subtask(task, str(reading.number(request, "subtaskindex", 0)))
        with contextlib.suppress(diagnostics.NotRunning):  # what was seen before is still told
            diagnostics.of_job(job, Diagnosis.Kind.FLAME_GRAPH, self.user)
        newest = diagnostics.newest_of_job(job, Diagnosis.Kind.FLAME_GRAPH)
        tree = None if newest is None else diagnostics.tree(newest, kind)
        if newest is None or tree is None:
            return Response({"endTimestamp": TERMINATED if task.run.end > 0 else WAITING})
        return Response({"endTimestamp": times.of(newest.answered_at), "data": tree})


class Watermarks(View):
    """GET /jobs/:jobid/vertices/:vertexid/watermarks; [] of a source, and before the first."""

    def get(self, request: Request, job_id: str, vertex_id: str) -> Response:
        name = "currentInputWatermark"
        found = [
            {"id": f"{number}.{name}", "value": metrics.text(each[name])}
            for number, each in enumerate(self.task(job_id, vertex_id).measured)
            if name in each
        ]
        return Response(found)


def execution(task: Task, subtask: int) -> dict[str, Any]:
    """Of the current run, or the last."""
    return execution_of(task.run, subtask, [task.figures(subtask)], task.now)


def execution_of(
    run: tasks.Run, subtask: int, measured: list[dict[str, float]], now: int
) -> dict[str, Any]:
    return {
        "subtask": subtask,
        "status": run.state,
        "attempt": run.number,
        "endpoint": run.endpoint,
        "start-time": run.start,
        "end-time": run.end,
        "duration": run.duration(now),
        "metrics": io_metrics.of(measured),
        "taskmanager-id": run.taskmanager,
        "status-duration": run.status_durations(now),
        "start_time": run.start,
    }


def _aggregated(task: Task) -> dict[str, Any]:
    """Over the subtasks; complete, as Flink's dashboard does not come back from a half."""
    counted = [io_metrics.counters(task.figures(number)) for number in task.subtasks]
    spent = task.run.status_durations(task.now)
    return {
        "metrics": distributions.spreads(counted),
        "status-duration": distributions.spreads([spent] * len(counted)),
    }


def _pressed(task: Task, subtask: int) -> dict[str, Any]:
    found = task.figures(subtask)
    ratio = figures.back_pressure(found)
    level = figures.level(ratio)
    return {
        "subtask": subtask,
        "backpressureLevel": level,
        "ratio": ratio,
        "idleRatio": _share(found, "idleTimeMsPerSecond"),
        "busyRatio": _share(found, "busyTimeMsPerSecond"),
        "backpressure-level": level,
    }


def _share(found: dict[str, float], name: str) -> float:
    value = metrics.number(found.get(name, 0.0))
    return min(1.0, max(0.0, value / 1000)) if value == value else 0.0
