"""The memory that a TaskManager manages, and what the drivers in its slots take of it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import psutil

T = TypeVar("T")

MIB = 1024 * 1024
#: What is left for the other processes of the machine, the embedded servers among them.
MANAGED_SHARE = 0.6
#: A slot has this much at least where the machine does: with less, jobs in Python hardly run.
SLOT_MIB = 1600
MOST_SHARE = 0.8
LOOK_SECONDS = 2.0
#: Over the limit in so many looks, one after the other: what was forked is counted exactly, but
#: what is about to be given back is counted too.
LOOKS = 2

_CGROUPS = Path("/sys/fs/cgroup")
#: Of this process, in version 2 and in version 1.
_LIMITS = ("memory.max", "memory/memory.limit_in_bytes")


def managed_mib(slots: int, machine_mib: int | None = None) -> int:
    """What a TaskManager of so many slots manages when nobody says: a share of the machine."""
    all_ = machine() if machine_mib is None else machine_mib
    return int(min(max(all_ * MANAGED_SHARE, slots * SLOT_MIB), all_ * MOST_SHARE))


def machine(cgroups: Path = _CGROUPS) -> int:
    """MiB of this machine, or of the container if that has less."""
    known = [psutil.virtual_memory().total]
    for name in _LIMITS:
        with contextlib.suppress(OSError, ValueError):  # "max" is none
            known.append(int((cgroups / name).read_text()))
    return min(known) // MIB


@dataclass(frozen=True, slots=True)
class Use:
    """MiB by kind of process. Pages that processes share are counted once."""

    by_kind: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.by_kind.values())

    def __str__(self) -> str:
        parts = sorted(self.by_kind.items(), key=lambda item: -item[1])
        return ", ".join(f"{kind} {mib} MiB" for kind, mib in parts)


def resident_mib(pids: Iterable[int]) -> int:
    """Quick, and too much: pages that processes share are counted for each."""
    return sum(_each(pids, lambda process: int(process.memory_info().rss))) // MIB


def used(driver: int, pids: Iterable[int]) -> Use:
    """What the processes of a driver take."""
    found: dict[str, int] = {}

    def weigh(process: psutil.Process) -> None:
        full = process.memory_full_info()
        kind = _kind(process, driver)
        found[kind] = found.get(kind, 0) + getattr(full, "pss", full.uss)

    _each(pids, weigh)
    return Use({kind: size // MIB for kind, size in found.items()})


def _each(pids: Iterable[int], ask: Callable[[psutil.Process], T]) -> list[T]:
    answers = []
    for pid in pids:
        with contextlib.suppress(psutil.Error):  # it has ended meanwhile
            answers.append(ask(psutil.Process(pid)))
    return answers


def _kind(process: psutil.Process, driver: int) -> str:
    if process.pid == driver:
        return "driver"
    return "JVM" if process.name() == "java" else "Python workers"


@dataclass
class Scales:
    """Looks at one driver now and then, and says when it takes too much."""

    clock: Callable[[], float] = time.monotonic
    _next: float = field(default=float("-inf"))
    _over: int = 0

    def weigh(self, driver: int, pids: Callable[[], Iterable[int]], limit_mib: int) -> Use | None:
        """What it takes, if that was over the limit in several looks."""
        if self.clock() < self._next:
            return None
        self._next = self.clock() + LOOK_SECONDS
        found = list(pids())
        use = used(driver, found) if resident_mib(found) > limit_mib else None
        self._over = self._over + 1 if use is not None and use.total > limit_mib else 0
        return use if self._over >= LOOKS else None
