"""Names of the files in the run directory of one attempt, and how they are written.

<run_dir>/spec.json       JobSpec, written before the driver starts        (control plane)
<run_dir>/journal.jsonl   numbered events, append only                     (driver)
<run_dir>/heartbeat       touched every HEARTBEAT_SECONDS while alive       (driver)
<run_dir>/commands/       one file per command, removed when carried out   (control plane)
<run_dir>/driver.log      stdout and stderr of the driver                  (driver)
<run_dir>/process.json    pid, start time and boot of the driver           (control plane)
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

SPEC = "spec.json"
JOURNAL = "journal.jsonl"
HEARTBEAT = "heartbeat"
COMMANDS = "commands"
LOG = "driver.log"
PROCESS = "process.json"

HEARTBEAT_SECONDS = 1.0


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` so that a reader sees the old file or the whole new one, never a part. Only
    the owner may read the file: what a job signs in with can be in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fd, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
