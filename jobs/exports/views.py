"""GET /metrics, for Prometheus. A token is sent by its `authorization`."""

from __future__ import annotations

import gzip
import re
from typing import Any

from django.http import HttpResponse
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request
from rest_framework.views import APIView

from jobs import permissions
from jobs.exports import collecting, prometheus
from jobs.exports.samples import JOBMANAGER, SCOPES, TASKMANAGER

#: From this size on a compressed answer is sent to who takes one.
LARGE = 4096
_ID = re.compile("[0-9a-f]{32}")
FASTEST = 1


class AnyForm(BaseContentNegotiation):
    """Prometheus asks for text in several versions; there is one."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Request, renderers: Any, format_suffix: Any = None) -> Any:
        return renderers[0], renderers[0].media_type


class MetricsView(APIView):
    """Of the cluster and of the jobs that the token's owner may see. `?scope=jobmanager,headrace`
    leaves out what a large cluster has most of: tasks and operators; `?job=<id>` all other jobs."""

    content_negotiation_class = AnyForm
    schema = None

    def get(self, request: Request) -> HttpResponse:
        asked = [scope.replace("_", ".") for scope in _list(request, "scope")]
        unknown = sorted(set(asked) - set(SCOPES))
        if unknown:
            known = ", ".join(scope.replace(".", "_") for scope in SCOPES)
            return _plain(f"There is no scope {unknown[0]!r}: it is one of {known}.\n", 400)
        jobs = permissions.visible_jobs(request.user)
        if "job" in request.query_params:
            jobs = jobs.filter(pk__in=[*filter(_ID.fullmatch, _list(request, "job"))])
        scopes = set(asked or SCOPES)
        if permissions.rights(request.user).cluster is None:  # a token for one team's jobs
            scopes -= {JOBMANAGER, TASKMANAGER}
        found = collecting.groups(jobs, scopes)
        answer = _plain(prometheus.text(found))
        if "gzip" in request.headers.get("Accept-Encoding", "") and len(answer.content) > LARGE:
            answer.content = gzip.compress(answer.content, FASTEST)
            answer.headers["Content-Encoding"] = "gzip"
        answer.headers["Vary"] = "Accept-Encoding, Authorization, Cookie"
        answer.headers["Cache-Control"] = "no-store"
        return answer


def _list(request: Request, name: str) -> list[str]:
    return [part for part in request.query_params.get(name, "").split(",") if part]


def _plain(text: str, status: int = 200) -> HttpResponse:
    return HttpResponse(text, content_type=prometheus.CONTENT_TYPE, status=status)
