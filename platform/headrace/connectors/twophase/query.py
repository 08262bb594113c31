"""Plain streaming queries of Spark, whose driver has no program of Headrace's: the checkpoint they
name, and the recovery before their batches."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlparse

from headrace.connectors.twophase import commitlog, errors
from headrace.connectors.twophase.committer import Committer
from headrace.connectors.twophase.messages import Resume
from headrace.connectors.twophase.ownership import OwnerStore


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
    tasks that had prepared: nobody but recovery knows their transactions. Raises `SecondDriver`
    when another application has taken the query over, once: who starts it again means it."""
    place = os.getpid(), directory
    completed = commitlog.newest(directory)
    run = _runs.get(place)
    if run is not None and _is_taken_over(run, directory, completed):
        del _runs[place]
        raise errors.SecondDriver(
            f"another Spark application runs the query with checkpoint {directory}; this one has "
            "stopped, and nothing is lost. If the other one has ended, start this one again"
        )
    committer = committer_of(run.resume if run else None)
    begun_before = run is not None and run.completed == completed
    if begun_before or not committer.is_current(completed):
        committer.recover(completed)
    _runs[place] = _Run(committer.resume, completed)
    return replace(committer.resume, ended=committer.ended())


def check_planned(batch_id: int, directory: Path) -> None:
    """Before a commit. Spark plans a batch before this application takes the query over, and the
    one before it may have completed more than that batch meanwhile. Raises `SecondDriver`."""
    completed = commitlog.newest(directory)
    if completed is not None and completed > batch_id:
        raise errors.SecondDriver(
            f"batch {completed} was completed while this Spark application, which was to take the "
            f"query with checkpoint {directory} over, began with batch {batch_id}; this one has "
            "stopped, and nothing is lost. Start it again; if it ends so once more, the checkpoint "
            "has lost the newest of its offsets: restore them"
        )


def _is_taken_over(run: _Run, directory: Path, completed: int | None) -> bool:
    """Does this run go on with the batch behind the one it began last? Where none or more were
    completed, Spark has ended that run, and another one was started on purpose."""
    owners = OwnerStore(directory)
    newest = owners.newest()
    if newest == run.resume.epoch or owners.is_of_this_application(newest):
        return False
    return completed == (0 if run.completed is None else run.completed + 1)
