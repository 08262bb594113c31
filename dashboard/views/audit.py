"""The audit log: searched, filtered, taken away as CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone

from dashboard import access
from dashboard.listing import Listing, Order, Query
from jobs import permissions
from jobs.models import AuditEntry

NAMES = ("q", "who", "action", "result", "via", "since", "until")
ORDERS = {
    "at": Order("at", falling=True),
    "who": Order("username"),
    "action": Order("action"),
}
#: Rows of an export.
MOST = 100_000
COLUMNS = (
    *("at", "username", "action", "target_kind", "target_id", "target_name", "result", "via"),
    *("address", "token", "agent", "detail"),
)


@access.only_if(permissions.may_administer)
def show(request: HttpRequest) -> HttpResponse:
    query = Query.of(request, (*Listing.NAMES, *NAMES))
    listing = Listing(query, _found(query), ORDERS)
    context = {
        "listing": listing,
        "query": query,
        "asked": {name: query.get(name) for name in NAMES},
        "filtered": any(query.get(name) for name in NAMES),
        "actions": _actions(),
        "results": AuditEntry.Result.choices,
        "ways": AuditEntry.Via.choices,
    }
    return render(request, "dashboard/audit.html", context)


@access.only_if(permissions.may_administer)
def export(request: HttpRequest) -> StreamingHttpResponse:
    """The entries that the filters leave, newest first, row by row: never all in memory."""
    rows = _found(Query.of(request, NAMES)).order_by("-at", "-pk")[:MOST]
    answer = StreamingHttpResponse(_lines(rows), content_type="text/csv; charset=utf-8")
    name = f"headrace-audit-{timezone.now():%Y-%m-%d}.csv"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


class _Line:
    """What `csv` writes a row into."""

    def write(self, text: str) -> str:
        return text


def _lines(rows: QuerySet[AuditEntry]) -> Iterator[str]:
    writer = csv.writer(_Line())
    yield writer.writerow(COLUMNS)
    for row in rows.iterator(chunk_size=500):
        yield writer.writerow([_cell(getattr(row, name)) for name in COLUMNS])


def _cell(value: Any) -> str:
    """As text; what a spreadsheet would run as a formula is marked as text."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    text = json.dumps(value, sort_keys=True) if isinstance(value, dict) else str(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _found(query: Query) -> QuerySet[AuditEntry]:
    rows = AuditEntry.objects.all()
    if words := query.get("q"):
        named = Q(target_name__icontains=words) | Q(target_id__startswith=words)
        rows = rows.filter(named | Q(address__startswith=words) | Q(username__icontains=words))
    for name, column in (("who", "username"), ("result", "result"), ("via", "via")):
        if query.get(name):
            rows = rows.filter(**{column: query.get(name)})
    if action := query.get("action"):
        rows = rows.filter(action__startswith=action)
    if since := _day(query.get("since")):
        rows = rows.filter(at__gte=since)
    if until := _day(query.get("until")):
        rows = rows.filter(at__lt=until + timedelta(days=1))
    return rows


def _day(text: str) -> datetime | None:
    """The beginning of a day; None for what is none, or lies beyond what a database keeps."""
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None
    return day if 1900 < day.year < 9999 else None


def _actions() -> list[str]:
    """What has been done so far: the kinds, "job", and their verbs, "job.cancel"."""
    known = set(AuditEntry.objects.order_by().values_list("action", flat=True).distinct()[:200])
    return sorted(known | {name.partition(".")[0] for name in known})
