"""How a figure is spread over many rows, as Flink's summary of checkpoints has it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

#: Columns of a summary: heading -> share of the rows that are at most so large.
SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}


@dataclass(frozen=True, slots=True)
class Spread:
    """Of at least one value."""

    least: float
    mean: float
    most: float
    quantiles: dict[str, float]


def spread(values: Iterable[float | None]) -> Spread | None:
    """Over the values that are known; None when none is. A quantile is one of the values."""
    known = sorted(value for value in values if value is not None)
    if not known:
        return None
    last = len(known) - 1
    quantiles = {name: known[min(last, int(share * len(known)))] for name, share in SHARES.items()}
    return Spread(known[0], sum(known) / len(known), known[-1], quantiles)
