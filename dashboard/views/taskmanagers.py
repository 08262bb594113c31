"""TaskManagers: who has which slots, how each is, and its draining."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from dashboard import access, processcharts, series
from dashboard.asking import Deed, ask
from dashboard.listing import Query
from dashboard.views import live
from jobs import audit, permissions, taskmanagers
from jobs.models import TaskManager

DEEDS = {
    deed.name: deed
    for deed in (
        Deed(
            "drain",
            "Drain",
            "drain",
            "TaskManager",
            "It gets no new jobs, and those that it has move to others as soon as these have room; "
            "until then they run on.",
            "It is drained: its jobs move as soon as others have room.",
        ),
        Deed(
            "undrain",
            "Offer again",
            "play",
            "slots",
            "It may have jobs again. Those that were told to leave do so.",
            "It offers its slots again.",
        ),
    )
}


@access.page
def show_all(request: HttpRequest) -> HttpResponse:
    return live.show(request, "taskmanagers", "dashboard/taskmanagers/page.html")


@access.page
def show(request: HttpRequest, name: str) -> HttpResponse:
    row = get_object_or_404(TaskManager, name=name)
    deed = DEEDS["undrain" if row.drained_at else "drain"]
    return live.show(
        request,
        "taskmanager",
        "dashboard/taskmanagers/one.html",
        Query((("name", name),)),
        tm=row,
        deed=deed if permissions.may_steer(request.user) else None,
        tab="metrics",
        charts=processcharts.TASKMANAGER,
        ranges=series.RANGES,
        address=reverse("dashboard:taskmanagers-charts", args=[name]),
    )


@require_http_methods(["GET", "POST"])
@access.only_if(permissions.may_steer)
def act(request: HttpRequest, name: str, verb: str) -> HttpResponse:
    row = get_object_or_404(TaskManager, name=name)
    if verb not in DEEDS:
        raise Http404("no such action")

    def do() -> None:
        wish = taskmanagers.drain if verb == "drain" else taskmanagers.undrain
        wish(row, request.user if isinstance(request.user, User) else None)
        audit.record(request, f"taskmanager.{verb}", row)

    return ask(request, DEEDS[verb], name, reverse("dashboard:taskmanagers-one", args=[name]), do)
