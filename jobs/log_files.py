"""The log files of TaskManagers and JobManagers that the web process can read, in pieces.

A process that writes its output to a file in `HEADRACE_HOME/logs` has its log there, as all of
`make up` do: `taskmanager-NAME.log`, `jobmanager.log`, `jobmanager-NAME.log`. The logs of drivers
are in their run directories. What is on another storage cannot be read here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User

from headrace.wire import rundir
from jobs import masking, permissions
from jobs.models import Attempt, TaskManager

#: Of drivers: the newest ones.
DRIVERS = 50
_CHUNK = 64 * 1024
#: How `make up` calls its only TaskManager, whose log has no name in it.
_OF_UP = "local"
_STORAGE_ID = "storage-id"  # workers.storage.NAME, which this module cannot import


@dataclass(frozen=True, slots=True)
class LogFile:
    """`modified`: milliseconds since 1970."""

    name: str
    path: Path
    size: int
    modified: int


def of_taskmanager(row: TaskManager, user: User | AnonymousUser) -> list[LogFile]:
    """Its own first, then those of the drivers that ran on it, of jobs that the user may see."""
    names = [f"taskmanager-{row.name}.log", *(["taskmanager.log"] if row.name == _OF_UP else [])]
    own = _own(names) if is_here(row.storage) else []
    jobs = permissions.visible_jobs(user)
    attempts = Attempt.objects.filter(taskmanager=row, job__in=jobs).order_by("-created_at")
    return [*own, *_of_drivers(attempts[:DRIVERS])]


def of_jobmanagers() -> list[LogFile]:
    """Those of JobManagers first, then that of the web process."""
    folder: Path = settings.HEADRACE_LOGS
    others = sorted(path.name for path in folder.glob("jobmanager-*.log"))
    return _own(["jobmanager.log", *others, "web.log"])


def is_here(storage: str) -> bool:
    """Whether files on this storage are where this process looks."""
    if not storage:
        return True
    try:
        return (settings.HEADRACE_HOME / _STORAGE_ID).read_text().strip() == storage
    except OSError:
        return False


def pieces(log: LogFile, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    """Bytes `start` to `end` as they are now, without the values of secrets."""
    end = log.size if end is None else min(end, log.size)
    try:
        with log.path.open("rb") as file:
            yield from _masked(file, start, end)
    except FileNotFoundError:
        return


async def streamed(log: LogFile, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
    """As `pieces`, read beside the event loop: never more than one piece is in memory."""
    source = pieces(log, start, end)
    while (piece := await asyncio.to_thread(next, source, None)) is not None:
        yield piece


def _own(names: Iterable[str]) -> list[LogFile]:
    folder: Path = settings.HEADRACE_LOGS
    return [found for name in names if (found := _file(name, folder / name)) is not None]


def _of_drivers(attempts: Iterable[Attempt]) -> Iterator[LogFile]:
    for attempt in attempts:
        path = Path(attempt.run_dir) / rundir.LOG
        name = f"driver-{attempt.job_id}-{attempt.number}.log"
        found = _file(name, path) if is_here(attempt.storage) else None
        if found is not None:
            yield found


def _file(name: str, path: Path) -> LogFile | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return LogFile(name, path, found.st_size, int(found.st_mtime * 1000))


def _masked(file: IO[bytes], start: int, end: int) -> Iterator[bytes]:
    """Whole lines are looked at, as what comes first in a line says what is behind it; of a line
    longer than a chunk, chunks."""
    position = _line_start(file, start)
    file.seek(position)
    rest = b""
    while position < end:
        chunk = rest + file.read(_CHUNK)
        cut = chunk.rfind(b"\n") + 1
        if len(chunk) == len(rest):  # the end of the file
            cut = len(chunk)
            end = min(end, position + cut)
        elif not cut and len(chunk) >= _CHUNK:
            cut = len(chunk)
        rest = chunk[cut:]
        shown = masking.in_text(chunk[:cut])[max(0, start - position) : end - position]
        position += cut
        if shown:
            yield shown


def _line_start(file: IO[bytes], start: int) -> int:
    """Where the line begins that `start` is in, at most a chunk before."""
    before = max(0, start - _CHUNK)
    file.seek(before)
    found = file.read(start - before).rfind(b"\n") + 1
    return before + found
