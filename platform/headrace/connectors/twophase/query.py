"""Plain streaming queries of Spark, whose driver has no program of Headrace's: the checkpoint they
name, and the recovery before their batches."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlparse

from headrace.connectors.twophase import commitlog, errors
from headrace.connectors.twophase.committer import Committer
from headrace.connectors.twophase.messages import Resume


def checkpoint_directory(options: Mapping[str, str]) -> Path:
    """The query's checkpoint, as a path of this machine. Raises `InvalidSettings`."""
    location = options.get("checkpointLocation", "")
    parsed = urlparse(location)
    if not location or parsed.scheme not in ("", "file"):
        raise errors.InvalidSettings(
            f"checkpointLocation is {location!r}; the sink needs a directory that the driver can "
            "reach as a file path, given as an option of this query"
        )
    return Path(parsed.path)


@dataclass(frozen=True)
class _Run:
    """Of a query: what recovery answered, and the newest completed batch when it last began one."""

    resume: Resume
    completed: int | None


_runs: dict[tuple[int, Path], _Run] = {}


def resume(directory: Path, committer_of: Callable[[Resume | None], Committer]) -> Resume:
    """What holds for the batch that now begins; recovers unless this run did. A batch that begins
    a second time was stopped or failed the first time, and Spark may have dropped the messages of
    tasks that had prepared: nobody but recovery knows their transactions."""
    place = os.getpid(), directory
    completed = commitlog.newest(directory)
    run = _runs.get(place)
    committer = committer_of(run.resume if run else None)
    begun_before = run is not None and run.completed == completed
    if begun_before or not committer.is_current(completed):
        committer.recover(completed)
    _runs[place] = _Run(committer.resume, completed)
    return committer.resume
