"""The graph of a program before anything starts: its planning runs in a process of its own.

That process is given none of this one's environment, little time and memory, and an empty folder.
It runs the user's code all the same: ask for it only on behalf of those who may submit jobs.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from headrace.wire import rundir
from jobs import artifacts, vertices
from jobs.artifacts import Artifact

SECONDS = 30.0
MEMORY_BYTES = 4 * 1024**3
#: Of the plan, and of any file that the program writes meanwhile.
FILE_BYTES = 64 * 1024**2
#: Processes at once, in each web process.
AT_ONCE = 2
_SOURCE_ROOT = Path(rundir.__file__).parents[2]
_LIMITS = (
    (resource.RLIMIT_AS, MEMORY_BYTES),
    (resource.RLIMIT_FSIZE, FILE_BYTES),
    (resource.RLIMIT_CPU, int(SECONDS * 2)),
    (resource.RLIMIT_CORE, 0),
)
_SAID_BYTES = 8 * 1024
#: In the environment of all that a planning starts: some of it may leave the session.
_MARK = "HEADRACE_PLANNING"
_room = threading.BoundedSemaphore(AT_ONCE)


class NoPlan(Exception):
    """The program has no plan; `args[0]` says why, `args[1]` is what it printed last."""


class Busy(Exception):
    """As many plans as there is room for are being made; ask again."""


def plan(
    artifact: Artifact,
    arguments: Sequence[str] = (),
    parallelism: int = 1,
    configuration: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """As a driver reports it: {"nodes": [...]}. Raises NoPlan, Busy, UnusableFile."""
    settings = dict(configuration or {})
    artifacts.entry_class(artifact, settings.get(artifacts.ENTRY_CLASS, ""))
    if not _room.acquire(blocking=False):
        raise Busy(f"{AT_ONCE} plans are being made at this moment; ask again")
    try:
        return _made(artifact, arguments, parallelism, settings)
    finally:
        _room.release()


def _made(
    artifact: Artifact, arguments: Sequence[str], parallelism: int, settings: dict[str, str]
) -> dict[str, Any]:
    command = [sys.executable, "-m", "headrace.runtime.show_plan", str(parallelism), "-"]
    with (
        tempfile.TemporaryDirectory(prefix="headrace-plan-", ignore_cleanup_errors=True) as folder,
        tempfile.TemporaryFile() as answer,
        tempfile.TemporaryFile() as said,
    ):
        command += [str(artifact.path), *arguments]
        with _process(command, folder, answer, said) as process:
            code = _ended(process, json.dumps(settings).encode())
        return _read(answer, said, code, artifact.name)


@contextmanager
def _process(
    command: list[str], folder: str, answer: IO[bytes], said: IO[bytes]
) -> Iterator[subprocess.Popen[bytes]]:
    """With all that it starts, ended at the end."""
    mark = f"{_MARK}={secrets.token_hex(16)}"
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=answer,
        stderr=said,
        cwd=folder,
        env=_environment(folder) | dict([mark.split("=")]),
        start_new_session=True,
    )
    try:
        _limit(process.pid)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        _end_marked(mark.encode())


def _end_marked(mark: bytes) -> None:
    """What has left the session. Only Linux tells of environments; what has changed its own is not
    found. Several looks, as each may have started another meanwhile."""
    for _ in range(10):
        found = [int(path.parent.name) for path in _environments() if mark in _content(path)]
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return
        time.sleep(0.02)


def _environments() -> Iterator[Path]:
    """Those of all processes."""
    return Path("/proc").glob("[0-9]*/environ")


def _content(path: Path) -> bytes:
    """Nothing of a process that has ended, or is another user's."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _ended(process: subprocess.Popen[bytes], settings: bytes) -> int | None:
    """Its exit code; None when its time was up."""
    try:
        process.communicate(settings, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None
    return process.returncode


def _read(answer: IO[bytes], said: IO[bytes], code: int | None, name: str) -> dict[str, Any]:
    last = _tail(said)
    if code is None:
        raise NoPlan(f"{name} did not come to its execute() within {SECONDS:.0f} s", last)
    answer.seek(0)
    found = answer.read(FILE_BYTES).splitlines()
    if code or not found:
        lines = [line for line in last.splitlines() if line.strip()]
        why = lines[-1].strip() if lines else f"it ended with exit code {code}"
        raise NoPlan(f"{name} has no plan: {why}", last)
    return _checked(found[-1], name)


def _checked(line: bytes, name: str) -> dict[str, Any]:
    """The program may have written what it likes where its plan is told."""
    try:
        values: dict[str, Any] = json.loads(line)
        vertices.of(values)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise NoPlan(f"{name} has told something else than a plan", "") from None
    return values


def _tail(said: IO[bytes]) -> str:
    size = said.seek(0, os.SEEK_END)
    said.seek(max(0, size - _SAID_BYTES))
    return said.read().decode(errors="replace")


def _environment(folder: str) -> dict[str, str]:
    kept = ("PATH", "LANG", "LC_ALL", "JAVA_HOME", "TZ")
    return {
        **{name: os.environ[name] for name in kept if name in os.environ},
        "PYTHONPATH": str(_SOURCE_ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": folder,
        "TMPDIR": folder,
        "JAVA_TOOL_OPTIONS": "-Xmx512m -XX:TieredStopAtLevel=1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }


def _limit(pid: int) -> None:
    if not hasattr(resource, "prlimit"):  # not on macOS: there the time alone is limited
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        for kind, most in _LIMITS:
            _, hard = resource.prlimit(pid, kind)
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.prlimit(pid, kind, (most, most))
