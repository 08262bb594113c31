"""The list of alerts: what fires, what waits to fire, what is over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Count

from dashboard.listing import Listing, Order, Query
from dashboard.scope import Scope
from jobs.models import Alert
from jobs.states import AlertState

ORDERS = {
    "since": Order("since", falling=True),
    "job": Order("job__name"),
    "rule": Order("rule__name"),
    "state": Order("state"),
}


def read(scope: Scope, query: Query) -> Mapping[str, Any]:
    mine = scope.rows(Alert.objects.all(), "job__team")
    counted = dict(mine.order_by().values_list("state").annotate(Count("pk")))
    found, state = mine, query.get("state")
    if state in set(AlertState):
        found = found.filter(state=state)
    if query.get("job"):
        found = found.filter(job=query.get("job"))
    rule = query.get("rule")
    if rule.isascii() and rule.isdigit() and len(rule) < 10:
        found = found.filter(rule=int(rule))
    listing = Listing(query, found.select_related("rule", "job"), ORDERS)
    return {
        "listing": listing,
        "alerts": listing.page.object_list,
        "counts": [(each, counted.get(each.value, 0)) for each in _ORDER],
        "state": state,
    }


_ORDER = (AlertState.FIRING, AlertState.PENDING, AlertState.RESOLVED)
