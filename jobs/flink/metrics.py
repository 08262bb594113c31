"""Metrics as Flink's REST answers them: names without `get`, values as text with it, and
aggregates of several subtasks, jobs or TaskManagers as numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rest_framework.request import Request

from jobs.flink import distributions, reading

#: In the order in which Flink tells them.
_AGGREGATES: dict[str, Callable[[Sequence[float]], float]] = {
    "min": min,
    "max": max,
    "avg": lambda values: sum(values) / len(values),
    "sum": sum,
    "skew": distributions.skew,
}
#: Told unless others are asked for.
PLAIN = ("min", "max", "avg", "sum")
WITH_SKEW = (*PLAIN, "skew")


def listed(values: Mapping[str, float | str], request: Request) -> list[dict[str, str]]:
    """What is asked for by `get`; names that there are not are left out."""
    names = reading.names(request, "get")
    if not names:
        return [{"id": name} for name in values]
    return [{"id": name, "value": text(values[name])} for name in names if name in values]


def aggregated(
    rows: Iterable[Mapping[str, float | str]], request: Request, usual: Sequence[str] = PLAIN
) -> list[dict[str, Any]]:
    """Over the rows that have the metric, and have a number there. Raises ParseError for an
    aggregate that there is not."""
    rows = list(rows)
    names = reading.names(request, "get")
    if not names:
        return [{"id": name} for name in dict.fromkeys(name for row in rows for name in row)]
    wanted = _wanted(request, usual)
    found = ((name, [number(row[name]) for row in rows if name in row]) for name in names)
    return [
        {"id": name} | {word: float(_AGGREGATES[word](numbers)) for word in wanted}
        for name, values in found
        if (numbers := [value for value in values if math.isfinite(value)])
    ]


def text(value: float | str) -> str:
    """As Java prints it."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return str(value)


def number(value: float | str) -> float:
    """NaN for what is none."""
    try:
        return float(value)
    except ValueError:
        return math.nan


def _wanted(request: Request, usual: Sequence[str]) -> list[str]:
    asked = [word.lower() for word in reading.names(request, "agg")]
    for word in asked:
        if word not in _AGGREGATES:
            raise reading.unreadable(f'query parameter (agg) from value "{word[:100]}"')
    return [word for word in _AGGREGATES if word in (asked or usual)]
