"""How the memory of a job's slots is divided, and what is said when it does not suffice.

A driver with its JVM and Python workers is one process group of the slots' memory. The heap of the
JVM is set, each Python worker has a limit of the system, and the TaskManager watches the sum.
"""

from __future__ import annotations

import os
import re
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace.runtime.errors import JobFailed
from headrace.wire.failures import Cause

#: MiB a worker may take beyond what it begins with; set for the workers' daemon.
WORKER_VARIABLE = "HEADRACE_WORKER_MEMORY_MIB"

#: What a job of one slot with a source and a sink in Python takes beside its heap. Measured, in
#: MiB: the JVM 310, its driver's Python 100, the processes in which Spark plans, reads positions
#: and commits 390, the workers that run tasks 230.
DRIVER_OVERHEAD_MIB = 1000
#: Of it what every job takes.
LEAST_OVERHEAD_MIB = 700
#: Of an executor: its JVM and the workers that run tasks.
EXECUTOR_OVERHEAD_MIB = 500
#: Spark starts with no less: 1.5 times its reserved memory of 300 MiB.
LEAST_HEAP_MIB = 450
HEAP_SHARE = 0.6
LEAST_MIB = LEAST_HEAP_MIB + LEAST_OVERHEAD_MIB

#: The JVM ends with this code at its first OutOfMemoryError.
JVM_OPTION = "-XX:+ExitOnOutOfMemoryError"
_OUT_OF_MEMORY_CODE = 3
_KILLED_CODE = -9
_MEMORY_ERROR = re.compile(r"\b_?(Array|Arrow)?MemoryError\b|std::bad_alloc|malloc of size")
_JVM_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Division:
    """MiB of one process group."""

    total: int
    heap: int

    @property
    def beside_heap(self) -> int:
        """What its other processes have together, and no single worker may pass."""
        return self.total - self.heap


def of_driver(total_mib: int) -> Division:
    """Raises JobFailed when it does not suffice for any job."""
    return _divided(total_mib, DRIVER_OVERHEAD_MIB)


def of_executor(slot_mib: int) -> Division:
    """Raises JobFailed."""
    return _divided(slot_mib, EXECUTOR_OVERHEAD_MIB)


def _divided(total: int, overhead: int) -> Division:
    heap = max(LEAST_HEAP_MIB, int((total - overhead) * HEAP_SHARE))
    if total < LEAST_MIB:
        raise JobFailed(
            f"the memory of the job's slots, {total} MiB, is too little for Spark: at least "
            f"{LEAST_MIB} MiB are needed. Nothing was started. Give the TaskManager more memory or "
            "fewer slots, or the job more slots.",
            cause=Cause.SETTINGS,
        )
    return Division(total, heap)


def shortage(headline: str, total_mib: int, gateway: Any) -> str | None:
    """In a sentence, if memory is why a driver of so much fails; how its JVM ended tells, and
    what it fails with."""
    if total_mib < LEAST_MIB:
        return None  # nothing was started
    division = of_driver(total_mib)
    more = (
        "What was not committed is processed again from the last checkpoint. Give the job more "
        "slots, or its TaskManager more memory."
    )
    slots = f"the {total_mib} MiB of the job's slots"
    ended = _jvm_ended(gateway)
    if ended == _OUT_OF_MEMORY_CODE:
        return (
            f"out of memory: the JVM came to the end of its heap, {division.heap} MiB of {slots}. "
            f"{more}"
        )
    if ended == _KILLED_CODE:
        return (
            "out of memory, most likely: the JVM was killed (SIGKILL), as the system does when "
            f"the machine has no memory left. {more}"
        )
    if _MEMORY_ERROR.search(headline):
        return (
            f"out of memory in a Python worker, which may take {division.beside_heap} MiB of "
            f"{slots}: {headline}. {more}"
        )
    return None


def _jvm_ended(gateway: Any) -> int | None:
    """Its exit code; None while it runs, also when it is not ours."""
    process: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    if process is None:
        return None
    with suppress(subprocess.TimeoutExpired):
        return process.wait(_JVM_SECONDS if _is_deaf(gateway) else 0)
    return None


def _is_deaf(gateway: Any) -> bool:
    """Whether the JVM does not answer: it may be about to end."""
    try:
        gateway.jvm.System.nanoTime()
    except Exception:
        return True
    return False


def limit_workers(total_mib: int) -> None:
    """Before the JVM starts, from which the workers have their environment. Arrow is to take its
    memory from the system: its own allocator reserves a GiB at once, which would count."""
    if total_mib >= LEAST_MIB:  # else nothing starts
        os.environ[WORKER_VARIABLE] = str(of_driver(total_mib).beside_heap)
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


def limit_this_process() -> None:
    """Of a worker just forked: no more private memory than it has now and `WORKER_VARIABLE` says.
    More is refused with a MemoryError, which names the operator. RLIMIT_DATA counts what can be
    written, not what is reserved, so stacks and libraries do no harm; Linux only."""
    allowed = os.environ.get(WORKER_VARIABLE)
    if not allowed:
        return
    import resource

    with suppress(OSError, ValueError):
        limit = _data_now() + int(allowed) * 1024 * 1024
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if hard == resource.RLIM_INFINITY or limit < hard:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def _data_now() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    raise ValueError("the system does not tell VmData")
