"""How jobs are ended: PATCH /jobs/:jobid, and the addresses that Flink's dashboard uses."""

from __future__ import annotations

from http import HTTPStatus
from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from jobs import actions, audit
from jobs.flink import answers, reading
from jobs.models import Job
from jobs.states import JobState

_STOP = (
    'The termination mode "stop" has been removed. For an ungraceful shutdown, please use '
    '"cancel" instead. For a graceful shutdown, please use "jobs/:jobId/stop" instead.'
)


class Cancelling(answers.View):
    """Ends a job for good. One that is cancelled already is no error, nor is its end."""

    def cancel(self, job_id: str) -> Response:
        """Raises Refused: 404, and 409 for a job that has ended otherwise."""
        job = self._found(job_id)
        if job.state != JobState.CANCELED:
            try:
                actions.cancel(job, self.user)
            except actions.Conflict as error:
                raise answers.Refused(HTTPStatus.CONFLICT, str(error)) from error
            audit.record(self.request, "job.cancel", job)
        return Response({}, status=HTTPStatus.ACCEPTED)

    def stop(self, job_id: str) -> Response:
        self._found(job_id)
        raise answers.Refused(HTTPStatus.PERMANENT_REDIRECT, _STOP)

    def _found(self, job_id: str) -> Job:
        try:
            return self.job_to_operate(job_id)
        except answers.Refused as error:
            raise answers.Refused(error.status_code, "Job could not be found.") from error


class Cancel(Cancelling):
    """PATCH /jobs/:jobid?mode=cancel"""

    def patch(self, request: Request, job_id: str) -> Response:
        mode = reading.choice(request, "mode", ("cancel", "stop"), "cancel")
        return self.cancel(job_id) if mode == "cancel" else self.stop(job_id)


class YarnCancel(Cancelling):
    """GET /jobs/:jobid/yarn-cancel: the button of Flink's dashboard"""

    changing: ClassVar[tuple[str, ...]] = ("GET",)

    def get(self, request: Request, job_id: str) -> Response:
        return self.cancel(job_id)

    def head(self, request: Request, job_id: str) -> Response:
        """Django would take it for a GET."""
        return self.http_method_not_allowed(request)


class YarnStop(Cancelling):
    """GET /jobs/:jobid/yarn-stop"""

    def get(self, request: Request, job_id: str) -> Response:
        return self.stop(job_id)


class Heartbeat(answers.View):
    """PATCH /jobs/:jobid/clientHeartbeat: jobs here do not end with the client that sent them."""

    def patch(self, request: Request, job_id: str) -> Response:
        self.job_to_operate(job_id)
        reading.body(request)
        return Response({}, status=HTTPStatus.ACCEPTED)


class Rescaling(answers.View):
    """PATCH /jobs/:jobid/rescaling: as in Flink, where resource requirements took its place."""

    def patch(self, request: Request, job_id: str) -> Response:
        self.job_to_operate(job_id)
        raise answers.Refused(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "Rescaling is temporarily disabled. See FLINK-12312. "
            "PUT /jobs/:jobid/resource-requirements changes the parallelism.",
        )


class RescalingStatus(answers.View):
    """GET /jobs/:jobid/rescaling/:triggerid"""

    def get(self, request: Request, job_id: str, trigger_id: str) -> Response:
        self.job(job_id)
        raise answers.not_found(f"There is no rescaling with triggerId={trigger_id}.")
