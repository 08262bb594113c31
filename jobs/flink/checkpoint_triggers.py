"""Checkpoints that are asked for, under Flink's own addresses and with its answers."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import audit, checkpoint_requests
from jobs.flink import answers, checkpoints, operations, reading

#: What is kept of a batch is decided by the state backend: both are the same here.
_TYPES = ("CONFIGURED", "FULL")


class Checkpoints(checkpoints.Statistics):
    """GET and POST /jobs/:jobid/checkpoints"""

    def post(self, request: Request, job_id: str) -> Response:
        job, body = self.job_to_operate(job_id), reading.body(request)
        trigger_id = operations.trigger_id(body)
        if (reading.text(body, "checkpointType") or _TYPES[0]).upper() not in _TYPES:
            raise ParseError(f"checkpointType is {' or '.join(_TYPES)}")
        row = checkpoint_requests.trigger(job, self.user, trigger_id)
        audit.record(request, "job.checkpoint", job, trigger=row.trigger_id)
        return operations.triggered(row.trigger_id)


class Status(answers.View):
    """GET /jobs/:jobid/checkpoints/:triggerid"""

    def get(self, request: Request, job_id: str, trigger_id: str) -> Response:
        job, trigger_id = self.job(job_id), trigger_id.lower()
        row = job.checkpoint_requests.filter(trigger_id=trigger_id).first()
        if row is None:
            raise answers.Refused(
                HTTPStatus.NOT_FOUND,
                f"There is no checkpoint operation with triggerId={trigger_id} for job {job.pk}.",
            )
        if row.answered_at is None:
            return operations.in_progress()
        if row.failure:
            return operations.completed({"failureCause": operations.cause(row.failure)})
        return operations.completed({"checkpointId": row.checkpoint_id})
