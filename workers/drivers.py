"""Driver processes: launched detached, found again by their run directory, ended by session."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import psutil

from headrace.wire import rundir, spec, text
from workers import launcher
from workers.embedded.process import Identity

#: Never handed to a driver: it runs the code of whoever may submit jobs.
SECRETS = (
    *("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "HEADRACE_ADMIN_PASSWORD"),
    *("EMAIL_URL", "HEADRACE_TOKEN", "DJANGO_SETTINGS_MODULE", "HEADRACE_OIDC_CLIENT_SECRET"),
    *("HEADRACE_SECRETS_KEYS", "HEADRACE_SECRETS_KEYS_FILE"),
    "HEADRACE_PROPERTIES",  # passwords of metrics reporters
)
LAUNCHER = Path(launcher.__file__)
SOURCE_ROOT = Path(rundir.__file__).parents[2]


class Driver:
    """The driver of one attempt as its TaskManager sees it.

    What it needs to know is in the run directory, so it is the same after a restart of the
    TaskManager; only the exit code is known to none but the process that launched it.
    """

    def __init__(self, run_dir: Path, known: Identity | None = None) -> None:
        """`known`: what was recorded of it before, should the run directory be gone."""
        self.run_dir = run_dir
        self._popen: subprocess.Popen[bytes] | None = None
        self._known = known
        self._identity: Identity | None = None
        self._boot = ""
        self._beat = _Standstill()

    def launch(self, command: Sequence[str], secrets: Mapping[str, str] | None = None) -> None:
        """Start the launcher; harmless when the attempt was launched before. `secrets`: variables
        of its environment that are kept out of its log."""
        self.run_dir.mkdir(parents=True, exist_ok=True)
        with (self.run_dir / rundir.LOG).open("ab") as log:
            self._popen = subprocess.Popen(
                [sys.executable, "-P", str(LAUNCHER), str(self.run_dir), *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.run_dir,
                env={**environment(os.environ, self.run_dir), **(secrets or {})},
                start_new_session=True,
            )

    @property
    def identity(self) -> Identity | None:
        """Which process it is; None until its launcher has written that down."""
        if self._identity is None:
            with contextlib.suppress(FileNotFoundError):
                values = json.loads((self.run_dir / rundir.PROCESS).read_text())
                self._identity = Identity(values["pid"], values["started_at"])
                self._boot = values.get("boot", "")
        return self._identity or self._known

    @property
    def _reachable(self) -> Identity | None:
        """Its identity, unless it ended with an earlier start of the machine or container."""
        identity = self.identity
        return None if self._boot and self._boot != launcher.boot() else identity

    @property
    def is_being_launched(self) -> bool:
        """Its launcher runs and has not written the identity down yet."""
        return self._popen is not None and self._popen.poll() is None and self.identity is None

    @property
    def exit_code(self) -> int | None:
        """Of the driver; None when it runs, or when another process launched it."""
        code = self._popen.poll() if self._popen is not None else None
        return None if code == launcher.ALREADY_LAUNCHED else code

    def is_alive(self) -> bool:
        """Whether the driver itself runs; a zombie does not."""
        if self._popen is not None:
            self._popen.poll()  # a child of ours: take its exit code, so it is no zombie
        identity = self._reachable
        return identity is not None and identity.process() is not None

    def silent_seconds(self) -> float:
        """How long its heartbeat has stood still, as seen from here."""
        try:
            beat = (self.run_dir / rundir.HEARTBEAT).stat().st_mtime_ns
        except FileNotFoundError:
            beat = 0
        return self._beat.seconds_since_change(beat)

    def complaint(self) -> str:
        """What its heartbeat says of why it stopped, to follow in a sentence; "" when it says
        nothing."""
        with contextlib.suppress(OSError):
            said = text.storable((self.run_dir / rundir.HEARTBEAT).read_text(errors="replace"))
            return f" ({said[:300]})" if said else ""
        return ""

    def remains(self) -> bool:
        """Whether any process of its session is left: the JVM, Python workers."""
        return any(True for _ in self.processes())

    def kill(self) -> None:
        """SIGKILL to every process of its session, or to its launcher."""
        if self._popen is not None and self.is_being_launched:
            self._popen.kill()
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def processes(self) -> Iterator[int]:
        """Living processes of the session that the driver leads or led.

        The kernel gives its pid to no other process while one of its session is left. So if a
        process of that pid lives which is not the driver, the session is somebody else's. After
        another start of the machine every session is.
        """
        identity = self._reachable
        if identity is None or _is_other_process(identity):
            return
        for pid in psutil.pids():
            try:
                if os.getsid(pid) == identity.pid and _lives(pid):
                    yield pid
            except (ProcessLookupError, PermissionError):
                continue


class _Standstill:
    """How long a value has not changed, by the clock that no one can set."""

    def __init__(self) -> None:
        self._value: int | None = None
        self._since = 0.0

    def seconds_since_change(self, value: int) -> float:
        now = time.monotonic()
        if value != self._value:
            self._value, self._since = value, now
        return now - self._since


def environment(own: Mapping[str, str], run_dir: Path) -> dict[str, str]:
    """A driver's environment: this process's without what a job must not know."""
    cleaned = {
        name: value
        for name, value in own.items()
        if name not in SECRETS and not name.startswith("CELERY")
    }
    path = [str(SOURCE_ROOT), *filter(None, [own.get("PYTHONPATH", "")])]
    return {
        **cleaned,
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONUNBUFFERED": "1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        spec.RUN_DIR_VARIABLE: str(run_dir),
    }


def _is_other_process(identity: Identity) -> bool:
    try:
        started_at = psutil.Process(identity.pid).create_time()
    except psutil.NoSuchProcess:
        return False
    return Identity(identity.pid, started_at).process() is not None and identity.process() is None


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
