"""What Flink tells of a job's processes: its JobManager's settings, and where logs are read."""

from __future__ import annotations

from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.flink import answers, cluster_jobmanager
from jobs.models import Job


class Config(answers.View):
    """GET /jobs/:jobid/jobmanager/config: the cluster's, with the job's own settings over them"""

    def get(self, request: Request, job_id: str) -> Response:
        own = self.job(job_id).shown_configuration
        found = {each["key"]: each["value"] for each in cluster_jobmanager.configuration()} | own
        return Response([{"key": key, "value": value} for key, value in sorted(found.items())])


class Environment(answers.View):
    """GET /jobs/:jobid/jobmanager/environment"""

    def get(self, request: Request, job_id: str) -> Response:
        self.job(job_id)
        return Response(cluster_jobmanager.environment())


class LogUrl(answers.View):
    """GET /jobs/:jobid/jobmanager/log-url and …/taskmanagers/:taskmanagerid/log-url: the page of
    its driver's log, where all that its program and its tasks say is"""

    def get(self, request: Request, job_id: str, taskmanager_id: str = "") -> Response:
        return Response({"url": _log_of(request, self.job(job_id))})


def _log_of(request: HttpRequest, job: Job) -> str:
    return request.build_absolute_uri(f"/jobs/{job.pk}/log/")
