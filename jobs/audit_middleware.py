"""Whatever changes something is in the audit log, also where a view has not written it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase

from jobs import audit

_SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")
_VERBS = {
    ("list", "POST"): "create",
    ("detail", "PUT"): "change",
    ("detail", "PATCH"): "change",
    ("detail", "DELETE"): "delete",
}
#: What names the target in an address, the surest first.
_TARGETS = ("job_id", "pk", "name", "object_id", "savepoint_id", "jar_id", "number")


class AuditMiddleware:
    """Writes an entry for each changing request of somebody who is logged in, unless the view has
    called `audit.record`."""

    sync_capable = async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self._get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        if iscoroutinefunction(self._get_response):
            return self._later(request)
        response = self._get_response(request)
        if request.method not in _SAFE:
            _note(request, response)
        return response

    async def _later(self, request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = await self._get_response(request)
        if request.method not in _SAFE:
            await sync_to_async(_note)(request, response)
        return response


def _note(request: HttpRequest, response: HttpResponseBase) -> None:
    if audit.is_written(request):
        return
    if not isinstance(getattr(request, "user", None), User):
        return
    if response.status_code == 200 and audit.via(request) is audit.Via.PAGE:
        return  # a page that has changed something leads on to another
    given = _given(request)
    audit.record(
        request,
        _action(request),
        next((given[name] for name in _TARGETS if name in given), None),
        result=audit.of_status(response.status_code),
        path=request.path_info,
        method=request.method,
        status=response.status_code,
        given={key: value for key, value in given.items() if key not in _TARGETS} or None,
    )


def _given(request: HttpRequest) -> dict[str, str]:
    match = request.resolver_match
    return {key: str(value) for key, value in match.kwargs.items()} if match is not None else {}


def _action(request: HttpRequest) -> str:
    """ "job.cancel" of the address that is named "job-cancel"."""
    match = request.resolver_match
    name = match.url_name if match is not None else None
    if not name:
        return f"{request.method} {request.path_info}"
    thing, _, verb = name.rpartition("-")
    verb = _VERBS.get((verb, request.method or ""), verb)
    verb = (match.kwargs.get("verb") or verb) if match is not None else verb
    return f"{thing}.{verb}" if thing else str(verb)
