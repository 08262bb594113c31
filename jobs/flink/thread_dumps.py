"""Thread dumps in Flink's form."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.response import Response

from jobs import diagnostics
from jobs.flink import answers
from jobs.models import Diagnosis

#: As long as a caller is kept waiting for who is asked; a tick of theirs takes half a second.
SECONDS = 5.0


def answered(row: Diagnosis) -> Response:
    """{"threadInfos": [...]}. Raises Refused when nobody answers in time."""
    row = diagnostics.wait(row, SECONDS)
    error = diagnostics.error_of(row)
    if row.answered_at is None or error:
        raise answers.Refused(
            HTTPStatus.SERVICE_UNAVAILABLE, error or "Nobody has answered yet; ask again."
        )
    told = diagnostics.threads(row)
    return Response(
        {
            "threadInfos": [
                {
                    "threadName": each["name"],
                    "stringifiedThreadInfo": f'"{each["name"]}"\n{each["text"]}',
                }
                for each in told
            ]
        }
    )
