"""The secret key that signs sessions: made once per HEADRACE_HOME, readable by its owner only."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from pathlib import Path

FILE_NAME = "secret_key"


def load_or_create(home: Path) -> str:
    """The key in the folder `home`. Of several processes at once the first to create it wins."""
    path = home / FILE_NAME
    with contextlib.suppress(FileExistsError):
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "w") as file:
            file.write(secrets.token_urlsafe(50))
    return _read(path)


def _read(path: Path) -> str:
    for _ in range(50):
        key = path.read_text().strip()
        if key:
            return key
        time.sleep(0.02)  # another process has created it and is about to write
    raise ValueError(f"{path} is empty, so no session can be signed; remove it and start again")
