"""Savepoints under Flink's own addresses, with Flink's answers: `flink savepoint` and `flink stop`
work with them.

Operations are asynchronous: a request answers with an id, which is asked for until it is COMPLETED.
A failure is COMPLETED, too, with its cause. Shapes as recorded from Flink 2.3.
"""

from __future__ import annotations

from typing import Any

from django.urls import path, re_path
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from headrace.wire.savepoint import BadSavepoint
from jobs import beginnings, options, savepoints
from jobs.api import operations
from jobs.api.savepoints import user_of
from jobs.models import Savepoint
from jobs.states import SavepointState

_FORMATS = ("CANONICAL", "NATIVE")


@extend_schema(exclude=True)
class Savepoints(operations.View):
    """POST /jobs/:jobid/savepoints"""

    def post(self, request: Request, job_id: str) -> Response:
        body = operations.body(request)
        cancel = operations.flag(body, "cancel-job")
        then = Savepoint.Then.CANCEL if cancel else Savepoint.Then.RUN
        return _triggered(request, job_id, body, body.get("target-directory"), then)


@extend_schema(exclude=True)
class Stop(operations.View):
    """POST /jobs/:jobid/stop"""

    def post(self, request: Request, job_id: str) -> Response:
        body = operations.body(request)
        directory = body.get("targetDirectory")
        drain = operations.flag(body, "drain")
        return _triggered(request, job_id, body, directory, Savepoint.Then.FINISH, drain=drain)


@extend_schema(exclude=True)
class SavepointStatus(operations.View):
    """GET /jobs/:jobid/savepoints/:triggerid"""

    def get(self, request: Request, job_id: str, trigger_id: str) -> Response:
        row = Savepoint.objects.filter(job=operations.job(job_id), trigger_id=trigger_id).first()
        if row is None:
            raise NotFound(
                f"There is no savepoint operation with triggerId={trigger_id} for job {job_id}."
            )
        match row.state_info:
            case SavepointState.TRIGGERED | SavepointState.IN_PROGRESS:
                return operations.in_progress()
            case SavepointState.FAILED:
                return operations.completed({"failure-cause": operations.cause(row.failure)})
            case _:
                return operations.completed({"location": f"file:{row.path}"})


@extend_schema(exclude=True)
class Disposal(operations.View):
    """POST /savepoint-disposal"""

    def post(self, request: Request) -> Response:
        named = operations.body(request).get("savepoint-path")
        if not isinstance(named, str) or not named:
            raise ValidationError("savepoint-path is missing: the savepoint's directory")
        try:
            row = beginnings.known(named)
        except BadSavepoint as error:
            raise ValidationError(str(error)) from error
        if row is None:
            raise NotFound(f"this cluster knows of no savepoint at {named}; remove it by hand")
        savepoints.dispose(row, user_of(request))
        return Response({"request-id": row.pk})


@extend_schema(exclude=True)
class DisposalStatus(operations.View):
    """GET /savepoint-disposal/:triggerid"""

    def get(self, request: Request, savepoint_id: str) -> Response:
        row = Savepoint.objects.filter(pk=savepoint_id).first()
        if row is not None and row.state == SavepointState.DISPOSING:
            return operations.in_progress()
        if row is not None and row.state == SavepointState.DISPOSED:
            return operations.completed({})
        if row is not None and row.state == SavepointState.COMPLETED and row.failure:
            return operations.completed({"failure-cause": operations.cause(row.failure)})
        raise NotFound(f"There is no savepoint disposal with triggerId={savepoint_id}.")


def _triggered(
    request: Request,
    job_id: str,
    body: dict[str, Any],
    directory: object,
    then: Savepoint.Then,
    *,
    drain: bool = False,
) -> Response:
    trigger_id = operations.trigger_id(body)
    if str(body.get("formatType") or _FORMATS[0]).upper() not in _FORMATS:
        raise ValidationError(f"formatType is {' or '.join(_FORMATS)}")
    job, user = operations.job(job_id), user_of(request)
    try:
        row = savepoints.trigger(
            job,
            user,
            directory=str(directory or ""),
            then=then,
            drain=drain,
            trigger_id=trigger_id,
        )
    except (savepoints.Conflict, options.InvalidOption) as error:
        row = savepoints.refused(job, user, trigger_id, str(error))
    return Response({"request-id": row.trigger_id}, status=status.HTTP_202_ACCEPTED)


_JOB = r"^jobs/(?P<job_id>[0-9a-f]{32})"
urlpatterns = [
    re_path(rf"{_JOB}/savepoints$", Savepoints.as_view(), name="flink-savepoints"),
    re_path(
        rf"{_JOB}/savepoints/(?P<trigger_id>[0-9a-f]{{32}})$",
        SavepointStatus.as_view(),
        name="flink-savepoint",
    ),
    re_path(rf"{_JOB}/stop$", Stop.as_view(), name="flink-stop"),
    path("savepoint-disposal", Disposal.as_view(), name="flink-disposal"),
    re_path(
        r"^savepoint-disposal/(?P<savepoint_id>[0-9a-f]{32})$",
        DisposalStatus.as_view(),
        name="flink-disposal-status",
    ),
]
