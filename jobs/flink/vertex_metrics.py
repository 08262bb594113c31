"""Metrics of a vertex: of each of its subtasks, of one, and over all of them."""

from __future__ import annotations

import re

from rest_framework.request import Request
from rest_framework.response import Response

from jobs import figures
from jobs.flink import job_lists, job_vertices, metrics, reading
from jobs.models import Job
from jobs.vertices import Vertex

_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


class View(job_vertices.View):
    def of_subtasks(self, job_id: str, vertex_id: str) -> list[dict[str, float]]:
        """The task's metrics and `<operator>.<metric>` of its operators; [] when the job has
        ended."""
        job = self.job(job_id)
        vertex = self.vertex(job, vertex_id)
        return [] if job.state in job_lists.ENDED else _measured(job, vertex)


class Metrics(View):
    """GET /jobs/:jobid/vertices/:vertexid/metrics: `<subtask>.<metric>`"""

    def get(self, request: Request, job_id: str, vertex_id: str) -> Response:
        found = {
            f"{number}.{name}": value
            for number, each in enumerate(self.of_subtasks(job_id, vertex_id))
            for name, value in each.items()
        }
        return Response(metrics.listed(found, request))


class SubtaskMetrics(View):
    """GET …/subtasks/:subtaskindex/metrics"""

    def get(self, request: Request, job_id: str, vertex_id: str, subtask: str) -> Response:
        found = self.of_subtasks(job_id, vertex_id)
        own = found[int(subtask)] if int(subtask) < len(found) else {}
        return Response(metrics.listed(own, request))


class Aggregated(View):
    """GET …/subtasks/metrics"""

    def get(self, request: Request, job_id: str, vertex_id: str) -> Response:
        found = self.of_subtasks(job_id, vertex_id)
        chosen = _chosen(request, len(found))
        return Response(metrics.aggregated((found[n] for n in chosen), request, metrics.WITH_SKEW))


class CoordinatorMetrics(View):
    """GET …/jm-operator-metrics: nothing of an operator runs on the JobManager here."""

    def get(self, request: Request, job_id: str, vertex_id: str) -> Response:
        self.of_subtasks(job_id, vertex_id)
        return Response([])


def _measured(job: Job, vertex: Vertex) -> list[dict[str, float]]:
    of_task = figures.of_vertices(job).get(vertex.id, [])
    of_operators = figures.of_operators(job, vertex.id)
    return [
        {
            **(of_task[number] if number < len(of_task) else {}),
            **(of_operators[number] if number < len(of_operators) else {}),
        }
        for number in range(max(len(of_task), len(of_operators)))
    ]


def _chosen(request: Request, number: int) -> list[int]:
    """Numbers below `number` that `subtasks=0,2-5` names; all without it. Raises ParseError."""
    asked = reading.names(request, "subtasks")
    if not asked:
        return list(range(number))
    chosen: set[int] = set()
    for part in asked:
        found = _RANGE.fullmatch(part)
        if found is None:
            raise reading.unreadable(f'query parameter (subtasks) from value "{part[:100]}"')
        first = int(found[1])
        chosen |= set(range(first, min(number, int(found[2] or first) + 1)))
    return sorted(chosen & set(range(number)))
