"""Spark's own commit log: which batches it will never run again."""

from __future__ import annotations

from pathlib import Path

DIRECTORY = "commits"


def newest(checkpoint: Path) -> int | None:
    """The newest batch that Spark has recorded as committed in this checkpoint, None at first."""
    log = checkpoint / DIRECTORY
    if not log.is_dir():
        return None
    return max((int(each.name) for each in log.iterdir() if each.name.isdigit()), default=None)
