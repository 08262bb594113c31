"""GET /jobs/:jobid and what else is told of a job as a whole: status, plan, settings, result,
accumulators."""

from __future__ import annotations

import re
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from jobs import figures, masking, restart_strategies, vertices
from jobs.flink import (
    answers,
    failures,
    graphs,
    io_metrics,
    job_lists,
    metrics,
    reading,
    steering,
    tasks,
    times,
)
from jobs.models import Job
from jobs.restart_strategies import ExponentialDelay, FailureRate, FixedDelay, NoRestart
from jobs.states import JobState
from jobs.vertices import Vertex

_RESULTS = {
    JobState.FINISHED: "SUCCEEDED",
    JobState.CANCELED: "CANCELED",
    JobState.FAILED: "FAILED",
}
_OPTION = re.compile(r"--?([A-Za-z][\w.-]*)(=.*)?", re.DOTALL)


class Details(steering.Cancel):
    """GET and PATCH /jobs/:jobid"""

    has_page = True

    def get(self, request: Request, job_id: str) -> Response:
        return Response(_details(self.job(job_id)))


class Status(answers.View):
    """GET /jobs/:jobid/status"""

    def get(self, request: Request, job_id: str) -> Response:
        return Response({"status": self.job(job_id).state})


class Plan(answers.View):
    """GET /jobs/:jobid/plan"""

    def get(self, request: Request, job_id: str) -> Response:
        return Response({"plan": graphs.plan(self.job(job_id))})


class Config(answers.View):
    """GET /jobs/:jobid/config: `user-config` is what it was submitted with, secrets masked."""

    def get(self, request: Request, job_id: str) -> Response:
        job = self.job(job_id)
        execution = {
            "restart-strategy": restart_strategy(job),
            "job-parallelism": job.parallelism,
            "object-reuse-mode": False,
            "user-config": {**_arguments(job), **job.shown_configuration},
        }
        return Response({"jid": job.pk, "name": job.name, "execution-config": execution})


class Accumulators(answers.View):
    """GET /jobs/:jobid/accumulators; values serialized by Java there are none here."""

    def get(self, request: Request, job_id: str) -> Response:
        reading.truth(request, "includeSerializedValue")
        found = figures.accumulators(self.job(job_id))
        return Response(
            {
                "job-accumulators": [],
                "user-task-accumulators": found,
                "serialized-user-task-accumulators": {},
            }
        )


class Metrics(answers.View):
    """GET /jobs/:jobid/metrics; [] for a job that has ended, as in Flink."""

    def get(self, request: Request, job_id: str) -> Response:
        job = self.job(job_id)
        found = {} if job.state in job_lists.ENDED else figures.of_job(job)
        return Response(metrics.listed(found, request))


class Result(answers.View):
    """GET /jobs/:jobid/execution-result"""

    def get(self, request: Request, job_id: str) -> Response:
        job = self.job(job_id)
        if job.state not in job_lists.ENDED:
            return Response({"status": {"id": "IN_PROGRESS"}})
        return Response({"status": {"id": "COMPLETED"}, "job-execution-result": _result(job)})


def _details(job: Job) -> dict[str, Any]:
    now = times.now()
    run, graph, measured = tasks.current(job), vertices.of(job.plan), figures.of_vertices(job)
    start, end = times.of(job.created_at), job_lists.ended(job)
    counted = tasks.counts(run.state, len(graph))
    return {
        "jid": job.pk,
        "application-id": job.pk,
        "name": job.name,
        "isStoppable": False,
        "state": job.state,
        "job-type": "STREAMING",
        "schedulerType": "Adaptive",
        "start-time": start,
        "end-time": end,
        "duration": max(0, (end if end > 0 else now) - start),
        "maxParallelism": -1,
        "now": now,
        "timestamps": {state.value: int(job.timestamps.get(state.value, 0)) for state in JobState},
        "vertices": [
            _vertex(job, vertex, run, measured.get(vertex.id, []), now) for vertex in graph
        ],
        "status-counts": counted,
        "plan": graphs.plan(job, graph),
        "pending-operators": 0,
    }


def _vertex(
    job: Job, vertex: Vertex, run: tasks.Run, measured: list[dict[str, float]], now: int
) -> dict[str, Any]:
    return {
        "id": vertex.id,
        "slotSharingGroupId": graphs.slot_sharing_group(job, vertex),
        "name": vertex.name,
        "maxParallelism": vertex.max_parallelism,
        "parallelism": vertex.parallelism,
        "status": run.state,
        "start-time": run.start,
        "end-time": run.end,
        "duration": run.duration(now),
        "tasks": tasks.counts(run.state, vertex.parallelism),
        "metrics": io_metrics.of(measured),
    }


def _result(job: Job) -> dict[str, Any]:
    start, end = times.of(job.created_at), times.of(job.ended_at)
    found: dict[str, Any] = {
        "id": job.pk,
        "name": job.name,
        "application-status": _RESULTS[job.state_info],
        "accumulator-results": {},
        "net-runtime": max(0, end - start),
    }
    if job.state == JobState.FAILED:
        found["failure-cause"] = failures.cause(job)
    return found | {"application-id": job.pk, "start-time": start, "end-time": end}


def restart_strategy(job: Job) -> str:
    """In Flink's words."""
    if not job.restart_strategy:
        return "Cluster level default restart strategy"
    match restart_strategies.read(job.restart_strategy, {}):
        case NoRestart():
            return "Restart deactivated."
        case FixedDelay(attempts, delay):
            return (
                f"Restart with fixed delay ({times.period(delay)}). #{attempts} restart attempts."
            )
        case FailureRate(most, interval, delay):
            return (
                f"Failure rate restart with maximum of {most} failures within interval "
                f"{times.period(interval)} and fixed delay {times.period(delay)}."
            )
        case ExponentialDelay(initial, longest, multiplier, reset, jitter):
            return (
                f"Restart with exponential delay: starting at {times.period(initial)}, increasing "
                f"by {multiplier:g}, with maximum {times.period(longest)}. Delay resets after "
                f"{times.period(reset)} with jitter {jitter:g}"
            )


def _arguments(job: Job) -> dict[str, str]:
    """`--name value` of its arguments, as Flink's ParameterTool reads them; secrets masked."""
    found: dict[str, str] = {}
    name = ""
    for argument in job.arguments:
        option = _OPTION.fullmatch(argument)
        if option:
            name = "" if option[2] else option[1]
            found[option[1]] = (option[2] or "=__NO_VALUE_KEY")[1:]
        elif name:
            found[name], name = argument, ""
    return masking.masked(found)
