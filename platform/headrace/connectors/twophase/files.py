"""Files that appear whole or not at all, and once."""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path


def create_exclusively(path: Path, data: bytes) -> None:
    """Write `data` durably under a name that does not exist yet. Raises FileExistsError.

    The content is complete before the name appears (a hard link of a synced file), so whoever
    sees the file sees all of it, also after a power failure.
    """
    make_directory(path.parent)
    fd, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.link(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)
    sync_directory(path.parent)


def replace_at_once(path: Path, data: bytes) -> None:
    """Whoever reads it gets the old content or the new one, whole. Not durable."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def make_directory(directory: Path) -> None:
    """With its parents, as far as they are missing; durable when this returns."""
    missing = []
    while not directory.exists():
        missing.append(directory)
        directory = directory.parent
    for each in reversed(missing):
        each.mkdir(exist_ok=True)
        sync_directory(each.parent)


def sync_tree(directory: Path) -> None:
    """The names in it and in all directories below are durable when this returns."""
    for folder, _, _ in os.walk(directory, topdown=False):
        sync_directory(Path(folder))


def sync_directory(directory: Path) -> None:
    """The names in it are durable when this returns."""
    fd = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
