"""The vitals of processes as the pages show them; what is not known is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Figures = Mapping[str, float]

_HEAP = "Status.JVM.Memory.Heap"
_OTHER = "Status.JVM.Memory.NonHeap.Used"
_MANAGED = "Status.Flink.Memory.Managed"
_FILES = "Status.JVM.FileDescriptor"


@dataclass(frozen=True, slots=True)
class Gauge:
    """A figure and what it is of. `kind` is how it reads: "percent", "size" or "number"."""

    label: str
    value: float
    kind: str
    limit: float | None = None

    @property
    def share(self) -> int | None:
        """Percent, 0 to 100; None without a limit."""
        return min(100, int(100 * self.value / self.limit)) if self.limit else None


def gauges(figures: Figures) -> list[Gauge]:
    """Flink's names -> what a person wants to know first."""
    return [
        *_share("CPU load", figures, "Status.JVM.CPU.Load"),
        *_of("Heap", figures, f"{_HEAP}.Used", "size", f"{_HEAP}.Max"),
        *_of("Memory beside the heap", figures, _OTHER, "size"),
        *_of("Drivers' memory", figures, f"{_MANAGED}.Used", "size", f"{_MANAGED}.Total"),
        *_of("Threads", figures, "Status.JVM.Threads.Count", "number"),
        *_of("Open files", figures, f"{_FILES}.Open", "number", f"{_FILES}.Max"),
        *_share(
            "Garbage collection", figures, "Status.JVM.GarbageCollector.All.TimeMsPerSecond", 1000
        ),
    ]


def cpu(figures: Figures) -> Gauge | None:
    """For a table: the first of `gauges`, if it is known."""
    return next(iter(_share("CPU load", figures, "Status.JVM.CPU.Load")), None)


def memory(figures: Figures) -> Gauge | None:
    """What the drivers hold of what the TaskManager gives them."""
    found = _of("Memory", figures, f"{_MANAGED}.Used", "size", f"{_MANAGED}.Total")
    return next(iter(found), None)


def _share(label: str, figures: Figures, name: str, whole: float = 1) -> list[Gauge]:
    if name not in figures:
        return []
    return [Gauge(label, 100 * figures[name] / whole, "percent", 100)]


def _of(
    label: str, figures: Figures, name: str, kind: str, limit: str | None = None
) -> list[Gauge]:
    if name not in figures:
        return []
    most = figures.get(limit, 0) if limit else 0
    return [Gauge(label, figures[name], kind, most if most > 0 else None)]
