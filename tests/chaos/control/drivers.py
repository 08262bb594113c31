"""The processes of drivers, by the run directory that each of them carries in its environment."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

import psutil

from headrace.wire.spec import RUN_DIR_VARIABLE
from tests.chaos import processes

#: Job id -> number of the attempt -> its processes.
Living = dict[str, dict[int, list[psutil.Process]]]


def living(run: str) -> Living:
    """Of the run's own TaskManagers."""
    found: defaultdict[str, defaultdict[int, list[psutil.Process]]]
    found = defaultdict(lambda: defaultdict(list))
    for process in processes.marked(f"{run}/"):
        if folder := _run_dir(process):
            found[folder.parent.name][int(folder.name)].append(process)
    return {job: dict(attempts) for job, attempts in found.items()}


def _run_dir(process: psutil.Process) -> Path | None:
    try:
        path = process.environ().get(RUN_DIR_VARIABLE, "")
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None
    return Path(path) if path else None


def leader(found: list[psutil.Process]) -> list[psutil.Process]:
    """The driver itself, without its JVM and workers: it leads their session."""
    return [process for process in found if _leads_session(process)]


def _leads_session(process: psutil.Process) -> bool:
    try:
        return os.getsid(process.pid) == process.pid
    except ProcessLookupError:
        return False
