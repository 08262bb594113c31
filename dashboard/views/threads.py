"""Thread dumps of TaskManagers and of the leading JobManager: asked for, and the newest shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from dashboard import access
from jobs import audit, diagnostics, jobmanagers, permissions
from jobs.models import Diagnosis, TaskManager

#: So long an answer is waited for; whoever is busy answers later, and the page says so.
SECONDS = 5.0


@require_http_methods(["GET", "POST"])
@access.page
def taskmanager(request: HttpRequest, name: str) -> HttpResponse:
    row = get_object_or_404(TaskManager, name=name)
    rows = Diagnosis.objects.filter(taskmanager=row, attempt=None)
    context = {"tm": row, "noun": "TaskManager"}
    template = "dashboard/taskmanagers/threads.html"
    if request.method == "POST":
        return _asked(request, row, lambda user: diagnostics.of_taskmanager(row, user))
    return _shown(request, rows, template, context)


@require_http_methods(["GET", "POST"])
@access.page
def jobmanager(request: HttpRequest) -> HttpResponse:
    leader = jobmanagers.leader()
    rows = Diagnosis.objects.filter(jobmanager=leader.name if leader is not None else "-")
    if request.method == "POST" and leader is not None:
        return _asked(request, leader, lambda user: diagnostics.of_jobmanager(leader, user))
    context = {"noun": "leading JobManager"}
    return _shown(request, rows, "dashboard/jobmanager/threads.html", context)


def _asked(
    request: HttpRequest, target: Any, ask: Callable[[User | None], Diagnosis]
) -> HttpResponse:
    access.demand(permissions.may_steer(request.user))
    audit.record(request, "threads.dump", target)
    try:
        row = ask(request.user if isinstance(request.user, User) else None)
        diagnostics.wait(row, SECONDS)
    except diagnostics.NotRunning as refused:
        messages.error(request, f"There is no thread dump: {refused}.")
    return redirect(request.path)


def _shown(
    request: HttpRequest, rows: QuerySet[Diagnosis], template: str, context: dict[str, Any]
) -> HttpResponse:
    newest = rows.filter(kind=Diagnosis.Kind.THREADS).order_by("-pk")
    asked = newest.first()
    answered = newest.exclude(answered_at=None).filter(error="").first()
    more = {
        "tab": "threads",
        "asked": asked,
        "pending": asked is not None and diagnostics.is_pending(asked),
        "error": diagnostics.error_of(asked) if asked is not None else "",
        "answered": answered,
        "threads": diagnostics.threads(answered) if answered is not None else [],
        "may_ask": permissions.may_steer(request.user),
    }
    return render(request, template, {**context, **more})
