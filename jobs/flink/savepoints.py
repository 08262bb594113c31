"""Savepoints under Flink's own addresses, with Flink's answers: `flink savepoint` and `flink stop`
work with them."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.db.models import QuerySet
from rest_framework.exceptions import NotFound, ParseError, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from headrace.wire.savepoint import BadSavepoint
from jobs import audit, beginnings, options, permissions, savepoints
from jobs.flink import answers, operations, reading
from jobs.models import Job, Savepoint
from jobs.roles import Role
from jobs.states import SavepointState

_FORMATS = ("CANONICAL", "NATIVE")


class Triggering(answers.View):
    def trigger(
        self,
        job: Job,
        body: Mapping[str, Any],
        directory: str,
        then: Savepoint.Then,
        *,
        drain: bool = False,
    ) -> Response:
        """What cannot be done is an operation that has failed."""
        trigger_id = operations.trigger_id(body)
        if (reading.text(body, "formatType") or _FORMATS[0]).upper() not in _FORMATS:
            raise ParseError(f"formatType is {' or '.join(_FORMATS)}")
        refused = ""
        try:
            row = savepoints.trigger(
                job,
                self.user,
                directory=directory,
                then=then,
                drain=drain,
                trigger_id=trigger_id,
            )
        except (savepoints.Conflict, options.InvalidOption) as error:
            refused = str(error)
            row = savepoints.refused(job, self.user, trigger_id, refused)
        action = "job.stop" if then else "job.savepoint"
        result = audit.Result.FAILED if refused else audit.Result.OK
        audit.record(
            self.request,
            action,
            job,
            result=result,
            savepoint=row.path,
            then=then,
            drain=drain,
            why=refused or None,
        )
        return operations.triggered(row.trigger_id)


class Savepoints(Triggering):
    """POST /jobs/:jobid/savepoints"""

    def post(self, request: Request, job_id: str) -> Response:
        job, body = self.job_to_operate(job_id), reading.body(request)
        cancel = reading.flag(body, "cancel-job", "cancelJob")
        then = Savepoint.Then.CANCEL if cancel else Savepoint.Then.RUN
        directory = reading.text(body, "target-directory", "targetDirectory")
        return self.trigger(job, body, directory, then)


class Stop(Triggering):
    """POST /jobs/:jobid/stop"""

    def post(self, request: Request, job_id: str) -> Response:
        job, body = self.job_to_operate(job_id), reading.body(request)
        directory = reading.text(body, "targetDirectory", "target-directory")
        drain = reading.flag(body, "drain")
        return self.trigger(job, body, directory, Savepoint.Then.FINISH, drain=drain)


class Status(answers.View):
    """GET /jobs/:jobid/savepoints/:triggerid"""

    def get(self, request: Request, job_id: str, trigger_id: str) -> Response:
        job, trigger_id = self.job(job_id), trigger_id.lower()
        row = job.savepoints.filter(trigger_id=trigger_id).first()
        if row is None:
            raise answers.Refused(
                HTTPStatus.NOT_FOUND,
                f"There is no savepoint operation with triggerId={trigger_id} for job {job.pk}.",
            )
        match row.state_info:
            case SavepointState.TRIGGERED | SavepointState.IN_PROGRESS:
                return operations.in_progress()
            case SavepointState.FAILED:
                return operations.completed({"failure-cause": operations.cause(row.failure)})
            case _:
                return operations.completed({"location": f"file:{row.path}"})


class Disposal(answers.View):
    """POST /savepoint-disposal"""

    def post(self, request: Request) -> Response:
        named = reading.text(reading.body(request), "savepoint-path")
        if not named:
            raise ParseError("savepoint-path is missing: the savepoint's directory")
        try:
            row = beginnings.known(named)
        except BadSavepoint as error:
            raise ParseError(str(error)) from error
        if row is None or not _visible(request, Role.VIEWER).filter(pk=row.pk).exists():
            raise NotFound(f"this cluster knows of no savepoint at {named}; remove it by hand")
        if not _visible(request, Role.OPERATOR).filter(pk=row.pk).exists():
            raise PermissionDenied("Disposing of it needs the role operator in its job's team.")
        savepoints.dispose(row, self.user)
        audit.record(request, "savepoint.dispose", row)
        return operations.triggered(row.pk, HTTPStatus.OK)


class DisposalStatus(answers.View):
    """GET /savepoint-disposal/:triggerid"""

    def get(self, request: Request, trigger_id: str) -> Response:
        row = _visible(request, Role.VIEWER).filter(pk=trigger_id.lower()).first()
        if row is not None and row.state == SavepointState.DISPOSING:
            return operations.in_progress()
        if row is not None and row.state == SavepointState.DISPOSED:
            return operations.completed({})
        if row is not None and row.state == SavepointState.COMPLETED and row.failure:
            return operations.completed({"failure-cause": operations.cause(row.failure)})
        raise NotFound(f"There is no savepoint disposal with triggerId={trigger_id}.")


def _visible(request: Request, least: Role) -> QuerySet[Savepoint]:
    """Those of a job that is gone count as the cluster's, as those of jobs of no team do."""
    return permissions.of_visible(Savepoint.objects.all(), request.user, "job__team", least)
