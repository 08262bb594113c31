"""Figures over several values, calculated as Flink does. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_PERCENTILES = (("p50", 50.0), ("p90", 90.0), ("p95", 95.0), ("p99", 99.0), ("p999", 99.9))


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Of at least one value: the estimate of Apache Commons Math, which Flink uses."""
    position = percent * (len(ordered) + 1) / 100
    whole = int(position)
    if whole < 1:
        return ordered[0]
    if whole >= len(ordered):
        return ordered[-1]
    lower = ordered[whole - 1]
    return lower + (position - whole) * (ordered[whole] - lower)


def summary(values: Iterable[int]) -> dict[str, Any]:
    """{"min", "max", "avg", "p50" … "p999"}; without values 0, and "NaN" for the percentiles."""
    ordered = sorted(values)
    if not ordered:
        return {"min": 0, "max": 0, "avg": 0, **{name: "NaN" for name, _ in _PERCENTILES}}
    found = {"min": ordered[0], "max": ordered[-1], "avg": sum(ordered) // len(ordered)}
    return found | {name: float(percentile(ordered, p)) for name, p in _PERCENTILES}


def nothing() -> dict[str, Any]:
    """Of what is always 0."""
    return summary([0])


def spread(values: Iterable[float]) -> dict[str, int]:
    """Of at least one value, as Flink's `aggregated` has it."""
    ordered = sorted(values)
    total = sum(ordered)
    return {
        "p25": int(percentile(ordered, 25)),
        "min": int(ordered[0]),
        "avg": int(total / len(ordered)),
        "median": int(percentile(ordered, 50)),
        "max": int(ordered[-1]),
        "sum": int(total),
        "p95": int(percentile(ordered, 95)),
        "p75": int(percentile(ordered, 75)),
    }


def spreads(rows: Sequence[Mapping[str, float]]) -> dict[str, dict[str, int]]:
    """Of each name that the first row has; every row has it."""
    return {name: spread([row[name] for row in rows]) for name in rows[0]} if rows else {}


def skew(values: Sequence[float]) -> float:
    """How unevenly they are spread, in percent: 0 for equal ones, 100 when one has all."""
    total = sum(values)
    mean = total / len(values)
    most = 2 * (total - mean)
    return 100 * sum(abs(value - mean) for value in values) / most if most > 0 else 0.0
