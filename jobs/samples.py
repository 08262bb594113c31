"""The figures of an event that are kept over time, by the names that charts ask for. Pure.

Of the job: `numRecordsInPerSecond`, `numRecordsOutPerSecond`, `lag`, `lag.<topic>.<partition>`,
`checkpointDuration`, `checkpointSize`, `checkpointRecords`, `latency.p50|p90|p99|max` (to visible)
and `latency.pre-commit.p50|p99`, `watermark`. Of a vertex, behind its id and a dot: the three times
per second (the worst subtask's), `numRecordsInPerSecond` and `numRecordsOutPerSecond` (of all).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from headrace.wire import columns, events

#: Partitions of one job whose lag is kept; that of all of them is.
PARTITIONS = 64

_WORST = "busyTimeMsPerSecond", "backPressuredTimeMsPerSecond", "idleTimeMsPerSecond"
_ALL = "numRecordsInPerSecond", "numRecordsOutPerSecond"
_PRE_COMMIT = "pre-commit"


def of(event: events.Event) -> dict[str, float]:
    """Empty for an event that tells of no figures."""
    match event:
        case events.CheckpointCompleted() as made:
            return _of_checkpoint(made)
        case events.Progressed(lag=lag):
            return _of_lag(lag)
        case events.Measured() as measured:
            return _of_measured(measured)
        case _:
            return {}


def _of_checkpoint(made: events.CheckpointCompleted) -> dict[str, float]:
    found: dict[str, float] = {
        "checkpointDuration": made.duration,
        "checkpointSize": made.state_size,
        "checkpointRecords": made.records_in,
        **_of_lag(made.lag),
    }
    if made.watermark is not None:
        found["watermark"] = made.watermark
    for name in ("p50", "p90", "p99", "max"):
        if name in made.latency:
            found[f"latency.{name}"] = made.latency[name]
    return found


def _of_lag(lag: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
    each = {
        f"lag.{topic}.{partition}": float(behind)
        for topic, partitions in lag.items()
        for partition, behind in partitions.items()
    }
    if not each:
        return {}
    kept = dict(list(each.items())[:PARTITIONS])
    return {"lag": sum(each.values()), **kept}


def _of_measured(measured: events.Measured) -> dict[str, float]:
    found = {name: measured.job[name] for name in _ALL if name in measured.job}
    comes = found.get(_ALL[0], 1) > 0  # else the histograms are those of the last records
    for histogram in measured.latency if comes else ():
        if histogram.get("to") == _PRE_COMMIT:
            for name in ("p50", "p99"):
                known = found.get(f"latency.pre-commit.{name}", 0.0)
                found[f"latency.pre-commit.{name}"] = max(known, histogram.get(name, 0.0))
    for vertex, table in measured.vertices.items():
        for names, join in ((_WORST, max), (_ALL, sum)):
            found |= _joined(vertex, table, names, join)
    return found


def _joined(
    vertex: str, table: Mapping[str, Any], names: tuple[str, ...], join: Callable[..., float]
) -> dict[str, float]:
    subtasks = max((len(c) for c in table.values() if isinstance(c, list)), default=1)
    rows = columns.rows(table, subtasks)
    return {
        f"{vertex}.{name}": float(join(row[name] for row in rows if name in row))
        for name in names
        if any(name in row for row in rows)
    }
