"""Becomes a driver: writes down which process it is, then replaces itself by the driver.

Run as a file, `python launcher.py <run_dir> <command...>`, in a session of its own. The process
that records itself and the one that runs the job are the same, so there is no moment at which a
driver runs that nobody can find again. The record is made only if there is none yet: a second
launcher of the same attempt ends here.

What a driver with secrets writes goes through a child of this process, which stars them out before
they are in the log.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import tempfile
from pathlib import Path

import psutil

PROCESS = "process.json"  # headrace.wire.rundir.PROCESS, which this file cannot import
ALREADY_LAUNCHED = 75
SECRET = "HEADRACE_SECRET_"  # jobs.job_secrets.VARIABLE
STARS = b"******"
#: Shorter pieces of a secret are found in too many words.
SHORTEST = 4
#: A line that is not finished is written after this (seconds), or when it has so many bytes.
PATIENCE, LONGEST_LINE = 0.5, 1 << 20


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


def secret_pieces(environment: dict[str, str]) -> list[bytes]:
    """What must not be in the log: the secrets, and each line of those with several; the longest
    first."""
    values = [os.fsencode(v) for name, v in environment.items() if name.startswith(SECRET)]
    pieces = {piece for value in values for piece in (value, *value.splitlines())}
    return sorted((p for p in pieces if len(p.strip()) >= SHORTEST), key=len, reverse=True)


def star_out(pieces: list[bytes]) -> None:
    """What this process and its children write goes through a child that stars the pieces out. It
    ends when nobody is left who could write."""
    source, sink = os.pipe()
    if os.fork():
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        os.close(sink)
        os.close(source)
        return
    os.close(sink)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        pump(source, 1, pieces)
    finally:
        os._exit(0)


def pump(source: int, target: int, pieces: list[bytes]) -> None:
    """Copy line by line, as a piece may come in two reads."""
    rest = b""
    while True:
        ready, _, _ = select.select([source], [], [], PATIENCE if rest else None)
        chunk = os.read(source, 65536) if ready else None
        rest += chunk or b""
        cut = rest.rfind(b"\n") + 1
        if not chunk or len(rest) - cut > LONGEST_LINE:  # the end, or nothing more for a while
            cut = len(rest)
        done, rest = rest[:cut], rest[cut:]
        for piece in pieces:
            done = done.replace(piece, STARS)
        if chunk != b"":
            held = begun(done, pieces)
            done, rest = done[: len(done) - held], done[len(done) - held :] + rest
        while done:
            done = done[os.write(target, done) :]
        if chunk == b"":
            return


def begun(text: bytes, pieces: list[bytes]) -> int:
    """How many of the last bytes may be the beginning of a piece: the rest of it may follow. Within
    the last line, as each line of a piece is one."""
    line = text[text.rfind(b"\n") + 1 :]
    longest = 0
    for piece in pieces if line else ():
        at = line.find(piece[:1], max(0, len(line) - len(piece) + 1))
        while at >= 0 and not piece.startswith(line[at:]):
            at = line.find(piece[:1], at + 1)
        longest = max(longest, len(line) - at if at >= 0 else 0)
    return longest


def main() -> None:
    run_dir, command = Path(sys.argv[1]), sys.argv[2:]
    if not record(run_dir):
        sys.exit(ALREADY_LAUNCHED)
    if pieces := secret_pieces(dict(os.environ)):
        star_out(pieces)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
