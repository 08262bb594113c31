"""Becomes a driver: writes down which process it is, then replaces itself by the driver.

Run as a file, `python launcher.py <run_dir> <command...>`, in a session of its own. The process
that records itself and the one that runs the job are the same, so there is no moment at which a
driver runs that nobody can find again. The record is made only if there is none yet: a second
launcher of the same attempt ends here.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import psutil

PROCESS = "process.json"  # headrace.wire.rundir.PROCESS, which this file cannot import
ALREADY_LAUNCHED = 75


def record(run_dir: Path) -> bool:
    """Write pid, start time and boot of this process; False when another process did before.

    A link to a complete file: readers see all of it or nothing, and only one link can be made."""
    me = {"pid": os.getpid(), "started_at": psutil.Process().create_time(), "boot": boot()}
    fd, name = tempfile.mkstemp(dir=run_dir, prefix=f".{PROCESS}.")
    with os.fdopen(fd, "w") as file:
        json.dump(me, file)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(name, run_dir / PROCESS)
    except FileExistsError:
        return False
    finally:
        Path(name).unlink()
    return True


def boot() -> str:
    """Which start of this machine, or of this container, it is: pids mean nothing in another.

    Containers share the machine's boot id and differ in when their first process started. "" for
    a part that the system does not tell."""
    return f"{_boot_id()}/{_ticks_of_first_process()}"


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _ticks_of_first_process() -> str:
    try:
        return Path("/proc/1/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def main() -> None:
    run_dir, command = Path(sys.argv[1]), sys.argv[2:]
    if not record(run_dir):
        sys.exit(ALREADY_LAUNCHED)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
