"""Savepoints of all jobs."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from dashboard import access, scope
from dashboard.asking import Deed, ask
from dashboard.listing import Listing, Order, Query
from jobs import audit, permissions, savepoints
from jobs.models import Savepoint
from jobs.states import SavepointState

ORDERS = {
    "taken": Order("created_at", falling=True),
    "job": Order("job_name"),
    "size": Order("size", falling=True),
    "state": Order("state"),
    "by": Order("requested_by_name"),
}

DISPOSE = Deed(
    "dispose",
    "Dispose of",
    "trash",
    "savepoint",
    "Its files are removed by a TaskManager that reaches them. No job can begin with it any more.",
    "The savepoint is being disposed of.",
    colour="bad",
)


@access.page
def show(request: HttpRequest) -> HttpResponse:
    query = Query.of(request, (*Listing.NAMES, "state", "q"))
    mine = scope.of(request.user).rows(Savepoint.objects.all(), "job__team")
    counted = dict(mine.order_by().values_list("state").annotate(Count("pk")))
    found, state, words = mine, query.get("state"), query.get("q")
    if state in set(SavepointState):
        found = found.filter(state=state)
    if words:
        found = found.filter(
            Q(job_name__icontains=words) | Q(path__icontains=words) | Q(reason__icontains=words)
        )
    listing = Listing(query, found.select_related("job"), ORDERS)
    context = {
        "listing": listing,
        "query": query,
        "state": state,
        "words": words,
        "counts": [(each, counted[each.value]) for each in SavepointState if each.value in counted],
        "rows": [(row, _may(request, row)) for row in listing.page.object_list],
        "may_submit": permissions.may_submit_somewhere(request.user),
        "dispose": DISPOSE,
    }
    return render(request, "dashboard/savepoints/page.html", context)


def _may(request: HttpRequest, row: Savepoint) -> bool:
    """Whether the reader may dispose of it."""
    if row.job is None:
        return permissions.may_steer(request.user)
    return permissions.may_operate(request.user, row.job)


@require_http_methods(["GET", "POST"])
@access.page
def dispose(request: HttpRequest, savepoint_id: str) -> HttpResponse:
    mine = scope.of(request.user).rows(Savepoint.objects.select_related("job"), "job__team")
    row = get_object_or_404(mine, pk=savepoint_id)
    access.demand(_may(request, row))

    def do() -> None:
        savepoints.dispose(row, request.user if isinstance(request.user, User) else None)
        audit.record(request, "savepoint.dispose", row, job=row.job_name)

    name = f"the savepoint of {row.job_name}"
    return ask(request, DISPOSE, name, reverse("dashboard:savepoints"), do)
