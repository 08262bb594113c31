"""What a task has read and written, from the latest figures. Pure.

In Flink a source has read nothing, and a sink has written nothing; here they have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: Flink's word -> the metric, and whether "-complete" is told of it.
_COUNTED = {
    "read-bytes": "numBytesIn",
    "write-bytes": "numBytesOut",
    "read-records": "numRecordsIn",
    "write-records": "numRecordsOut",
}
_TIMES = {
    "accumulated-backpressured-time": "accumulateBackPressuredTimeMs",
    "accumulated-idle-time": "accumulateIdleTimeMs",
}
_BUSY = "accumulateBusyTimeMs"

Figures = Mapping[str, float]


def of(subtasks: Sequence[Figures]) -> dict[str, Any]:
    """Of all of them together. What is not known of each is 0, and not complete."""
    found: dict[str, Any] = {}
    for word, name in _COUNTED.items():
        found[word] = int(_sum(subtasks, name))
        found[f"{word}-complete"] = bool(subtasks) and all(name in each for each in subtasks)
    for word, name in _TIMES.items():
        found[word] = int(_sum(subtasks, name))
    return found | {"accumulated-busy-time": float(_sum(subtasks, _BUSY))}


def counters(subtask: Figures) -> dict[str, float]:
    """Those of one subtask that are numbers: what `aggregated` is made of."""
    return {word: value for word, value in of([subtask]).items() if not word.endswith("-complete")}


def _sum(subtasks: Sequence[Figures], name: str) -> float:
    return sum(each.get(name, 0) for each in subtasks)
