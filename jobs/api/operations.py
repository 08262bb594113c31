"""Flink's asynchronous operations: a request answers with an id, which is asked for until it is
COMPLETED. A failure is COMPLETED, too, with its cause."""

from __future__ import annotations

import re
from typing import Any

from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.api import permissions
from jobs.models import Job

_HEX = re.compile(r"[0-9a-f]{32}")
_CAUSE = "org.apache.flink.runtime.checkpoint.CheckpointException"


class View(APIView):
    def get_permissions(self) -> Any:
        own: list[BasePermission] = []
        if self.request.method == "POST":
            own.append(permissions.MaySteer())
        return [*super().get_permissions(), *own]


def job(job_id: str) -> Job:
    """Raises NotFound."""
    row = Job.objects.filter(pk=job_id).first()
    if row is None:
        raise NotFound(f"Job {job_id} not found")
    return row


def body(request: Request) -> dict[str, Any]:
    """An empty body asks for nothing special."""
    values = request.data
    if not isinstance(values, dict):
        raise ValidationError("Request did not match expected format: give a JSON object")
    return values


def flag(values: dict[str, Any], name: str) -> bool:
    value = values.get(name) or False
    if not isinstance(value, bool):
        raise ValidationError(f"{name} is true or false")
    return value


def in_progress() -> Response:
    return Response({"status": {"id": "IN_PROGRESS"}, "operation": None})


def completed(operation: dict[str, Any]) -> Response:
    return Response({"status": {"id": "COMPLETED"}, "operation": operation})


def cause(why: str) -> dict[str, str]:
    """As Flink's clients read it: a class and a stack trace."""
    return {"class": _CAUSE, "stack-trace": f"{_CAUSE}: {why}"}


def trigger_id(values: dict[str, Any]) -> str:
    """The caller's own id of the request, if it has one."""
    found = str(values.get("triggerId") or "")
    if found and not _HEX.fullmatch(found):
        raise ValidationError(f"triggerId {found!r} is not 32 hexadecimal digits")
    return found
