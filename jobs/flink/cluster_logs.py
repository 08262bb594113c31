"""Log files as Flink's routes serve them: a list, one by its name, and parts of it by `Range`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from django.http import StreamingHttpResponse
from rest_framework.request import Request

from jobs import log_files
from jobs.flink import answers
from jobs.log_files import LogFile

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def listed(files: Sequence[LogFile]) -> dict[str, Any]:
    logs = [{"name": each.name, "size": each.size, "mtime": each.modified} for each in files]
    return {"logs": logs}


def named(files: Sequence[LogFile], name: str) -> LogFile:
    """Raises Refused (404)."""
    found = next((each for each in files if each.name == name), None)
    if found is None:
        raise answers.not_found(f"The log file {name} does not exist, or is not on this machine.")
    return found


def sent(request: Request, log: LogFile) -> StreamingHttpResponse:
    """All of it or the range that is asked for, as it is read. Raises Refused (416)."""
    start, end = _range(request.headers.get("Range", ""), log.size)
    whole = (start, end) == (0, log.size) and "Range" not in request.headers
    answer = StreamingHttpResponse(
        log_files.streamed(log, start, end),
        status=HTTPStatus.OK if whole else HTTPStatus.PARTIAL_CONTENT,
        content_type="text/plain; charset=UTF-8",
        headers={"Accept-Ranges": "bytes", "X-Content-Type-Options": "nosniff"},
    )
    if not whole:
        answer["Content-Range"] = f"bytes {start}-{end - 1}/{log.size}"
    return answer


def nothing() -> StreamingHttpResponse:
    """A process that has written nothing."""

    async def empty() -> Any:
        for piece in (b"",):
            yield piece

    return StreamingHttpResponse(empty(), content_type="text/plain; charset=UTF-8")


def _range(header: str, size: int) -> tuple[int, int]:
    """First byte, and the one behind the last; all of it for a header that asks for anything but
    one range of bytes."""
    found = _RANGE.fullmatch(header.strip())
    if not found or not any(found.groups()):
        return 0, size
    if not found[1]:
        return max(0, size - int(found[2])), size
    start = int(found[1])
    end = min(size, int(found[2]) + 1) if found[2] else size
    if start >= end:
        raise answers.Refused(
            HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, f"The log has {size} bytes."
        )
    return start, end
