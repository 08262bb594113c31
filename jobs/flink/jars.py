"""/jars: programs that are uploaded, looked at, planned and run. A jar here is a Python file, a
zip, a wheel or a SQL script (`jobs.artifacts`)."""

from __future__ import annotations

import html
from http import HTTPStatus
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from rest_framework.exceptions import PermissionDenied
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import actions, artifacts, audit, permissions, planning, uploads, vertices
from jobs.flink import answers, graphs, jars_requests, reading
from jobs.models import Job, Upload, new_job_id

#: Where Flink says it keeps them: clients take the last part of the path.
_FOLDER = "/flink-web-upload"
_FIELD = "jarfile"
#: Rows of one list; there is one for each file that people use.
_MOST = 1000


class JarView(answers.View):
    def upload(self, jar_id: str) -> Upload:
        """Raises Refused (400, as Flink) also for one that the caller may not see."""
        row = uploads.visible(self.request.user).filter(pk=jar_id).first()
        if row is None:
            raise answers.bad_request(f"File {jar_id} does not exist in {_FOLDER}.")
        return row

    def upload_to_run(self, jar_id: str) -> Upload:
        row = self.upload(jar_id)
        if not permissions.may_submit(self.request.user, row.team_id):
            raise PermissionDenied("Running programs needs the role developer.")
        return row


class Jars(answers.View):
    """GET /jars"""

    def get(self, request: Request) -> Response:
        rows = uploads.visible(request.user)[:_MOST]
        files = [_described(row) for row in rows]
        return Response({"address": request.build_absolute_uri("/").rstrip("/"), "files": files})


class Uploading(answers.View):
    """POST /jars/upload, multipart; `?team=` where the caller has several."""

    parser_classes = [MultiPartParser]

    def post(self, request: Request) -> Response:
        user = self.user
        if user is None or not permissions.may_submit_somewhere(user):
            raise PermissionDenied("Uploading programs needs the role developer.")
        _check_size(request)
        try:
            team = uploads.team_of(user, reading.parameter(request, "team"))
        except uploads.NoTeam as error:
            raise answers.bad_request(str(error)) from None
        if not permissions.may_upload(user, team):
            raise PermissionDenied(
                "Uploading programs is switched off on this cluster (HEADRACE_UPLOADS); those "
                "that are there can be run."
            )
        file = _file(request)
        try:
            row = uploads.keep(file, file.name or "", user, team)
        except artifacts.UnusableFile as error:
            audit.record(request, "upload.create", file.name, result=audit.Result.FAILED)
            raise answers.bad_request(str(error)) from None
        audit.record(request, "upload.create", row, sha256=row.sha256, size=row.size)
        return Response({"filename": f"{_FOLDER}/{row.pk}", "status": "success"})


class Jar(JarView):
    """DELETE /jars/:jarid"""

    def delete(self, request: Request, jar_id: str) -> Response:
        row = self.upload_to_run(jar_id)
        audit.record(request, "upload.delete", row)
        uploads.remove(row)
        return Response({})


class Plan(JarView):
    """GET and POST /jars/:jarid/plan: both run the program's planning."""

    changing = ("GET", "POST")

    def get(self, request: Request, jar_id: str) -> Response:
        row = self.upload_to_run(jar_id)
        wish = jars_requests.read(request, row.artifact)
        audit.record(request, "upload.plan", row)
        settings = wish.configuration
        try:
            plan = planning.plan(row.artifact, wish.arguments, wish.parallelism, settings)
        except (planning.NoPlan, artifacts.UnusableFile) as error:
            raise answers.bad_request("\n".join(map(str, error.args))) from None
        except planning.Busy as error:
            raise answers.Refused(HTTPStatus.SERVICE_UNAVAILABLE, str(error)) from None
        job = Job(id=wish.job_id or new_job_id(), name=wish.name)
        graph = vertices.of(plan)
        shown = graphs.plan(job, graph)
        for node, vertex in zip(shown["nodes"], graph, strict=True):
            # All that Flink's dashboard writes into the boxes of a job that does not run.
            node["operator"] = html.escape(vertex.name)
        return Response({"plan": shown})

    def post(self, request: Request, jar_id: str) -> Response:
        return self.get(request, jar_id)

    def head(self, request: Request, jar_id: str) -> Response:
        """Django would take it for a GET."""
        return self.http_method_not_allowed(request)


class Run(JarView):
    """POST /jars/:jarid/run"""

    def post(self, request: Request, jar_id: str) -> Response:
        job = _submitted(self, request, jar_id)
        return Response({"jobid": job.pk, "applicationId": job.pk})


class RunApplication(JarView):
    """POST /jars/:jarid/run-application: the same, as every job is an application of its own."""

    def post(self, request: Request, jar_id: str) -> Response:
        job = _submitted(self, request, jar_id)
        return Response({"applicationid": job.pk}, status=HTTPStatus.ACCEPTED)


def _submitted(view: JarView, request: Request, jar_id: str) -> Job:
    row = view.upload_to_run(jar_id)
    wish = jars_requests.read(request, row.artifact)
    try:
        job = actions.submit(
            wish.name,
            row.artifact,
            arguments=wish.arguments,
            parallelism=wish.parallelism,
            configuration=wish.configuration,
            user=view.user,
            restore=wish.restore,
            team=row.team,
            job_id=wish.job_id,
        )
    except actions.InvalidJob as error:
        audit.record(request, "job.submit", row, result=audit.Result.FAILED, why=str(error))
        raise answers.bad_request(str(error)) from None
    audit.record(request, "job.submit", job, program=row.name, sha256=row.sha256)
    return job


def _described(row: Upload) -> dict[str, Any]:
    """A program that is run as it is has an entry without a name to fill in."""
    return {
        "id": row.pk,
        "name": row.name,
        "uploaded": int(row.uploaded_at.timestamp() * 1000),
        "entry": [{"name": name, "description": None} for name in row.entries],
    }


def _check_size(request: Request) -> None:
    """Before the body is taken apart: the largest file, and what is around it."""
    try:
        length = int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        length = 0
    if length > artifacts.MAX_PACKAGE_BYTES + 64 * 1024:
        most = artifacts.MAX_PACKAGE_BYTES
        raise answers.Refused(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A program has at most {most} bytes."
        )


def _file(request: Request) -> UploadedFile[Any]:
    files = request.FILES
    found: list[UploadedFile[Any]] = files.getlist(_FIELD) or [
        each for key in files for each in files.getlist(key)
    ]
    if len(found) != 1:
        raise answers.bad_request(
            f"Exactly 1 file must be sent (field {_FIELD}), received {len(found)}."
        )
    return found[0]
