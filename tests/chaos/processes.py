"""The processes of a workload's attempts, found by a mark in their environment."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterable

import psutil

from tests.processes import command_line

#: `<run>/<workload>/<attempt>/`, inherited by everything that an attempt starts.
VARIABLE = "HEADRACE_CHAOS_PROCESS"

WORKER = "worker"
JVM = "jvm"
OTHER = "other"


def marked(prefix: str) -> list[psutil.Process]:
    """Living processes whose mark begins so."""
    return [each for each in psutil.process_iter() if mark_of(each).startswith(prefix)]


def mark_of(process: psutil.Process) -> str:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return ""
        return process.environ().get(VARIABLE, "")
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return ""


def role(process: psutil.Process) -> str:
    """WORKER for Python processes that run tasks, JVM, or OTHER."""
    with contextlib.suppress(psutil.NoSuchProcess):
        command = process.cmdline()
        if command and command[0].endswith("java"):
            return JVM
        parent = process.parent()
        if command[-1:] == ["pyspark.worker"] and parent and parent.cmdline() == command:
            return WORKER
    return OTHER


def of_role(prefix: str, wanted: str) -> list[psutil.Process]:
    return [each for each in marked(prefix) if role(each) == wanted]


def send(processes: Iterable[psutil.Process], number: signal.Signals) -> int:
    """How many were there to get the signal."""
    reached = 0
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(number)
            reached += 1
    return reached


def freeze(prefix: str) -> list[psutil.Process]:
    """SIGSTOP to everything with the mark, and to what it starts meanwhile."""
    frozen: dict[int, psutil.Process] = {}
    while new := [each for each in marked(prefix) if each.pid not in frozen]:
        send(new, signal.SIGSTOP)
        frozen.update({each.pid: each for each in new})
    return list(frozen.values())


def kill_all(prefix: str) -> int:
    killed = 0
    while found := marked(prefix):
        killed += send(found, signal.SIGKILL)
        psutil.wait_procs(found, timeout=5)
    return killed


def left_after(prefix: str, seconds: float) -> list[str]:
    """Who is still there after that time, or nobody."""
    wait(lambda: not marked(prefix), seconds)
    found = []
    for process in marked(prefix):
        found.append(f"{process.pid} {command_line(process)[-120:]}")
    return found


def wait(condition: Callable[[], object], seconds: float, pause: float = 0.05) -> bool:
    """Whether it came true in that time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True
