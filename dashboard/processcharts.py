"""The charts of the cluster and its processes: which figures each shows, and their points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from dashboard import series
from jobs import history


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of a chart: its name in the history, and what the page calls it."""

    name: str
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """`say` is how its figures read: "count", "bytes", "time" or "share" (of 1)."""

    title: str
    say: str
    lines: tuple[Line, ...]

    @property
    def names(self) -> str:
        return ",".join(line.name for line in self.lines)

    @property
    def labels(self) -> str:
        return ",".join(line.label for line in self.lines)


CLUSTER = (
    Chart(
        "Records per second, all jobs",
        "count",
        (Line("numRecordsInPerSecond", "in"), Line("numRecordsOutPerSecond", "out")),
    ),
    Chart("Kafka lag of all jobs, records", "count", (Line("lag", "records"),)),
    Chart(
        "Task slots",
        "count",
        (Line("taskSlotsTotal", "offered"), Line("taskSlotsAvailable", "free")),
    ),
)

_MEMORY = "Status.JVM.Memory"
_CPU = Chart("CPU load", "share", (Line("Status.JVM.CPU.Load", "load"),))
_HEAP = Chart(
    "Memory",
    "bytes",
    (Line(f"{_MEMORY}.Heap.Used", "heap"), Line(f"{_MEMORY}.NonHeap.Used", "beside it")),
)
TASKMANAGER = (
    _CPU,
    Chart(
        "Drivers' memory",
        "bytes",
        (
            Line("Status.Flink.Memory.Managed.Used", "used"),
            Line("Status.Flink.Memory.Managed.Total", "there is"),
        ),
    ),
    _HEAP,
    Chart("Threads", "count", (Line("Status.JVM.Threads.Count", "threads"),)),
)
JOBMANAGER = (_CPU, _HEAP)


def answer(subject: str, charts: Iterable[Chart], name: str, now: datetime) -> dict[str, Any]:
    """{"now", "range", "names": {name: [[ms, least, mean, most], …]}} over the range called
    `name`."""
    seconds = series.RANGES.get(name, series.RANGES[series.DEFAULT_RANGE])
    names = [line.name for chart in charts for line in chart.lines]
    since = now - timedelta(seconds=seconds)
    return {
        "now": int(now.timestamp() * 1000),
        "range": seconds,
        "names": history.series(subject, names, since, now, series.POINTS),
    }
