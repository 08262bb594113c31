"""Template filters and tags of the pages of a job: its vertices, loads, bars."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dashboard import formats, holding
from dashboard.checkpoints import Filter
from dashboard.holding import Step
from dashboard.jobview import JobView
from dashboard.load import Load
from dashboard.templatetags.figures import from_ms
from dashboard.vertexview import COLUMNS, PAGE, OperatorRow, Spread, Subtask, VertexView, spreads
from jobs.models import Alert
from jobs.states import AlertState

register = template.Library()

_SHOWN = {"number": formats.number, "size": formats.size, "duration": formats.duration}
_BYTES = re.compile("Bytes|[sS]ize$|Memory")
_QUANTILES = ("p50", "p90", "p99", "max")


class SubtaskPage:
    """Some of a vertex's subtasks: a page never has thousands of rows."""

    headings = [title for _, title, _ in COLUMNS]

    def __init__(self, vertex: VertexView, first: int) -> None:
        total = len(vertex.subtasks)
        self.first = min(max(0, first), max(0, total - 1)) // PAGE * PAGE
        self.rows: list[Subtask] = vertex.subtasks[self.first : self.first + PAGE]
        self.last = self.first + len(self.rows) - 1
        self.older = self.first - PAGE if self.first else None
        self.newer = self.first + PAGE if self.first + PAGE < total else None


@register.filter
def vertex(view: JobView, vertex_id: str) -> VertexView | None:
    return view.vertices.get(vertex_id)


@register.filter
def operators(view: JobView, vertex: VertexView) -> list[OperatorRow]:
    return view.operators(vertex)


@register.filter
def way(view: JobView, vertex: VertexView) -> list[Step]:
    return view.way(vertex)


@register.filter(name="spreads")
def all_spreads(view: JobView, vertex: VertexView) -> list[Spread]:
    return view.spreads(vertex)


@register.filter
def accumulators(view: JobView, vertex_id: str) -> list[dict[str, str]]:
    return view.accumulators(vertex_id)


@register.filter
def operator_name(view: JobView, operator_id: str) -> str:
    for each in view.vertices.values():
        for operator in each.vertex.operators:
            if operator.id == operator_id:
                return operator.name
    return ""


@register.filter
def subtask_page(vertex: VertexView, first: int | None) -> SubtaskPage:
    return SubtaskPage(vertex, first or 0)


@register.filter
def records_spread(vertex: VertexView) -> Spread | None:
    """Of what came in; of a source, of what went out."""
    found = {each.name: each for each in spreads(vertex.figures)}
    came = found.get("numRecordsIn")
    return came if came is not None and came.most > 0 else found.get("numRecordsOut")


@register.simple_tag
def behind(vertex: VertexView, subtask: Subtask) -> str:
    """How far the subtask's watermark is behind the one furthest ahead."""
    known = [each.watermark for each in vertex.subtasks if each.watermark is not None]
    if subtask.watermark is None or not known:
        return formats.NOTHING
    return formats.duration(max(known) - subtask.watermark)


@register.filter
def shown(value: float | str | None, how: str) -> str:
    """A figure as its column has it: "number", "size" or "duration"."""
    known = value if isinstance(value, int | float) else None
    return _SHOWN[how](known)


@register.filter
def figure(value: Any) -> str:
    """A metric of any kind, with every digit that says something."""
    if not is_number(value):
        return str(value)
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"


@register.filter
def is_moment(name: str) -> bool:
    """Whether a metric of this name is a time: there is no sum of such."""
    return name.endswith(("atermark", "Timestamp"))


@register.filter
def metric(value: float, name: str) -> str:
    """A value of the metric of this name: a time, bytes, or a number."""
    if is_moment(name):
        moment = from_ms(holding.known(value))
        return formats.NOTHING if moment is None else formats.exact(moment)
    return formats.size(value) if _BYTES.search(name) else formats.number(value)


@register.filter
def is_number(value: Any) -> bool:
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return numeric and abs(value) < 1e300


@register.filter
def plain(value: float) -> str:
    """A number for SVG, whatever the language."""
    return f"{value:.2f}"


@register.filter
def last_part(path: str) -> str:
    return PurePath(path).name


@register.filter
def alert_state(alert: Alert) -> AlertState:
    return AlertState(alert.state)


@register.filter
def length_of(value: Any) -> int:
    """Of a list, or a number as it is."""
    return value if isinstance(value, int) else len(value)


@register.filter
def first_page(chosen: Filter) -> str:
    return chosen.but()


@register.simple_tag
def loadbar(load: Load) -> SafeString:
    """Busy, back-pressured and idle time, one behind the other."""
    shares = (("busy", load.busy), ("pressed", load.pressed), ("idle", load.idle))
    places = [sum(share for _, share in shares[:n]) for n in range(3)]
    parts = ((kind, at, share) for (kind, share), at in zip(shares, places, strict=True) if share)
    return format_html(
        '<svg class="loadbar" role="img" aria-label="{}"><title>{}</title>{}</svg>',
        load.words,
        load.words,
        format_html_join("", '<rect class="load-{}" x="{}%" width="{}%" height="100%"/>', parts),
    )


@register.simple_tag
def quantilebar(latency: Mapping[str, float]) -> SafeString:
    """How p50, p90, p99 and the maximum of a histogram lie to each other."""
    values = [latency.get(name) or 0.0 for name in _QUANTILES]
    most = max(values) or 1.0
    marks = ((n, 100 * value / most) for n, value in enumerate(values, 1))
    return format_html(
        '<svg class="quantiles" aria-hidden="true"><rect class="bar-track" width="100%" '
        'height="100%" rx="3"/>{}</svg>',
        format_html_join(
            "",
            '<rect class="q{}" width="{}%" height="100%" rx="3"/>',
            ((n, f"{share:.1f}") for n, share in reversed(list(marks))),
        ),
    )
