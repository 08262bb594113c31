"""HEADRACE_HOME, where all state is: jobs' files, secrets and topics, so for its owner only."""

from __future__ import annotations

import contextlib
from pathlib import Path

OWNER_ONLY = 0o700


def create(home: Path, *, ours: bool) -> None:
    """The folder is there afterwards, for its owner only if it was made here or is `ours` alone.

    Who may enter a folder that the user has made stays as it is: it may be the home of more than
    Headrace."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        home.mkdir(mode=OWNER_ONLY)
        return
    if ours and home.stat().st_mode & 0o777 != OWNER_ONLY:
        with contextlib.suppress(PermissionError):  # another user's
            home.chmod(OWNER_ONLY)
