"""Keys made once per HEADRACE_HOME, readable by its owner only: the one that signs sessions, and
the one that encrypts the secrets of jobs."""

from __future__ import annotations

import base64
import contextlib
import os
import secrets
import time
from pathlib import Path

FILE_NAME = "secret_key"
SECRETS_FILE_NAME = "secrets_key"


def load_or_create(home: Path) -> str:
    """The key in the folder `home`. Of several processes at once the first to create it wins."""
    return _load_or_create(home / FILE_NAME, secrets.token_urlsafe(50))


def of_secrets(home: Path) -> str:
    """The key of the secrets of jobs, as `load_or_create`; 32 bytes in URL-safe base 64."""
    made = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
    return _load_or_create(home / SECRETS_FILE_NAME, made)


def _load_or_create(path: Path, key: str) -> str:
    with contextlib.suppress(FileExistsError):
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "w") as file:
            file.write(key)
    return _read(path)


def _read(path: Path) -> str:
    for _ in range(50):
        key = path.read_text().strip()
        if key:
            return key
        time.sleep(0.02)  # another process has created it and is about to write
    raise ValueError(f"{path} is empty, where a key should be; remove it and start again")
