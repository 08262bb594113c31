"""CPU time of a process and everything it started."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import psutil


def cpu_seconds(root: int | None = None, without: Iterable[int] = ()) -> float:
    """Used so far by the process `root` (this one unless given), by its descendants, and by those
    of them that have ended and been waited for; the trees under `without` are left out."""

    def used(process: psutil.Process) -> float:
        times = process.cpu_times()
        return float(times.user + times.system + times.children_user + times.children_system)

    return sum(_each(used, psutil.Process(root), set(without)))


def memory_mib(root: int | None = None, without: Iterable[int] = ()) -> float:
    """What a process and its descendants have in memory, shared pages once; as `cpu_seconds`."""

    def held(process: psutil.Process) -> float:
        return float(process.memory_full_info().pss) / 2**20

    return sum(_each(held, psutil.Process(root), set(without)))


def compiler_seconds(root: int | None = None, without: Iterable[int] = ()) -> float:
    """Used so far by the compilers of JVMs, which is what it takes to get warm; as `cpu_seconds`.
    JVMs that end such threads (`-XX:+UseDynamicNumberOfCompilerThreads`) tell too little."""

    def used(process: psutil.Process) -> float:
        threads = Path(f"/proc/{process.pid}/task").iterdir() if process.name() == "java" else ()
        return sum(map(_compiling, threads))

    return sum(_each(used, psutil.Process(root), set(without)))


def _each(
    figure: Callable[[psutil.Process], float], process: psutil.Process, without: set[int]
) -> Iterator[float]:
    """Of a process that ends meanwhile nothing is told; all others are."""
    if process.pid in without:
        return
    children: list[psutil.Process] = []
    with contextlib.suppress(psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
        children = process.children()
        yield figure(process)
    for child in children:
        yield from _each(figure, child, without)


def _compiling(thread: Path) -> float:
    try:
        name, _, figures = (thread / "stat").read_text().partition("(")[2].rpartition(")")
    except (FileNotFoundError, ProcessLookupError):  # it has ended; compilers do not
        return 0.0
    if not COMPILER.match(name):
        return 0.0
    user, system = figures.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


COMPILER = re.compile(r"C[12] CompilerThre|Sweeper thread")
