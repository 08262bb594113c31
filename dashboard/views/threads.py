"""Thread dumps of TaskManagers, of the leading JobManager and of drivers: asked for, and the newest
shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from dashboard import access, pages
from dashboard.jobview import JobView
from dashboard.views.finding import job_of
from dashboard.views.job import frame
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
    may = permissions.may_steer(request.user)
    if request.method == "POST":
        return _asked(request, row, may, lambda user: diagnostics.of_taskmanager(row, user))
    return _shown(request, rows, template, {**context, "may_ask": may})


@require_http_methods(["GET", "POST"])
@access.page
def jobmanager(request: HttpRequest) -> HttpResponse:
    leader = jobmanagers.leader()
    rows = Diagnosis.objects.filter(jobmanager=leader.name if leader is not None else "-")
    may = permissions.may_steer(request.user)
    if request.method == "POST" and leader is not None:
        return _asked(request, leader, may, lambda user: diagnostics.of_jobmanager(leader, user))
    context = {"noun": "leading JobManager", "may_ask": may}
    return _shown(request, rows, "dashboard/jobmanager/threads.html", context)


@require_http_methods(["GET", "POST"])
@access.page
def job(request: HttpRequest, job_id: str) -> HttpResponse:
    """Of the driver and its Python workers."""
    row = job_of(request, job_id)
    may = permissions.may_operate(request.user, row)
    if request.method == "POST":
        kind = Diagnosis.Kind.THREADS
        return _asked(request, row, may, lambda user: diagnostics.of_job(row, kind, user))
    view = JobView(row, timezone.now())
    context = {
        **frame(request, view, pages.job(view, ()), "threads"),
        "noun": "driver and its Python workers",
        "may_ask": may and view.runs,
    }
    rows = Diagnosis.objects.filter(attempt__job=row)
    return _shown(request, rows, "dashboard/job/threads.html", context)


def _asked(
    request: HttpRequest, target: Any, may: bool, ask: Callable[[User | None], Diagnosis]
) -> HttpResponse:
    access.demand(may)
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
    }
    return render(request, template, {**context, **more})
