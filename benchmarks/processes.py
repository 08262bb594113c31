"""CPU time of a process and everything it started."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

import psutil


def cpu_seconds(root: int | None = None, without: Iterable[int] = ()) -> float:
    """Used so far by the process `root` (this one unless given), by its descendants, and by those
    of them that have ended and been waited for; the trees under `without` are left out."""
    process = psutil.Process(root)
    left_out = set(without)
    if process.pid in left_out:
        return 0.0
    total = 0.0
    with contextlib.suppress(psutil.NoSuchProcess):
        times = process.cpu_times()
        total = times.user + times.system + times.children_user + times.children_system
        total += sum(cpu_seconds(child.pid, left_out) for child in process.children())
    return total


def memory_mib(root: int | None = None, without: Iterable[int] = ()) -> float:
    """What a process and its descendants have in memory, shared pages once; as `cpu_seconds`."""
    process = psutil.Process(root)
    left_out = set(without)
    if process.pid in left_out:
        return 0.0
    total = 0.0
    with contextlib.suppress(psutil.NoSuchProcess):
        total = process.memory_full_info().pss / 2**20
        total += sum(memory_mib(child.pid, left_out) for child in process.children())
    return total


def compiler_seconds(root: int | None = None, without: Iterable[int] = ()) -> float:
    """Used so far by the compilers of JVMs, which is what it takes to get warm; as `cpu_seconds`.
    JVMs that end such threads (`-XX:+UseDynamicNumberOfCompilerThreads`) tell too little."""
    process = psutil.Process(root)
    left_out = set(without)
    if process.pid in left_out:
        return 0.0
    total = 0.0
    with contextlib.suppress(psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
        if process.name() == "java":
            total = sum(map(_compiling, Path(f"/proc/{process.pid}/task").iterdir()))
        total += sum(compiler_seconds(child.pid, left_out) for child in process.children())
    return total


def _compiling(thread: Path) -> float:
    name, _, figures = (thread / "stat").read_text().partition("(")[2].rpartition(")")
    if not COMPILER.match(name):
        return 0.0
    user, system = figures.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


COMPILER = re.compile(r"C[12] CompilerThre|Sweeper thread")
