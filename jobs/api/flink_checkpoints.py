"""Checkpoints that are asked for, under Flink's own addresses and with its answers."""

from __future__ import annotations

from django.urls import re_path
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import checkpoint_requests
from jobs.api import operations
from jobs.api.savepoints import user_of

#: What is kept of a batch is decided by the state backend: both are the same here.
_TYPES = ("CONFIGURED", "FULL")


@extend_schema(exclude=True)
class Checkpoints(operations.View):
    """POST /jobs/:jobid/checkpoints"""

    def post(self, request: Request, job_id: str) -> Response:
        body = operations.body(request)
        trigger_id = operations.trigger_id(body)
        if str(body.get("checkpointType") or _TYPES[0]).upper() not in _TYPES:
            raise ValidationError(f"checkpointType is {' or '.join(_TYPES)}")
        row = checkpoint_requests.trigger(operations.job(job_id), user_of(request), trigger_id)
        return Response({"request-id": row.trigger_id}, status=status.HTTP_202_ACCEPTED)


@extend_schema(exclude=True)
class CheckpointStatus(operations.View):
    """GET /jobs/:jobid/checkpoints/:triggerid"""

    def get(self, request: Request, job_id: str, trigger_id: str) -> Response:
        rows = operations.job(job_id).checkpoint_requests
        row = rows.filter(trigger_id=trigger_id).first()
        if row is None:
            raise NotFound(
                f"There is no checkpoint operation with triggerId={trigger_id} for job {job_id}."
            )
        if row.answered_at is None:
            return operations.in_progress()
        if row.failure:
            return operations.completed({"failureCause": operations.cause(row.failure)})
        return operations.completed({"checkpointId": row.checkpoint_id})


_JOB = r"^jobs/(?P<job_id>[0-9a-f]{32})"
urlpatterns = [
    re_path(rf"{_JOB}/checkpoints$", Checkpoints.as_view(), name="flink-checkpoints"),
    re_path(
        rf"{_JOB}/checkpoints/(?P<trigger_id>[0-9a-f]{{32}})$",
        CheckpointStatus.as_view(),
        name="flink-checkpoint",
    ),
]
