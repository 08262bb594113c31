"""Child processes that outlive their parent and are found again: pid and start time on disk.

A child runs in a session of its own, so a Ctrl-C at the terminal reaches only the process that
decides in which order to stop. A pid alone may belong to someone else after a restart of the
machine; pid and start time together do not.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

#: The kernel counts a start in ticks since boot; the wall clock may have been set since.
START_TIME_TOLERANCE_SECONDS = 2.0
KILL_TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Identity:
    """One process and no other, also after it has ended and its pid is used again."""

    pid: int
    started_at: float

    @classmethod
    def of(cls, pid: int) -> Identity:
        """Raises psutil.NoSuchProcess when there is none."""
        return cls(pid, psutil.Process(pid).create_time())

    def process(self) -> psutil.Process | None:
        """The living process, or None once it has ended (a zombie has)."""
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.started_at) <= START_TIME_TOLERANCE_SECONDS
            return process if same and process.status() != psutil.STATUS_ZOMBIE else None
        except psutil.NoSuchProcess:
            return None


@dataclass(slots=True)
class Child:
    """A process started here or found again; `popen` only in the process that started it."""

    name: str
    identity: Identity
    record: Path
    popen: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def pid(self) -> int:
        return self.identity.pid

    def alive(self) -> bool:
        if self.popen is not None:
            return self.popen.poll() is None
        return self.identity.process() is not None

    def wait(self, timeout: float) -> bool:
        """Whether it ended within `timeout` seconds."""
        try:
            if self.popen is not None:
                self.popen.wait(timeout)
            elif process := self.identity.process():
                process.wait(timeout)
        except (subprocess.TimeoutExpired, psutil.TimeoutExpired):
            return False
        except psutil.NoSuchProcess:
            pass
        return True

    def signal(self, number: signal.Signals) -> None:
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def stop(self, timeout: float) -> bool:
        """SIGTERM, then SIGKILL to what is left of its session; whether it ended by itself."""
        self.signal(signal.SIGTERM)
        willing = self.wait(timeout)
        if not willing:
            self._kill_session()
            self.wait(KILL_TIMEOUT_SECONDS)
        self.record.unlink(missing_ok=True)
        return willing

    def _kill_session(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)


def start(
    name: str,
    command: Sequence[str],
    home: Path,
    *,
    environment: Mapping[str, str] | None = None,
    working_directory: Path | None = None,
) -> Child:
    """Start `command`, its output appended to `<home>/logs/<name>.log`, and record who it is."""
    log = home / "logs" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        popen = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            cwd=working_directory,
            start_new_session=True,
        )
    child = Child(name, Identity.of(popen.pid), _record(home, name), popen)
    _write(child)
    return child


def find(name: str, home: Path) -> Child | None:
    """The child of that name an earlier process started, if it still runs."""
    record = _record(home, name)
    try:
        values = json.loads(record.read_text())
        identity = Identity(values["pid"], values["started_at"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
    return Child(name, identity, record) if identity.process() else None


def log_tail(name: str, home: Path, lines: int = 5) -> str:
    """Last lines of the child's log, for an error message."""
    log = home / "logs" / f"{name}.log"
    text = log.read_text(errors="replace") if log.exists() else ""
    return "\n".join(text.splitlines()[-lines:])


def wait_until(ready: Callable[[], bool], child: Child, timeout: float, pause: float = 0.1) -> bool:
    """Whether `ready()` came true in time, with the child alive."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline and child.alive():
        if ready():
            return True
        time.sleep(pause)
    return False


def _record(home: Path, name: str) -> Path:
    return home / "processes" / f"{name}.json"


def _write(child: Child) -> None:
    child.record.parent.mkdir(parents=True, exist_ok=True)
    temporary = child.record.with_suffix(".new")
    temporary.write_text(json.dumps({"pid": child.pid, "started_at": child.identity.started_at}))
    temporary.replace(child.record)
