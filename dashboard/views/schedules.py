"""Schedules: jobs that start at a time, or again and again."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import OuterRef, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from dashboard import access, scope
from dashboard.asking import Deed, ask
from dashboard.listing import Listing, Order, Query
from jobs import audit, permissions, schedules
from jobs.models import Schedule, ScheduledRun
from jobs.roles import Role

ORDERS = {
    "next": Order("next_run_at"),
    "name": Order("name"),
    "created": Order("created_at", falling=True),
}
RUNS = {"planned": Order("planned_at", falling=True)}

DEEDS = {
    deed.name: deed
    for deed in (
        Deed(
            "pause",
            "Pause",
            "pause",
            "schedule",
            "Its times pass until it is resumed. A job that it has started goes on.",
            "The schedule is paused.",
        ),
        Deed(
            "resume",
            "Resume",
            "play",
            "schedule",
            "It goes on with the next time to come.",
            "The schedule goes on.",
        ),
        Deed(
            "delete",
            "Delete",
            "trash",
            "schedule",
            "Nothing follows. Jobs that it has started stay.",
            "The schedule was deleted.",
            colour="bad",
        ),
    )
}


@access.page
def show_all(request: HttpRequest) -> HttpResponse:
    query = Query.of(request, (*Listing.NAMES, "q"))
    rows = scope.of(request.user).rows(Schedule.objects.all())
    if query.get("q"):
        rows = rows.filter(name__icontains=query.get("q"))
    runs = ScheduledRun.objects.filter(schedule=OuterRef("pk")).order_by("-planned_at")
    last = rows.annotate(
        last_at=Subquery(runs.values("planned_at")[:1]),
        last_outcome=Subquery(runs.values("outcome")[:1]),
        last_job=Subquery(runs.values("job_id")[:1]),
    )
    listing = Listing(query, last, ORDERS)
    context = {
        "listing": listing,
        "query": query,
        "words": query.get("q"),
        "outcomes": dict(ScheduledRun.Outcome.choices),
        "may_submit": permissions.may_submit_somewhere(request.user),
    }
    return render(request, "dashboard/schedules/page.html", context)


@access.page
def show(request: HttpRequest, schedule_id: str) -> HttpResponse:
    row = _row(request, schedule_id)
    query = Query.of(request, Listing.NAMES)
    verbs = ("resume" if row.paused_at else "pause", "delete")
    context = {
        "schedule": row,
        "query": query,
        "listing": Listing(query, row.runs.select_related("job"), RUNS),
        "deeds": [DEEDS[verb] for verb in verbs if _may(request, row, verb)],
    }
    return render(request, "dashboard/schedules/one.html", context)


@require_http_methods(["GET", "POST"])
@access.page
def act(request: HttpRequest, schedule_id: str, verb: str) -> HttpResponse:
    if verb not in DEEDS:
        raise Http404("no such action")
    row = _row(request, schedule_id)
    access.demand(_may(request, row, verb))
    back = reverse("dashboard:schedules-one", args=[schedule_id])
    if verb == "delete":
        back = reverse("dashboard:schedules")

    def do() -> None:
        user = request.user if isinstance(request.user, User) else None
        audit.record(request, f"schedule.{verb}", row)
        wish = {"pause": schedules.pause, "resume": schedules.resume, "delete": schedules.delete}
        wish[verb](row, user)

    return ask(request, DEEDS[verb], row.name, back, do)


def _row(request: HttpRequest, schedule_id: str) -> Schedule:
    rows = scope.of(request.user).rows(Schedule.objects.select_related("team"))
    return get_object_or_404(rows, pk=schedule_id)


def _may(request: HttpRequest, row: Schedule, verb: str) -> bool:
    """To go on leads to code that runs; to hold it needs less."""
    if verb == "resume":
        return permissions.may_submit(request.user, row.team_id)
    own = permissions.role(request.user, row.team_id)
    return own is not None and own >= Role.OPERATOR
