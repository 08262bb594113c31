"""Figures as they travel: a metric that is the same for all subtasks is told once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

#: What all subtasks have, or what each has; None: it has none.
Column = float | list[float | None]
#: Whole numbers up to here are the same as floating ones; larger ones would have many digits.
_EXACT = 1 << 53
#: metric -> value
Row = dict[str, float]


def columns(rows: Iterable[Mapping[str, float]]) -> dict[str, Column]:
    """Of a dict for each subtask."""
    known = list(rows)
    found: dict[str, Column] = {}
    for name in dict.fromkeys(name for row in known for name in row):
        values = [_rounded(row.get(name)) for row in known]
        first = values[0]
        same = first is not None and len(set(values)) == 1
        found[name] = first if same and first is not None else values
    return found


def rows(table: Mapping[str, Column], subtasks: int) -> list[Row]:
    """A dict for each of so many subtasks."""
    found: list[Row] = [{} for _ in range(subtasks)]
    for name, column in table.items():
        values = column if isinstance(column, list) else [column] * subtasks
        for row, value in zip(found, values, strict=False):
            if value is not None:
                row[name] = value
    return found


def _rounded(value: float | None) -> float | None:
    """None for what is no number: databases keep none of these."""
    if value is None or not math.isfinite(value):
        return None
    short = round(value, 3)
    return int(short) if short == int(short) and abs(short) < _EXACT else short
