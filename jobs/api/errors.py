"""Every error answers {"errors": [sentence, ...]}, as Flink's REST does; 400, 404, 409 included."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, JsonResponse
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from jobs import actions, options, savepoints


class ConflictError(APIException):
    status_code = status.HTTP_409_CONFLICT
    default_detail = "The job is not in a state where this can be asked."
    default_code = "conflict"


def answer(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler; None for what is none of the caller's fault (500)."""
    if isinstance(error, actions.Conflict | savepoints.Conflict):
        error = ConflictError(str(error))
    if isinstance(error, actions.InvalidJob | options.InvalidOption):
        return Response({"errors": [str(error)]}, status=status.HTTP_400_BAD_REQUEST)
    if isinstance(error, RecursionError):
        error = ParseError("The request is nested too deeply.")
    response = exception_handler(error, context)
    if response is not None:
        response.data = {"errors": list(_sentences(response.data))}
    return response


def unknown(request: HttpRequest) -> JsonResponse:
    """Any other address under /api/."""
    return JsonResponse({"errors": [f"There is nothing at {request.path}."]}, status=404)


def _sentences(data: Any, name: str = "") -> list[str]:
    if isinstance(data, dict):
        known = ("detail", "non_field_errors")
        return [
            sentence
            for key, value in data.items()
            for sentence in _sentences(value, "" if key in known else f"{name}{key}")
        ]
    if isinstance(data, list):
        return [sentence for value in data for sentence in _sentences(value, name)]
    return [f"{name}: {data}" if name else str(data)]
