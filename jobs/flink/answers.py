"""What all of Flink's routes have in common: who may call them, how they answer and how they fail.

An answer is JSON. An error is {"errors": [sentence, ...]}, with Flink's own words where Flink has
some: its clients look for them. A path or method that there is not is 404, an id of another form
400, a thing that is not there, or that the caller may not see, 404.
"""

from __future__ import annotations

import logging
import re
from http import HTTPStatus
from typing import Any, ClassVar

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from rest_framework.exceptions import APIException, NotFound, PermissionDenied
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs import audit, permissions
from jobs.api import errors
from jobs.flink import origin, reading
from jobs.models import Job

_log = logging.getLogger(__name__)

_PACKAGE = "org.apache.flink.runtime.rest"
_HEX = r"[0-9a-fA-F]{32}"
_NUMBER = r"[0-9]{1,9}"
#: Parts of paths: the name of the argument, Flink's word for it, and its form.
_PARTS = {
    "job_id": ("jobid", _HEX),
    "vertex_id": ("vertexid", _HEX),
    "trigger_id": ("triggerid", _HEX),
    "application_id": ("applicationid", _HEX),
    "dataset_id": ("datasetid", _HEX),
    "rescale_id": ("rescaleuuid", _HEX),
    "subtask": ("subtaskindex", _NUMBER),
    "attempt": ("attempt", _NUMBER),
    "checkpoint_id": ("checkpointid", r"[0-9]{1,18}"),
}


class Refused(APIException):
    """An answer other than the one that was hoped for, in Flink's form."""

    def __init__(self, status: int, sentence: str, exception: str = "") -> None:
        """`exception`: the class that Flink names; default: that of its handlers."""
        super().__init__(f"{exception or f'{_PACKAGE}.handler.RestHandlerException'}: {sentence}")
        self.status_code = status


def bad_request(sentence: str) -> Refused:
    return Refused(HTTPStatus.BAD_REQUEST, sentence)


def not_found(sentence: str) -> Refused:
    """A thing that there is not."""
    return Refused(HTTPStatus.NOT_FOUND, sentence, f"{_PACKAGE}.NotFoundException")


class Json(JSONRenderer):
    charset = "UTF-8"


class _AlwaysJson(DefaultContentNegotiation):
    """As Flink: `Accept`, `format` and, where there is one parser, `Content-Type` do not count."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        only = parsers[0] if len(parsers) == 1 else None
        return only or super().select_parser(request, parsers)

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        return renderers[0], renderers[0].media_type


class View(APIView):
    """One path. Methods that a subclass does not have are 404, as in Flink."""

    #: Methods that change something: a session alone is not enough for them (`jobs.flink.origin`).
    changing: ClassVar[tuple[str, ...]] = ("POST", "PUT", "PATCH", "DELETE")
    #: There is a page at the same address with a slash: who types it without is led there.
    has_page: ClassVar[bool] = False
    renderer_classes = [Json]
    parser_classes = [reading.JsonBody]
    content_negotiation_class = _AlwaysJson
    schema = None  # described by Flink, not by our own API's schema

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        typed = request.headers.get("Sec-Fetch-Mode") == "navigate" and request.method == "GET"
        if self.has_page and typed and request.path.startswith("/jobs"):
            return HttpResponseRedirect(f"{request.path}/")
        return super().dispatch(request, *args, **kwargs)

    def get_authenticators(self) -> list[Any]:
        return [each() for each in origin.classes()]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        for name, value in kwargs.items():
            word, form = _PARTS.get(name, (name, r"[^\x00-\x1f/]{1,255}"))
            if not re.fullmatch(form, str(value)):
                raise reading.unreadable(f'path parameter ({word}) from value "{value}"')

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        raise _NoSuchMethod

    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        raise _NoSuchMethod

    def get_exception_handler(self) -> Any:
        return _failed

    # --- rights ----------------------------------------------------------------------------------

    @property
    def user(self) -> User | None:
        """Who asks, for what is written down about it."""
        user = self.request.user
        return user if isinstance(user, User) else None

    def job(self, job_id: str) -> Job:
        """For reading. Raises Refused (404) also when the caller may not see it."""
        rows = permissions.visible_jobs(self.request.user)
        row = rows.filter(pk=job_id.lower()).first()
        if row is None:
            raise not_found(f"Job {job_id.lower()} not found")
        return row

    def job_to_operate(self, job_id: str) -> Job:
        """For run, stop, savepoint. Raises Refused (404), PermissionDenied (403)."""
        row = self.job(job_id)
        if not permissions.may_operate(self.request.user, row):
            raise PermissionDenied("Steering this job needs the role operator in its team.")
        return row


class _NoSuchMethod(Exception):
    """The path has no such method."""


def _failed(error: Exception, context: dict[str, Any]) -> Response:
    answer = _answer(error, context)
    _note(answer, context)
    return answer


def _note(answer: Response, context: dict[str, Any]) -> None:
    """A change by GET that was not made is in the audit log, too; of other methods the middleware
    writes that."""
    request, view = context["request"], context["view"]
    known = isinstance(request.user, User) and not audit.is_written(request)
    if known and request.method == "GET" and "GET" in getattr(view, "changing", ()):
        status = answer.status_code
        audit.record(
            request,
            f"GET {request.path}",
            next(iter(view.kwargs.values()), None),
            result=audit.of_status(status),
            status=status,
        )


def _answer(error: Exception, context: dict[str, Any]) -> Response:
    path = context["request"].path
    if isinstance(error, _NoSuchMethod):
        return _told(HTTPStatus.NOT_FOUND, f"Not found: {path}")
    if isinstance(error, Refused):
        return _told(error.status_code, str(error.detail))
    if isinstance(error, Http404 | NotFound) and not str(error):
        error = NotFound(f"There is nothing at {path}.")
    answer = errors.answer(error, context)
    if answer is not None:
        return answer
    _log.exception("%s %s", context["request"].method, path, exc_info=error)
    sentence = f"<Exception on server side: {type(error).__name__}; its log says more.>"
    return _told(HTTPStatus.INTERNAL_SERVER_ERROR, "Internal server error.", sentence)


def _told(status: int, *sentences: str) -> Response:
    return Response({"errors": list(sentences)}, status=status)


class Unknown(View):
    """Any other path below those of this API: 404, after the login."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        APIView.initial(self, request, *args, **kwargs)
        raise NotFound(f"Unable to load requested file {request.path}.")
