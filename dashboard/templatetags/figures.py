"""Template filters and tags of the pages: figures, times, badges, icons."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard import formats
from jobs import permissions

register = template.Library()
register.filter("may_submit", permissions.may_submit_somewhere)
register.filter("may_steer", permissions.may_steer)
register.filter("may_keep_alerts", permissions.may_keep_alerts)


@register.filter
def number(value: float | str | None) -> str:
    return formats.number(_known(value))


@register.filter
def size(value: float | str | None) -> str:
    return formats.size(_known(value))


@register.filter
def duration(value: float | str | None) -> str:
    return formats.duration(_known(value))


def _known(value: float | str | None) -> float | None:
    """None for what the template engine hands on when a variable does not exist."""
    return None if value is None or isinstance(value, str) else value


@register.filter
def ago(then: datetime | None) -> SafeString | str:
    """A time as "3 min ago", the exact time in its title; the browser keeps it up to date."""
    if then is None:
        return formats.NOTHING
    return format_html(
        '<time datetime="{}" title="{}" data-ago>{}</time>',
        then.isoformat(),
        formats.exact(then),
        formats.ago(then, timezone.now()),
    )


@register.filter
def running_for(then: datetime | None) -> SafeString | str:
    """The time since `then` as a clock that runs on in the browser."""
    if then is None:
        return formats.NOTHING
    return format_html(
        '<time datetime="{}" title="since {}" data-elapsed>{}</time>',
        then.isoformat(),
        formats.exact(then),
        formats.elapsed((timezone.now() - then).total_seconds() * 1000),
    )


@register.filter
def exact(then: datetime | None) -> str:
    return formats.NOTHING if then is None else formats.exact(then)


@register.filter
def from_ms(ms: int | None) -> datetime | None:
    """None also for what is no time of our calendar: programs may count in other units."""
    try:
        return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None


@register.simple_tag
def badge(state: Any) -> SafeString:
    """The badge of a member of jobs.states: its label in its colour."""
    return format_html('<span class="badge is-{}">{}</span>', state.colour, state.label)


@register.simple_tag
def bar(percent: int) -> SafeString:
    """A bar that is so much filled."""
    return format_html(
        '<svg class="bar" aria-hidden="true"><rect class="bar-track" width="100%" height="100%" '
        'rx="3"/><rect class="bar-fill" width="{}%" height="100%" rx="3"/></svg>',
        percent,
    )


@register.simple_tag
def icon(name: str) -> SafeString:
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"/></svg>',
        static("dashboard/img/icons.svg"),
        name,
    )


@register.filter
def mebibytes(value: int | None) -> str:
    return formats.size(None if value is None else value << 20)


@register.simple_tag
def between(start: datetime | None, end: datetime | None) -> str:
    """How long it took; nothing when one end is missing."""
    if start is None or end is None:
        return formats.NOTHING
    return formats.duration((end - start).total_seconds() * 1000)


@register.filter
def seconds(value: float | str | None) -> str:
    known = _known(value)
    return formats.NOTHING if known is None else formats.elapsed(known * 1000)


@register.filter
def exactly(value: int | None) -> str:
    """Every digit, in groups of three."""
    return formats.NOTHING if value is None else f"{value:,}"


@register.filter
def summed(values: Mapping[str, int] | None) -> int:
    return sum((values or {}).values())


@register.filter
def item(values: Mapping[str, Any], key: str) -> Any:
    return values.get(key)


@register.filter
def words(text: str) -> list[str]:
    return text.split()
