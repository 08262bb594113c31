"""Tags of the pages' frame, lists and forms: navigation, sorting, pages of a list, fields."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dashboard import bulk, firing, navigation, scope
from dashboard.asking import Deed
from dashboard.listing import Listing, Query

register = template.Library()
register.filter("acts", bulk.acts)


@register.inclusion_tag("dashboard/_navigation.html", takes_context=True, name="navigation")
def show_navigation(context: Any) -> dict[str, Any]:
    request = context["request"]
    alerts = firing.count(scope.of(request.user))
    return {"groups": navigation.groups(request), "firing": alerts}


@register.simple_tag
def link(query: Query, **changes: Any) -> str:
    """The address of this list with other values."""
    return query.but(**changes)


@register.simple_tag
def sorted_by(listing: Listing, column: str, label: str, kind: str = "") -> SafeString:
    """The heading of a column that the list can be ordered by."""
    way = listing.way(column)
    mark = {
        "ascending": "\N{BLACK UP-POINTING SMALL TRIANGLE}",
        "descending": "\N{BLACK DOWN-POINTING SMALL TRIANGLE}",
    }
    return format_html(
        '<th scope="col" class="{}" aria-sort="{}"><a class="sort" href="{}">{}'
        '<span class="sort-mark" aria-hidden="true">{}</span></a></th>',
        kind,
        way,
        listing.towards(column),
        label,
        mark.get(way, ""),
    )


@register.inclusion_tag("dashboard/_pager.html")
def pager(listing: Listing) -> dict[str, Any]:
    return {"listing": listing, "page": listing.page, "query": listing.query}


@register.inclusion_tag("dashboard/_field.html")
def field(bound: Any) -> dict[str, Any]:
    """One field of a form with its label, help and errors."""
    return {"field": bound}


@register.inclusion_tag("dashboard/_deed.html")
def deed(address: str, what: Deed, subject: str, many: bool = False) -> dict[str, Any]:
    """The link that asks for a change. `many`: there are several of its name on the page."""
    return {"address": address, "deed": what, "subject": subject, "many": many}


@register.simple_tag
def asked(query: Query, name: str) -> str:
    """What the address says about one filter."""
    return query.get(name)


@register.simple_tag
def hidden(query: Query, *names: str) -> SafeString:
    """Fields that keep the other filters when a form of one of them is sent."""
    fields = [(name, query.get(name)) for name in names if query.get(name)]
    return format_html_join("", '<input type="hidden" name="{}" value="{}">', fields)
