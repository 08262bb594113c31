"""The live pages that are not of one job: which regions each is made of, and what they show.

A snapshot is the same for everybody with the same scope and the same filters: what depends on the
reader (the form token, who may act) stands outside the regions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone

from dashboard import alertlist, joblist, processes
from dashboard.listing import Listing, Query
from dashboard.overview import Overview
from dashboard.regions import Region, Snapshot, render
from dashboard.scope import Scope

Context = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LivePage:
    """`read` gives what the regions' templates show; `names` are the filters it knows."""

    title: str
    regions: tuple[Region, ...]
    read: Callable[[Scope, Query], Context]
    names: tuple[str, ...] = ()


def _regions(folder: str, *names: str) -> tuple[Region, ...]:
    return tuple(Region(name, f"dashboard/{folder}/_{name}.html") for name in names)


def _overview(scope: Scope, _: Query) -> Context:
    return {"overview": Overview(timezone.now(), scope)}


PAGES = {
    "overview": LivePage(
        "Overview",
        _regions("overview", "notice", "totals", "active", "slots", "events", "ended", "alerts"),
        _overview,
    ),
    "jobs": LivePage(
        "Jobs",
        _regions("jobs", "filters", "rows"),
        joblist.read,
        (*Listing.NAMES, "state", "team", "q", "archived"),
    ),
    "taskmanagers": LivePage(
        "Task Managers",
        _regions("taskmanagers", "totals", "rows", "map"),
        processes.taskmanagers,
    ),
    "taskmanager": LivePage(
        "Task Manager",
        _regions("taskmanagers", "head", "vitals", "slots", "drivers", "history"),
        processes.taskmanager,
        ("name",),
    ),
    "jobmanager": LivePage(
        "Job Manager", _regions("jobmanager", "head", "vitals", "history"), processes.jobmanager
    ),
    "alerts": LivePage(
        "Alerts",
        _regions("alerts", "rows"),
        alertlist.read,
        (*Listing.NAMES, "state", "rule", "job"),
    ),
}


def snapshot(name: str, scope: Scope, query: Query, _: tuple[Region, ...] = ()) -> Snapshot:
    """Raises live.Gone when what the page is about does not exist any more."""
    page = PAGES[name]
    context = page.read(scope, query)
    title = str(context.get("title") or page.title)
    return Snapshot(title, render(page.regions, {**context, "query": query}))


def address(name: str, query: Query) -> str:
    """Of the stream behind a page."""
    said = urlencode(query.values)
    return reverse("dashboard:live", args=[name]) + (f"?{said}" if said else "")
