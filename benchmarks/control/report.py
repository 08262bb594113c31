"""The figures of all phases as tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from benchmarks import figures
from benchmarks.control.rounds import Phase, Phases
from benchmarks.control.tables import Tables
from jobs.models import Checkpoint, TaskManager
from jobs.states import TaskManagerState

START_SECONDS = 240.0


def wait_for_taskmanagers(number: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while TaskManager.objects.filter(state=TaskManagerState.REGISTERED).count() < number:
        if time.monotonic() > deadline:
            raise TimeoutError(f"fewer than {number} TaskManagers have registered")
        time.sleep(0.5)


def text(found: Phases) -> str:
    return f"{_launches(found)}\n\n{_phases(found)}\n"


def _launches(found: Phases) -> str:
    spans: list[tuple[str, Callable[[Phase], list[float]]]] = [
        ("submitted to decided", lambda phase: phase.decided),
        ("decided to the driver's process", lambda phase: phase.launched),
        ("decided to the driver's first word", lambda phase: phase.spoken),
    ]

    def spread(phases: Sequence[Phase], of: Callable[[Phase], list[float]], share: float) -> str:
        return figures.spread([figures.percentile(of(each), share) * 1000 for each in phases])

    rows = []
    for name in ("coming", "unrest"):
        launches = sum(len(phase.launched) for phase in found[name])
        for words, of in spans:
            cells = [spread(found[name], of, share) for share in (0.5, 0.99, 1.0)]
            rows.append([f"{name} ({launches} launches): {words}", *cells])
    return figures.table(["ms", "p50", "p99", "greatest"], rows)


def _phases(found: Phases) -> str:
    def row(name: str, of: Callable[[Phase], float], digits: int = 0) -> list[str]:
        cells = [figures.spread([of(each) for each in phases], digits) for phases in found.values()]
        return [name, *cells]

    def per_tick(what: str, share: float, times: float = 1.0) -> Callable[[Phase], float]:
        return lambda phase: (
            figures.percentile([getattr(tick, what) for tick in phase.ticks], share) * times
        )

    def cores(who: str) -> Callable[[Phase], float]:
        return lambda phase: phase.cores(who)

    rows = [
        row("seconds", lambda phase: phase.seconds),
        *(row(f"cores: {who}", cores(who), 2) for who in found["steady"][0].cpu_seconds),
        row("ticks a second", lambda phase: len(phase.ticks) / phase.seconds, 1),
        row("ms a tick, p50", per_tick("seconds", 0.5, 1000)),
        row("ms a tick, p99", per_tick("seconds", 0.99, 1000)),
        row("ms of CPU a tick, p50", per_tick("cpu_seconds", 0.5, 1000)),
        row("queries a tick, p50", per_tick("queries", 0.5)),
        row("queries a tick, p99", per_tick("queries", 0.99)),
    ]
    return figures.table(["", *found], rows)


def of_tables(change: Tables, found: Phases) -> str:
    seconds = sum(phase.seconds for phases in found.values() for phase in phases)
    growth = change.bytes / 2**20 * 3600 / seconds
    rows = [
        ["rows of checkpoints at the end", f"{Checkpoint.objects.count():,}"],
        ["growth of tables and indices, MiB an hour", f"{growth:,.0f}"],
        *([f"reads of all of {name}", str(scans)] for name, scans in change.scans.items()),
    ]
    return figures.table(["database", ""], rows)
