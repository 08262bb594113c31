"""What a micro-batch counted on its way, merged into one report when it is committed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headrace.common.accumulators import Accumulator
from headrace.runtime.measuring.counts import Part
from headrace.runtime.operators.window import LATE_DROPPED, Window
from headrace.runtime.program import Program


@dataclass
class BatchMetrics:
    """Parts of a batch's report; `merge` adds another part.

    Travels inside the batch's own frames, so each part counts exactly once, however often
    Spark ran a task again."""

    records_in: int = 0
    counters: dict[str, int] = field(default_factory=dict)
    #: What a gauge showed last.
    gauges: dict[str, float] = field(default_factory=dict)
    #: name -> [number, sum, smallest, largest]
    distributions: dict[str, list[float]] = field(default_factory=dict)
    accumulators: dict[str, Accumulator[Any, Any]] = field(default_factory=dict)
    #: level -> watermark
    watermarks: dict[int, int] = field(default_factory=dict)
    #: waiting time of a record at the batch's start, ms (rounded) -> records
    ages: dict[int, int] = field(default_factory=dict)
    #: The same by the number of the source.
    source_ages: dict[int, dict[int, int]] = field(default_factory=dict)
    #: When the earliest processing-time timer is due, ms, of the key groups that took part.
    next_timer: int | None = None
    #: operator's number -> watermark
    operator_watermarks: dict[int, int] = field(default_factory=dict)
    #: What operators did, by stage and subtask.
    parts: dict[tuple[int, int], Part] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Without what is empty, `merge` does without; parts are plain tuples, which travel in
        half the time."""
        told = {name: value for name, value in vars(self).items() if value or value == 0}
        if self.parts:
            told["parts"] = [tuple(part) for part in self.parts.values()]
        return told

    def add_part(self, part: Part) -> None:
        where = part.stage, part.subtask
        known = self.parts.get(where)
        self.parts[where] = part if known is None else known.merged(part)

    def add_accumulator(self, name: str, more: Accumulator[Any, Any]) -> None:
        merge_accumulator(self.accumulators, name, more)

    def add_ages(self, ages: np.ndarray[Any, Any]) -> None:
        """Of records, ms."""
        different, counts = np.unique(rounded(ages), return_counts=True)
        for age, n in zip(different.tolist(), counts.tolist(), strict=True):
            self.ages[age] = self.ages.get(age, 0) + n

    def merge(self, other: dict[str, Any]) -> None:
        """`other` as `to_dict` has it."""
        self.records_in += other.get("records_in", 0)
        _add(self.counters, other.get("counters", {}))
        self.gauges |= other.get("gauges", {})
        for name, more in other.get("distributions", {}).items():
            known = self.distributions.get(name, [0, 0, more[2], more[3]])
            self.distributions[name] = [
                known[0] + more[0],
                known[1] + more[1],
                min(known[2], more[2]),
                max(known[3], more[3]),
            ]
        for name, accumulator in other.get("accumulators", {}).items():
            self.add_accumulator(name, accumulator)
        _add(self.ages, other.get("ages", {}))
        for source, ages in other.get("source_ages", {}).items():
            _add(self.source_ages.setdefault(source, {}), ages)
        due = other.get("next_timer")
        if due is not None:
            self.next_timer = due if self.next_timer is None else min(due, self.next_timer)
        for level, watermark in other.get("watermarks", {}).items():
            self.watermarks[level] = min(watermark, self.watermarks.get(level, watermark))
        self.operator_watermarks |= other.get("operator_watermarks", {})
        for part in other.get("parts", ()):
            self.add_part(Part._make(part))


def results(
    counters: dict[str, int], accumulators: dict[str, Accumulator[Any, Any]]
) -> dict[str, Any]:
    """By name, as the job's result gives them."""
    values = {name: each.get_local_value() for name, each in accumulators.items()}
    return {**counters, **values}


def merge_accumulator(
    totals: dict[str, Accumulator[Any, Any]], name: str, more: Accumulator[Any, Any]
) -> None:
    """ValueError where functions have given one name to several kinds."""
    known = totals.get(name)
    if known is None:
        totals[name] = more.clone()
    elif type(known).__qualname__ != type(more).__qualname__:
        kinds = f"{type(known).__name__} and {type(more).__name__}"
        raise ValueError(f"accumulator {name!r} is of two kinds: {kinds}")
    else:
        known.merge(more)


def _add(totals: dict[Any, int], more: dict[Any, int]) -> None:
    for name, n in more.items():
        totals[name] = totals.get(name, 0) + n


#: Records that a source could not read.
DESERIALIZATION_ERRORS = "deserializationErrors"


def expected_counters(program: Program) -> list[str]:
    """What a job may count of itself: shown as 0 from the start."""
    names = []
    if any(getattr(source, "on_error", None) for source in program.sources.values()):
        names.append(DESERIALIZATION_ERRORS)
    if any(isinstance(node.operator, Window) for node in program.nodes.values()):
        names.append(LATE_DROPPED)
    return names


def rounded(ages: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Ages in ms so that a batch has few of them: to 5 ms, from a second on to two digits."""
    digits = np.maximum(3, np.searchsorted(_POWERS, ages, side="right"))
    units = np.where(digits == 3, 5, _POWERS[digits - 2])
    return ages // units * units


_POWERS = 10 ** np.arange(19)


def latency_summary(ages: dict[int, int], since_batch_start: int) -> dict[str, float]:
    """Percentiles (ms) of age plus the time since the batch began; empty without records."""
    total = sum(ages.values())
    if not total:
        return {}
    ordered = sorted(ages.items())

    def percentile(share: float) -> float:
        seen = 0
        for age, count in ordered:
            seen += count
            if seen >= share * total:
                return float(age + since_batch_start)
        return float(ordered[-1][0] + since_batch_start)

    return {
        "p50": percentile(0.50),
        "p90": percentile(0.90),
        "p99": percentile(0.99),
        "max": float(ordered[-1][0] + since_batch_start),
        "count": float(total),
    }
