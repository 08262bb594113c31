"""The list of jobs: filtered by state, team and words, in any order, page by page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from dashboard import overview
from dashboard.listing import Listing, Order, Query
from dashboard.scope import Scope
from jobs.models import Job, Team
from jobs.states import JobState

#: Names for several states at once, as Flink's dashboard has them.
GROUPS = {
    "running": ("Running Jobs", [state.value for state in JobState if not state.is_terminal]),
    "completed": ("Completed Jobs", ["FINISHED", "FAILED", "CANCELED"]),
}

ORDERS = {
    "submitted": Order("created_at", falling=True),
    "name": Order("name"),
    "state": Order("state"),
    "since": Order("state_changed_at", falling=True),
    "slots": Order("parallelism", falling=True),
    "restarts": Order("restarts", falling=True),
}


def read(scope: Scope, query: Query) -> Mapping[str, Any]:
    now = timezone.now()
    listed = scope.jobs.filter(archived_at__isnull=not query.get("archived"))
    of_team = _of_team(listed, query.get("team"))
    found = _with_words(of_team, query.get("q"))
    listing = Listing(query, _in_state(found, query.get("state")), ORDERS)
    jobs = listing.page.object_list.select_related("team", "submitted_by")  # type: ignore[attr-defined]
    return {
        "listing": listing,
        "rows": overview.rows(jobs, now),
        "counts": _counts(found),
        "groups": GROUPS,
        "state": query.get("state"),
        "words": query.get("q"),
        "teams": teams(scope),
        "team": query.get("team"),
        "archived": query.get("archived"),
    }


def teams(scope: Scope) -> list[Team]:
    rows = Team.objects.all() if scope.teams is None else Team.objects.filter(pk__in=scope.teams)
    return list(rows)


def _of_team(jobs: QuerySet[Job], team: str) -> QuerySet[Job]:
    if team == "none":
        return jobs.filter(team=None)
    if team.isascii() and team.isdigit() and len(team) < 10:
        return jobs.filter(team=int(team))
    return jobs


def _with_words(jobs: QuerySet[Job], words: str) -> QuerySet[Job]:
    if not words:
        return jobs
    return jobs.filter(Q(name__icontains=words) | Q(pk__startswith=words.lower()))


def _in_state(jobs: QuerySet[Job], state: str) -> QuerySet[Job]:
    if state in GROUPS:
        return jobs.filter(state__in=GROUPS[state][1])
    return jobs.filter(state=state) if state in JobState.__members__ else jobs


def _counts(jobs: QuerySet[Job]) -> list[overview.Counted]:
    found = dict(jobs.order_by().values_list("state").annotate(Count("pk")))
    return overview.counted(found)
