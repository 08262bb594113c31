"""On which storage this process keeps the files of attempts.

The name of a machine does not say so: another can have its name, and it can get other disks.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import uuid
from pathlib import Path

NAME = "storage-id"


def identity(home: Path) -> str:
    """Of the folder `home`, made at first use: the same for all processes that see the folder."""
    path = home / NAME
    if not path.exists():
        _make(path)
    return path.read_text().strip()


def _make(path: Path) -> None:
    """A link to a complete file: readers see all of it or nothing, and only one can be made."""
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{NAME}.")
    with os.fdopen(fd, "w") as file:
        file.write(uuid.uuid4().hex)
        file.flush()
        os.fsync(file.fileno())
    try:
        with contextlib.suppress(FileExistsError):
            os.link(name, path)
    finally:
        Path(name).unlink()
