"""The logs of TaskManagers and JobManagers: tail, what came after, what stood before, the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.urls import reverse

from dashboard import access, processlogs
from dashboard.loglines import Lines
from jobs import log_files
from jobs.log_files import LogFile
from jobs.models import TaskManager


@access.page
def taskmanager(request: HttpRequest, name: str, file: str = "", part: str = "") -> Any:
    row = get_object_or_404(TaskManager, name=name)
    files = log_files.of_taskmanager(row, request.user)
    context = {
        "tm": row,
        "folder": reverse("dashboard:taskmanagers-log", args=[name]),
        "nothing": f"It writes no log where this web process can read it; on {row.host} its log "
        "is where its output goes.",
    }
    return _answer(request, files, file, part, "dashboard/taskmanagers/log.html", context)


@access.page
def jobmanager(request: HttpRequest, file: str = "", part: str = "") -> Any:
    context = {
        "folder": reverse("dashboard:jobmanager-log"),
        "nothing": "No JobManager writes a log where this web process can read it; the log is "
        "where its output goes.",
    }
    files = log_files.of_jobmanagers()
    return _answer(request, files, file, part, "dashboard/jobmanager/log.html", context)


def _answer(
    request: HttpRequest,
    files: Sequence[LogFile],
    name: str,
    part: str,
    template: str,
    context: dict[str, Any],
) -> HttpResponseBase:
    name = name or request.GET.get("file", "")
    chosen = _named(files, name)
    if part == "lines" and chosen is not None:
        return _lines(request, chosen)
    if part == "file" and chosen is not None:
        return _sent(chosen)
    if part:
        raise Http404("there is no such log")
    lines = processlogs.tail(chosen) if chosen is not None else None
    more = {"tab": "log", "files": files, "file": chosen, "log": lines}
    return render(request, template, {**context, **more})


def _named(files: Sequence[LogFile], name: str) -> LogFile | None:
    """The first without a name. Raises Http404."""
    if not name:
        return files[0] if files else None
    found = next((each for each in files if each.name == name), None)
    if found is None:
        raise Http404("there is no such log")
    return found


def _lines(request: HttpRequest, log: LogFile) -> HttpResponse:
    found = _part(log, request.GET.get("after", ""), request.GET.get("before", ""))
    html = render_to_string("dashboard/job/_lines.html", {"log": found})
    return JsonResponse({"start": found.start, "end": found.end, "size": found.size, "html": html})


def _part(log: LogFile, after: str, before: str) -> Lines:
    if _is_position(before):
        return processlogs.before(log, int(before))
    return processlogs.after(log, int(after)) if _is_position(after) else processlogs.tail(log)


def _is_position(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def _sent(log: LogFile) -> StreamingHttpResponse:
    answer = StreamingHttpResponse(
        log_files.streamed(log), content_type="text/plain; charset=utf-8"
    )
    answer["Content-Disposition"] = f'attachment; filename="{log.name}"'
    return answer
