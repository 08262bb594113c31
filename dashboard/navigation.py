"""Where the main navigation leads, and what of it somebody sees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from jobs import permissions

Right = Callable[[Any], bool]


def _everybody(user: Any) -> bool:
    return bool(user.is_authenticated)


def _has_teams(user: Any) -> bool:
    return permissions.may_administer(user) or permissions.teams(user).exists()


@dataclass(frozen=True, slots=True)
class Item:
    """One entry. `name` is the URL's; addresses whose name begins with it, up to a dash, or with
    one of `beside`, belong to it."""

    label: str
    name: str
    icon: str
    beside: tuple[str, ...] = ()
    right: Right = _everybody

    def covers(self, name: str) -> bool:
        return name.partition("-")[0] in (self.name, *self.beside)


@dataclass(frozen=True, slots=True)
class Entry:
    """An item as it is shown to somebody on a page."""

    name: str
    label: str
    icon: str
    address: str
    here: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Entries under a heading; the first group has none."""

    label: str
    entries: list[Entry]


GROUPS: tuple[tuple[str, tuple[Item, ...]], ...] = (
    (
        "",
        (
            Item("Overview", "overview", "grid"),
            Item("Jobs", "jobs", "stream", beside=("job",)),
            Item("Submit New Job", "submit", "upload", right=permissions.may_submit_somewhere),
            Item("Savepoints", "savepoints", "bookmark"),
            Item("Schedules", "schedules", "calendar"),
            Item("Alerts", "alerts", "bell"),
        ),
    ),
    (
        "Cluster",
        (
            Item("Task Managers", "taskmanagers", "server"),
            Item("Job Manager", "jobmanager", "helm"),
        ),
    ),
    (
        "Administration",
        (
            Item("Teams", "teams", "team", right=_has_teams),
            Item("Secrets", "secrets", "key", right=permissions.may_submit_somewhere),
            Item("Audit Log", "audit", "list", right=permissions.may_administer),
        ),
    ),
)


def groups(request: HttpRequest) -> list[Group]:
    """What the user of this request may go to; groups with nothing in them are left out."""
    match = request.resolver_match
    here = (match.url_name or "") if match is not None and match.app_name == "dashboard" else ""
    of_job = match is not None and "job_id" in match.kwargs
    found = []
    for label, items in GROUPS:
        entries = [
            Entry(
                item.name,
                item.label,
                item.icon,
                reverse(f"dashboard:{item.name}"),
                _here(item, here, of_job),
            )
            for item in items
            if item.right(request.user)
        ]
        if entries:
            found.append(Group(label, entries))
    return found


def _here(item: Item, name: str, of_job: bool) -> bool:
    return item.name == "jobs" if of_job else item.covers(name)
