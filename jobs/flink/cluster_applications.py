"""/applications: here each job is an application of its own, with the job's id."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from jobs import permissions
from jobs.flink import answers, cluster_jobmanager, failures, job_lists, steering, tasks, times
from jobs.models import Job
from jobs.states import JobState

STATES = ("CREATED", "RUNNING", "FAILING", "FAILED", "CANCELING", "CANCELED", "FINISHED")
#: Every other state of a job is its application's, too, or RUNNING.
_OF_JOB = {JobState.INITIALIZING: "CREATED", JobState.CANCELLING: "CANCELING"}
#: Jobs' names of the states whose time an application tells.
_NAMES = {"CANCELING": "CANCELLING"}


class Overview(answers.View):
    """GET /applications/overview"""

    def get(self, request: Request) -> Response:
        rows = permissions.visible_jobs(request.user).filter(archived_at=None)
        now = times.now()
        light = rows.only("id", "name", "state", "created_at", "ended_at")
        return Response({"applications": [_summary(job, now) for job in light]})


class Application(answers.View):
    """GET /applications/:applicationid"""

    def get(self, request: Request, application_id: str) -> Response:
        job, now = self.job(application_id), times.now()
        told = {
            state: int(job.timestamps.get(_NAMES.get(state, state)) or 0) for state in STATES
        } | {"CREATED": times.of(job.created_at)}
        found = _summary(job, now) | {
            "timestamps": told,
            "jobs": [job_lists.overview(job, now, tasks.current(job).state)],
        }
        return Response(found)


class Cancel(steering.Cancelling):
    """POST /applications/:applicationid/cancel"""

    def post(self, request: Request, application_id: str) -> Response:
        return self.cancel(application_id)


class Exceptions(answers.View):
    """GET /applications/:applicationid/exceptions: what its job has failed with."""

    def get(self, request: Request, application_id: str) -> Response:
        job = self.job(application_id)
        entries = [
            {name: entry[name] for name in ("exceptionName", "stacktrace", "timestamp")}
            | {"jobId": job.pk}
            for entry in failures.history(job)
        ]
        return Response({"exceptionHistory": {"entries": entries}})


class Config(answers.View):
    """GET /applications/:applicationid/jobmanager/config"""

    def get(self, request: Request, application_id: str) -> Response:
        self.job(application_id)
        return Response(cluster_jobmanager.configuration())


def state_of(job: Job) -> str:
    if job.state in STATES:
        return job.state
    return _OF_JOB.get(job.state_info, "RUNNING")


def _summary(job: Job, now: int) -> dict[str, Any]:
    start, end = times.of(job.created_at), job_lists.ended(job)
    return {
        "id": job.pk,
        "name": f"SingleJobApplication({job.name})",
        "start-time": start,
        "end-time": end,
        "duration": max(0, (end if end > 0 else now) - start),
        "status": state_of(job),
        "jobs": {job.state: 1},
    }
