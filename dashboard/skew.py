"""How unevenly records are spread over subtasks, by Flink's formula. Pure."""

from __future__ import annotations

from collections.abc import Sequence

#: From here on a page calls it uneven, and from there very uneven; in percent.
UNEVEN, VERY = 25, 50


def percent(values: Sequence[float]) -> float | None:
    """The mean deviation from the mean, in percent of the mean and at most 100: 0 = all the same.
    None when there is nothing to compare."""
    total = sum(values)
    if len(values) < 2 or total <= 0:
        return None
    mean = total / len(values)
    return min(100.0, 100 * sum(abs(value - mean) for value in values) / total)


def colour(value: float | None) -> str:
    if value is None or value < UNEVEN:
        return "ok"
    return "bad" if value >= VERY else "warn"
