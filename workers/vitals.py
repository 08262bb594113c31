"""How a TaskManager or JobManager fares, under Flink's names: docs/metrics-export.md says what
they mean for processes of Python and the drivers' JVMs. What is not known is left out."""

from __future__ import annotations

import contextlib
import resource
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import psutil

from workers import jvm_counters

MIB = 1024 * 1024
Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of several processes together: seconds, bytes, numbers."""

    cpu_seconds: float = 0.0
    resident: int = 0
    threads: int = 0
    files: int = 0

    def __add__(self, other: Sizes) -> Sizes:
        return Sizes(
            self.cpu_seconds + other.cpu_seconds,
            self.resident + other.resident,
            self.threads + other.threads,
            self.files + other.files,
        )


@dataclass
class Gauge:
    """Looks at processes now and then. CPU load and the time of garbage collections are over the
    time since the look before."""

    clock: Callable[[], float] = time.monotonic
    _looked: float | None = None
    _cpu: dict[int, float] = field(default_factory=dict)
    _collected: dict[int, int] = field(default_factory=dict)

    def look(self, drivers: Iterable[int] = (), managed_mib: int | None = None) -> Figures:
        """At this process and those of its drivers. `managed_mib`: what a TaskManager manages."""
        now = self.clock()
        found = _sizes([psutil.Process().pid, *drivers])
        jvms = {pid: jvm for pid in found if (jvm := _jvm(pid)) is not None}
        elapsed = None if self._looked is None else max(now - self._looked, 0.001)
        figures = _of_processes(found, jvms) | _of_jvms(jvms, sum(found.values(), Sizes()))
        if elapsed is not None:
            figures |= self._rates(found, jvms, elapsed)
        if managed_mib is not None:
            used = sum((own for pid, own in found.items() if pid != psutil.Process().pid), Sizes())
            figures["Status.Flink.Memory.Managed.Used"] = used.resident
            figures["Status.Flink.Memory.Managed.Total"] = managed_mib * MIB
        self._looked = now
        self._cpu = {pid: own.cpu_seconds for pid, own in found.items()}
        self._collected = {pid: jvm.collection_ms for pid, jvm in jvms.items()}
        return figures

    def _rates(
        self, found: dict[int, Sizes], jvms: dict[int, jvm_counters.Jvm], elapsed: float
    ) -> Figures:
        cpu = sum(max(0.0, own.cpu_seconds - self._cpu.get(pid, 0.0)) for pid, own in found.items())
        cores = psutil.cpu_count() or 1
        figures = {"Status.JVM.CPU.Load": min(1.0, cpu / elapsed / cores)}
        if jvms:
            ms = sum(
                max(0, jvm.collection_ms - self._collected.get(pid, 0)) for pid, jvm in jvms.items()
            )
            figures["Status.JVM.GarbageCollector.All.TimeMsPerSecond"] = ms / elapsed
        return figures


def _sizes(pids: Iterable[int]) -> dict[int, Sizes]:
    found = {}
    for pid in pids:
        with contextlib.suppress(psutil.Error):  # it has ended meanwhile
            process = psutil.Process(pid)
            with process.oneshot():
                times = process.cpu_times()
                found[pid] = Sizes(
                    times.user + times.system,
                    process.memory_info().rss,
                    process.num_threads(),
                    process.num_fds(),
                )
    return found


def _jvm(pid: int) -> jvm_counters.Jvm | None:
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        return jvm_counters.of(process) if process.name() == "java" else None
    return None


def _of_processes(found: dict[int, Sizes], jvms: dict[int, jvm_counters.Jvm]) -> Figures:
    all_ = sum(found.values(), Sizes())
    return {
        "Status.JVM.CPU.Time": int(all_.cpu_seconds * 1e9),
        "Status.JVM.Threads.Count": all_.threads,
        "Status.JVM.FileDescriptor.Open": all_.files,
        "Status.JVM.FileDescriptor.Max": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        "Status.JVM.Memory.NonHeap.Used": max(0, all_.resident - _heap(jvms)),
        "Status.JVM.Memory.NonHeap.Committed": max(0, all_.resident - _heap(jvms)),
        "Status.JVM.Memory.NonHeap.Max": -1,
    }


def _heap(jvms: dict[int, jvm_counters.Jvm]) -> int:
    return sum(jvm.heap_used for jvm in jvms.values())


def _of_jvms(jvms: dict[int, jvm_counters.Jvm], all_: Sizes) -> Figures:
    """Without a JVM the heap is what this process holds: Python has no other."""
    heap = "Status.JVM.Memory.Heap"
    if not jvms:
        machine = psutil.virtual_memory().total
        return {
            f"{heap}.Used": all_.resident,
            f"{heap}.Committed": all_.resident,
            f"{heap}.Max": machine,
            "Status.JVM.Memory.NonHeap.Used": 0,
            "Status.JVM.Memory.NonHeap.Committed": 0,
        }
    own = list(jvms.values())
    return {
        f"{heap}.Used": sum(jvm.heap_used for jvm in own),
        f"{heap}.Committed": sum(jvm.heap_committed for jvm in own),
        f"{heap}.Max": sum(jvm.heap_max for jvm in own),
        "Status.JVM.Memory.Metaspace.Used": sum(jvm.metaspace_used for jvm in own),
        "Status.JVM.Memory.Metaspace.Committed": sum(jvm.metaspace_committed for jvm in own),
        "Status.JVM.Memory.Metaspace.Max": -1,
        "Status.JVM.ClassLoader.ClassesLoaded": sum(jvm.classes_loaded for jvm in own),
        "Status.JVM.ClassLoader.ClassesUnloaded": sum(jvm.classes_unloaded for jvm in own),
        "Status.JVM.GarbageCollector.All.Count": sum(jvm.collections for jvm in own),
        "Status.JVM.GarbageCollector.All.Time": sum(jvm.collection_ms for jvm in own),
    }
