"""Which driver a job belongs to: a growing epoch, one file each.

    <checkpoint_dir>/headrace/owners/00000007.json
    <checkpoint_dir>/headrace/job.json               the name of the checkpoint, made once

A driver that starts claims the next epoch by creating its file exclusively, and belongs to it for
as long as no later file exists. A driver that was paused and wakes up finds a later epoch and
stops. What makes that safe is not this check (it may be paused right after it) but what follows:
the newer driver ends every transaction of earlier epochs, and a manifest can be created only once.
The check makes the older one stop early, before it gets in the newer one's way.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from headrace.connectors.twophase import errors, files

DIRECTORY = Path("headrace") / "owners"
JOB = Path("headrace") / "job.json"
KEPT_OWNERS = 20


def application() -> str:
    """Names the Spark application that runs this Python process for its driver; "" if none does.
    Spark tells its processes the directories of the driver's blocks, which are made anew in each
    application."""
    return os.environ.get("SPARK_LOCAL_DIRS", "")


@dataclass(frozen=True, slots=True)
class Identity:
    """Which job it is, and where its checkpoint is."""

    job: str
    checkpoint: str


class OwnerStore:
    """The epochs of one job."""

    def __init__(self, checkpoint_dir: Path) -> None:
        self.directory = checkpoint_dir / DIRECTORY
        self._job = checkpoint_dir / JOB
        self._closed = self.directory / "closed"

    def job(self) -> str:
        """Eight hex digits that name this checkpoint, the same from start to start."""
        while True:
            with contextlib.suppress(FileNotFoundError):
                return str(json.loads(self._job.read_bytes())["job"])
            with contextlib.suppress(FileExistsError):
                name = json.dumps({"job": secrets.token_hex(4)}).encode()
                files.create_exclusively(self._job, name)

    def suffix(self) -> str:
        """What the prefixes that a program gives end with, in a job that began as a copy beside
        another; "" in all others."""
        self.job()
        return str(json.loads(self._job.read_bytes()).get("suffix", ""))

    def identity(self) -> Identity:
        return Identity(self.job(), str(self._job.parent.parent.resolve()))

    def claim(self, above: int = 0, roots: Mapping[str, str] | None = None) -> int:
        """Become the owner; the new epoch, greater than every epoch here and than `above`.
        `roots`: per sink, what the names of its transactions begin with. Raises SecondDriver when
        the checkpoint goes on elsewhere."""
        note = self._note(dict(roots or {}))
        while True:
            epoch = max(self.newest(), above) + 1
            try:
                files.create_exclusively(self._path(epoch), note)
            except FileExistsError:
                continue
            if self._closed.exists():
                raise errors.SecondDriver(f"{self._closed} says that another place took over")
            self._prune()
            return epoch

    def close(self) -> None:
        """From here on nobody owns it, whoever claims it: it goes on at another place. Closed
        before the epoch is taken, so that who claims it before that is found out by `check`, and
        who claims it afterwards sees the mark."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self._closed.touch()
        with contextlib.suppress(errors.SecondDriver):
            self.claim()

    def open_again(self) -> None:
        """It goes on here after all."""
        self._closed.unlink(missing_ok=True)

    def newest(self) -> int:
        """The current epoch, 0 before the first."""
        return max((int(path.stem) for path in self.directory.glob("[0-9]*.json")), default=0)

    def roots_before(self, epoch: int) -> list[dict[str, str]]:
        """`roots` of the last owners before `epoch`, oldest first. Only of those at this place: a
        checkpoint that was copied here names transactions of another job."""
        here = self.identity().checkpoint
        found = []
        for path in sorted(self.directory.glob("[0-9]*.json")):
            with contextlib.suppress(FileNotFoundError, ValueError):
                note = json.loads(path.read_bytes())
                if int(path.stem) < epoch and note.get("checkpoint") == here:
                    found.append(dict(note["roots"]))
        return found

    def is_here(self, epoch: int) -> bool:
        """Was that owner at this path of this host? False for a copy, and when nobody knows."""
        with contextlib.suppress(FileNotFoundError, ValueError):
            note = json.loads(self._path(epoch).read_bytes())
            place = note.get("host"), note.get("checkpoint")
            return place == (socket.gethostname(), self.identity().checkpoint)
        return False

    def is_of_this_application(self, epoch: int) -> bool:
        """Was that owner a process of this process's Spark application? Always of one that Spark
        has not started: those cannot tell."""
        with contextlib.suppress(FileNotFoundError, ValueError):
            note = json.loads(self._path(epoch).read_bytes())
            return application() in ("", note.get("application"))
        return True

    def mark_recovered(self, epoch: int) -> None:
        """`epoch` has shut out every earlier one."""
        self._path(epoch).with_suffix(".recovered").touch()

    def newest_recovered(self) -> int:
        """The newest epoch with that mark, 0 if none is known."""
        return max((int(p.stem) for p in self.directory.glob("[0-9]*.recovered")), default=0)

    def forget_recovered(self) -> None:
        """Another checkpoint's drivers have used the names since: they may have earlier epochs."""
        for path in self.directory.glob("[0-9]*.recovered"):
            path.unlink(missing_ok=True)

    def check(self, epoch: int) -> None:
        """Raises `SecondDriver` when `epoch` is no longer the newest."""
        newest = self.newest()
        if newest != epoch:
            raise errors.SecondDriver(f"epoch {epoch} here, epoch {newest} took over")

    def _prune(self) -> None:
        for old in sorted(self.directory.glob("[0-9]*.json"))[:-KEPT_OWNERS]:
            old.with_suffix(".recovered").unlink(missing_ok=True)
            old.unlink(missing_ok=True)

    def _path(self, epoch: int) -> Path:
        return self.directory / f"{epoch:08d}.json"

    def _note(self, roots: dict[str, str]) -> bytes:
        note = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "application": application(),
            "at": int(time.time() * 1000),
            "checkpoint": self.identity().checkpoint,
            "roots": roots,
        }
        return json.dumps(note).encode()
