"""Unix sockets between the JVM and its Python workers on one machine.

Over TCP, Spark's default, nearly every task waits 40 ms for a delayed acknowledgement: the JVM
sends a task in several small writes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
import tempfile
import time
from pathlib import Path

#: A worker that lives listens well within this.
DEAD_SECONDS = 60.0
#: A socket's path may have 107 bytes (103 on a Mac); its name within the folder has 42.
LONGEST = 60


def settings() -> dict[str, str]:
    """Of Spark; none where a folder for this user alone cannot be had, as whoever may open the
    files may talk to the workers, or where its path is too long."""
    folder = own_folder(Path(tempfile.gettempdir()))
    if folder is None or len(os.fsencode(folder)) > LONGEST:
        return {}
    drop_dead(folder)
    return {
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.python.unix.domain.socket.dir": str(folder),
    }


def own_folder(parent: Path) -> Path | None:
    """A folder with a short name; None when the name is taken by somebody else."""
    folder = parent / f"headrace-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    ours = found.st_uid == os.getuid() and stat.S_ISDIR(found.st_mode)
    return folder if ours and stat.S_IMODE(found.st_mode) == 0o700 else None


def drop_dead(folder: Path) -> None:
    """Remove what workers left that were killed."""
    for path in folder.glob(".*.sock"):
        with contextlib.suppress(FileNotFoundError), socket.socket(socket.AF_UNIX) as client:
            client.setblocking(False)  # who listens need not accept: others have looked before
            old = time.time() - path.lstat().st_mtime > DEAD_SECONDS
            if old and client.connect_ex(str(path)) == errno.ECONNREFUSED:
                path.unlink()
