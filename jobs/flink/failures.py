"""GET /jobs/:jobid/exceptions, and why a job has failed."""

from __future__ import annotations

import re
from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.flink import answers, reading, times
from jobs.models import Event, Job

#: Told unless another number is asked for, and at most.
USUAL, MOST = 20, 1000
#: The last line of a Python traceback begins with its class.
_CLASS = re.compile(r"^([A-Za-z_][\w.]*)(?::|$)")
_UNNAMED = "RuntimeError"
#: The failure label that there is: one of `headrace.wire.failures.Cause`.
LABEL = "cause"


class Exceptions(answers.View):
    """GET /jobs/:jobid/exceptions. Beside the history it has what Flink 1 had: clients read it."""

    def get(self, request: Request, job_id: str) -> Response:
        number = reading.number(request, "maxExceptions", USUAL)
        wanted = _labels(request)
        rows = _failures(self.job(job_id))
        if wanted:
            rows = rows.filter(detail__cause=wanted.get(LABEL))
        if wanted.keys() - {LABEL}:
            rows = rows.none()
        found = list(rows[: min(number, MOST) + 1])
        shown = found[: min(number, MOST)]
        entries = [_entry(row) | {"concurrentExceptions": []} for row in shown]
        truncated = len(found) > len(shown)
        return Response(
            {
                "root-exception": entries[0]["stacktrace"] if entries else None,
                "timestamp": entries[0]["timestamp"] if entries else None,
                "all-exceptions": [],
                "truncated": truncated,
                "exceptionHistory": {"entries": entries, "truncated": truncated},
            }
        )


def cause(job: Job) -> dict[str, str]:
    """Of a job that has failed: the class and the stack trace of its last failure."""
    last = _failures(job).first()
    if last is None:
        return {"class": _UNNAMED, "stack-trace": "the job failed; its events say more"}
    return {"class": _name(last), "stack-trace": _trace(last)}


def history(job: Job) -> list[dict[str, Any]]:
    """The newest failures of a job, as `exceptionHistory` has them."""
    return [_entry(row) for row in _failures(job)[:USUAL]]


def _failures(job: Job) -> QuerySet[Event]:
    rows = job.events.filter(kind=Event.Kind.FAILURE).select_related("attempt__taskmanager")
    return rows.order_by("-at", "-id")


def _entry(row: Event) -> dict[str, Any]:
    found: dict[str, Any] = {
        "exceptionName": _name(row),
        "stacktrace": _trace(row),
        "timestamp": times.of(row.at),
        "failureLabels": {LABEL: cause} if (cause := row.detail.get("cause")) else {},
        "taskName": None,
        "endpoint": None,
        "taskManagerId": None,
    }
    if row.attempt is not None:
        taskmanager = row.attempt.taskmanager
        found["taskName"] = f"driver - execution #{row.attempt.number - 1}"
        found["endpoint"] = row.attempt.host or None
        found["taskManagerId"] = taskmanager.name if taskmanager else None
    return found


def _name(row: Event) -> str:
    lines = (str(row.detail.get("traceback") or "") or row.message).strip().splitlines()
    for line in reversed(lines):
        if not line.startswith(" "):
            found = _CLASS.match(line)
            return found[1] if found else _UNNAMED
    return _UNNAMED


def _trace(row: Event) -> str:
    """The message first: Flink's dashboard shows the first line."""
    trace = str(row.detail.get("traceback") or "").strip()
    return f"{row.message}\n{trace}" if trace and trace != row.message else row.message


def _labels(request: Request) -> dict[str, str]:
    """`key:value` pairs. Raises ParseError."""
    found = {}
    for pair in reading.names(request, "failureLabelFilter"):
        key, colon, value = pair.partition(":")
        if not colon or not key:
            raise reading.unreadable(
                f'query parameter (failureLabelFilter) from value "{pair[:100]}"'
            )
        found[key] = value
    return found
