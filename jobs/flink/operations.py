"""Flink's asynchronous operations: a request answers with an id, which is asked for until it is
COMPLETED. A failure is COMPLETED, too, with its cause. They are rows: whoever leads by then, or
whenever it is asked for, the answer is there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.response import Response

from jobs.flink import reading

_HEX = re.compile(r"[0-9a-f]{32}")
_CAUSE = "org.apache.flink.runtime.checkpoint.CheckpointException"


def triggered(request_id: str, status: HTTPStatus = HTTPStatus.ACCEPTED) -> Response:
    return Response({"request-id": request_id}, status=status)


def in_progress() -> Response:
    return Response({"status": {"id": "IN_PROGRESS"}, "operation": None})


def completed(operation: dict[str, Any]) -> Response:
    return Response({"status": {"id": "COMPLETED"}, "operation": operation})


def cause(why: str) -> dict[str, str]:
    """As Flink's clients read it: a class and a stack trace."""
    return {"class": _CAUSE, "stack-trace": f"{_CAUSE}: {why}"}


def trigger_id(values: Mapping[str, Any]) -> str:
    """The caller's own id of the request, if it has one. Raises ParseError."""
    found = reading.text(values, "triggerId").lower()
    if found and not _HEX.fullmatch(found):
        raise ParseError(f"triggerId {found[:100]!r} is not 32 hexadecimal digits")
    return found
