"""GET /jobs/:jobid/vertices/:vertexid/subtasks/…: executions of single subtasks."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from jobs import figures
from jobs.flink import answers, job_vertices, tasks
from jobs.flink.job_vertices import Task
from jobs.models import Job


class Subtask(job_vertices.View):
    """GET …/subtasks/:subtaskindex: its current execution, or its last"""

    def get(self, request: Request, job_id: str, vertex_id: str, subtask: str) -> Response:
        task = self.task(job_id, vertex_id)
        return Response(job_vertices.execution(task, self.subtask(task, subtask)))


class Execution(job_vertices.View):
    """GET …/subtasks/:subtaskindex/attempts/:attempt. Figures are kept of the last one alone."""

    def get(
        self, request: Request, job_id: str, vertex_id: str, subtask: str, attempt: str
    ) -> Response:
        task = self.task(job_id, vertex_id)
        number, run = self.subtask(task, subtask), run_of(task, attempt)
        measured = [task.figures(number)] if run.number == task.run.number else []
        return Response(job_vertices.execution_of(run, number, measured, task.now))


class ExecutionAccumulators(job_vertices.View):
    """GET …/subtasks/:subtaskindex/attempts/:attempt/accumulators"""

    def get(
        self, request: Request, job_id: str, vertex_id: str, subtask: str, attempt: str
    ) -> Response:
        task = self.task(job_id, vertex_id)
        number, run = self.subtask(task, subtask), run_of(task, attempt)
        return Response(
            {
                "subtask": number,
                "attempt": run.number,
                "id": execution_id(task.job, task.vertex.id, number, run.number),
                "user-accumulators": [],
            }
        )


class Accumulators(job_vertices.View):
    """GET …/subtasks/accumulators. They are counted per vertex: what a subtask has added is not
    known, unless it is the only one."""

    def get(self, request: Request, job_id: str, vertex_id: str) -> Response:
        task = self.task(job_id, vertex_id)
        only = task.vertex.parallelism == 1
        found = figures.accumulators(task.job, task.vertex.id) if only else []
        subtasks = [_told(task, number, found) for number in task.subtasks]
        parallelism = task.vertex.parallelism
        return Response({"id": task.vertex.id, "parallelism": parallelism, "subtasks": subtasks})


def run_of(task: Task, attempt: str) -> tasks.Run:
    """Raises Refused (404) for an attempt that there was not."""
    if int(attempt) == task.run.number:
        return task.run
    run = tasks.find(task.job, int(attempt))
    if run is None:
        raise answers.not_found(f"Could not find execution for attempt {int(attempt)}")
    return run


def execution_id(job: Job, vertex_id: str, subtask: int, attempt: int) -> str:
    return f"{job.pk}_{vertex_id}_{subtask}_{attempt}"


def _told(task: Task, number: int, found: list[dict[str, str]]) -> dict[str, Any]:
    told = {"attempt": task.run.number, "endpoint": task.run.endpoint}
    return {"subtask": number, **told, "user-accumulators": found}
