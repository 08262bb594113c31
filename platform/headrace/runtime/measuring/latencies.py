"""Histograms of how long records take from a source to a sink.

A record's time runs from its timestamp in the source to the moment at which the sink has made its
batch safe (`pre-commit`), or to that at which readers see it (`visible`).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Batches that a histogram is made of, at most: as in Flink's `metrics.latency.history-size`.
HISTORY = 128
#: And how old they may be, ms.
WINDOW_MS = 60_000

_SHARES = {
    "p50": 50.0,
    "p75": 75.0,
    "p90": 90.0,
    "p95": 95.0,
    "p98": 98.0,
    "p99": 99.0,
    "p999": 99.9,
}

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Arrived:
    """Of one batch and source: times until the batch began, ms, and how many records had each;
    then ms from there on, by sink (pre-commit), and for all (visible)."""

    at: int
    ages: Array
    counts: Array
    prepared: dict[int, float]
    visible: float


class Latencies:
    def __init__(self) -> None:
        self._of_source: dict[int, deque[Arrived]] = {}

    def observe(
        self, at: int, source: int, ages: dict[int, int], prepared: dict[int, float], visible: float
    ) -> None:
        if not ages:
            return
        numbers = np.fromiter(ages.keys(), np.float64, len(ages))
        counts = np.fromiter(ages.values(), np.int64, len(ages))
        kept = self._of_source.setdefault(source, deque(maxlen=HISTORY))
        kept.append(Arrived(at, numbers, counts, prepared, visible))

    def histogram(self, source: int, sink: int, to: str, now: int) -> dict[str, float]:
        """`to`: "pre-commit" or "visible"; ms. Of the last minute, or of the newest batch if that
        is older; empty if no record came."""
        kept = self._of_source.get(source)
        if not kept:
            return {}
        recent = [each for each in kept if now - each.at <= WINDOW_MS] or [kept[-1]]
        values = np.concatenate([each.ages + _after(each, sink, to) for each in recent])
        return histogram(values, np.concatenate([each.counts for each in recent]))


def _after(batch: Arrived, sink: int, to: str) -> float:
    return batch.prepared.get(sink, batch.visible) if to == "pre-commit" else batch.visible


def histogram(values: Array, counts: Array) -> dict[str, float]:
    """Of values that occur so often, at least one."""
    order = np.argsort(values)
    values, counts = values[order], counts[order]
    total = int(counts.sum())
    mean = float((values * counts).sum() / total)
    spread = float(((values - mean) ** 2 * counts).sum() / total) ** 0.5
    upto = np.cumsum(counts)
    found = {
        "count": float(total),
        "min": float(values[0]),
        "max": float(values[-1]),
        "mean": round(mean, 3),
        "stddev": round(spread, 3),
    }
    for name, share in _SHARES.items():
        place = int(np.searchsorted(upto, share / 100 * total - 1e-9))
        found[name] = float(values[min(place, len(values) - 1)])
    return found
