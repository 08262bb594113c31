"""/jobmanager: the JobManager that leads, and what this web process knows of the cluster."""

from __future__ import annotations

import platform
import sys
from http import HTTPStatus
from importlib import metadata
from typing import Any

from django.conf import settings
from django.http import StreamingHttpResponse
from django.utils import timezone
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import cluster_figures, diagnostics, jobmanagers, leases, log_files, masking, permissions
from jobs.flink import answers, cluster_logs, metrics, thread_dumps
from jobs.models import Lease


class ClusterView(answers.View):
    """What belongs to no team: for everybody who may look at the cluster."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if permissions.role(request.user) is None:
            raise PermissionDenied("This token is for the jobs of one team only.")


class Config(ClusterView):
    """GET /jobmanager/config"""

    def get(self, request: Request) -> Response:
        return Response(configuration())


class Environment(ClusterView):
    """GET /jobmanager/environment: of the web process, which runs the same code."""

    def get(self, request: Request) -> Response:
        return Response(environment())


class Metrics(ClusterView):
    """GET /jobmanager/metrics"""

    def get(self, request: Request) -> Response:
        return Response(metrics.listed(cluster_figures.of_jobmanager(), request))


class Logs(ClusterView):
    """GET /jobmanager/logs"""

    def get(self, request: Request) -> Response:
        return Response(cluster_logs.listed(log_files.of_jobmanagers()))


class LogFile(ClusterView):
    """GET /jobmanager/logs/:filename"""

    def get(self, request: Request, file_name: str) -> StreamingHttpResponse:
        return cluster_logs.sent(request, cluster_logs.named(log_files.of_jobmanagers(), file_name))


class Log(ClusterView):
    """GET /jobmanager/log"""

    def get(self, request: Request) -> StreamingHttpResponse:
        files = log_files.of_jobmanagers()
        if not files:
            raise answers.not_found(
                "The JobManager writes no file in the folder of logs of this machine; its log is "
                "where its output goes."
            )
        return cluster_logs.sent(request, files[0])


class Stdout(ClusterView):
    """GET /jobmanager/stdout: it is in the log."""

    def get(self, request: Request) -> StreamingHttpResponse:
        return cluster_logs.nothing()


class ThreadDump(ClusterView):
    """GET /jobmanager/thread-dump: empty while nobody leads."""

    def get(self, request: Request) -> Response:
        leader = jobmanagers.leader()
        if leader is None:
            return Response({"threadInfos": []})
        return thread_dumps.answered(diagnostics.of_jobmanager(leader, self.user))


class Profiler(ClusterView):
    """GET and POST /jobmanager/profiler"""

    def get(self, request: Request, **_: Any) -> Response:
        return Response({"profilingList": []})

    def post(self, request: Request, **_: Any) -> Response:
        raise answers.Refused(
            HTTPStatus.NOT_IMPLEMENTED,
            "There is no profiler of Java here; look at the flame graph of a job's vertex.",
        )


class ProfilerFile(ClusterView):
    """GET /jobmanager/profiler/:filename"""

    def get(self, request: Request, file_name: str, **_: Any) -> Response:
        raise answers.not_found(f"There is no profiling result {file_name}.")


def configuration() -> list[dict[str, str]]:
    """Of the cluster by Flink's keys; no values of secrets, no addresses of databases."""
    lease = Lease.objects.filter(name=leases.JOBMANAGER, expires_at__gt=timezone.now()).first()
    known = {
        "jobmanager.rpc.address": lease.holder if lease else "",
        "rest.address": settings.HEADRACE_WEB_HOST,
        "rest.port": str(settings.HEADRACE_WEB_PORT),
        "taskmanager.numberOfTaskSlots": str(settings.HEADRACE_SLOTS),
        "web.submit.enable": str(settings.HEADRACE_UPLOADS).lower(),
        "execution.checkpointing.dir": settings.HEADRACE_CHECKPOINTS.as_uri(),
        "execution.checkpointing.savepoint-dir": settings.HEADRACE_SAVEPOINTS.as_uri(),
        "heartbeat.interval": f"{settings.HEADRACE_HEARTBEAT_INTERVAL} s",
        "heartbeat.timeout": f"{settings.HEADRACE_HEARTBEAT_TIMEOUT} s",
        **settings.HEADRACE_PROPERTIES,
    }
    shown = masking.masked(known)
    return [{"key": key, "value": shown[key]} for key in sorted(shown)]


def environment() -> dict[str, Any]:
    """`jvm` is Flink's word for it: the Python of the platform, and what it has installed."""
    installed = {f"{each.metadata['Name']}-{each.version}" for each in metadata.distributions()}
    return {
        "jvm": {
            "version": f"{platform.python_implementation()} {platform.python_version()}",
            "arch": platform.machine(),
            "options": [f"-X {name}={value}" for name, value in sys._xoptions.items()],
        },
        "classpath": sorted(installed),
    }
