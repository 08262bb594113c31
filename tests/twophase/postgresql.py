"""A real PostgreSQL server from the machine's binaries, on a free port, in a folder of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg

from headrace.connectors.postgres.settings import PostgresSettings
from workers.embedded import ports

#: Where Debian puts them.
BINARIES = Path("/usr/lib/postgresql")
OWNER = "owner"
PASSWORD = "correct-horse"
START_SECONDS = 240.0
STOP_SECONDS = 120.0


@dataclass(frozen=True)
class Server:
    """User `writer` may write to the database of its name, and is no superuser."""

    port: int
    user: str = "writer"
    password: str = PASSWORD

    @property
    def url(self) -> str:
        return f"jdbc:postgresql://127.0.0.1:{self.port}/{self.user}"

    @property
    def settings(self) -> PostgresSettings:
        return PostgresSettings.from_url(self.url, self.user, self.password)

    def connect(self, user: str | None = None) -> psycopg.Connection[tuple[object, ...]]:
        arguments = self.settings.connect_arguments()
        return psycopg.connect(**{**arguments, "user": user or self.user}, autocommit=True)

    def query(self, sql: str) -> list[tuple[object, ...]]:
        with self.connect() as connection:
            return connection.execute(sql.encode()).fetchall()

    def execute(self, sql: str) -> None:
        with self.connect() as connection:
            connection.execute(sql.encode())

    def prepared(self) -> list[str]:
        return [str(gid) for (gid,) in self.query("SELECT gid FROM pg_prepared_xacts")]


@contextmanager
def running(*options: str) -> Iterator[Server]:
    """A server with these settings; gone, and its files, at the end."""
    with instance(*options) as made:
        yield made.server


@contextmanager
def instance(*options: str) -> Iterator[Instance]:
    """As `running`, for who wants to kill it."""
    home = Path(tempfile.mkdtemp(prefix="headrace-pg-"))
    try:
        _initialise(home)
        made = Instance(home, ports.free(), options)
        made.start()
        try:
            _make_database(made.server)
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(home, ignore_errors=True)


class Instance:
    """The server's process and its children."""

    def __init__(self, home: Path, port: int, options: tuple[str, ...]) -> None:
        self._home = home
        self._options = options
        self.server = Server(port)

    def start(self) -> None:
        self._process = _start(self._home, self.server.port, self._options)
        _wait_until_ready(self._process, self.server.port, self._home)

    def kill(self) -> None:
        """As a power failure, but for what the system's file cache holds."""
        every = [self._process, *psutil.Process(self._process.pid).children(recursive=True)]
        for each in every:
            each.kill()
        self._process.wait()
        psutil.wait_procs([each for each in every if isinstance(each, psutil.Process)])

    def stop(self) -> None:
        _stop(self._process)


def _initialise(home: Path) -> None:
    password = home / "password"
    password.write_text(PASSWORD)
    for each in (home, password):
        shutil.chown(each, *_owner())
    arguments = ["-D", str(home / "data"), "-U", OWNER, f"--pwfile={password}", "--no-sync"]
    _run_to_end(home, ["initdb", *arguments, "--auth=scram-sha-256", "--locale=C", "-E", "UTF8"])


def _start(home: Path, port: int, options: tuple[str, ...]) -> subprocess.Popen[bytes]:
    settings = (
        "listen_addresses=127.0.0.1",
        f"unix_socket_directories={home}",
        "fsync=off",
        "max_connections=50",
        *options,
    )
    command = [str(_binary("postgres")), "-D", str(home / "data"), "-p", str(port)]
    for each in settings:
        command += ["-c", each]
    with (home / "log").open("wb") as log:
        return subprocess.Popen(
            command, stdout=log, stderr=log, cwd=home, start_new_session=True, **_as_owner()
        )


def _run_to_end(home: Path, command: list[str]) -> None:
    done = subprocess.run(
        [str(_binary(command[0])), *command[1:]], cwd=home, capture_output=True, **_as_owner()
    )
    assert done.returncode == 0, done.stderr.decode()


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, home: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            Server(port).connect(OWNER).close()
            return
        except psycopg.OperationalError as error:
            log = (home / "log").read_text(errors="replace")
            if "does not exist" in str(error):  # the database is made next
                return
            assert process.poll() is None and time.monotonic() < deadline, log
            time.sleep(0.05)


def _make_database(server: Server) -> None:
    arguments = {**server.settings.connect_arguments(), "user": OWNER, "dbname": "postgres"}
    with psycopg.connect(**arguments, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE writer LOGIN PASSWORD '{PASSWORD}'".encode())
        connection.execute("CREATE DATABASE writer OWNER writer")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _binary(name: str) -> Path:
    found = sorted(BINARIES.glob(f"*/bin/{name}"))
    if not found:
        on_path = shutil.which(name)
        assert on_path, f"no {name} below {BINARIES}: install Debian's package postgresql"
        return Path(on_path)
    return found[-1]


def _owner() -> tuple[int, int]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return os.geteuid(), os.getegid()
    known = {each.pw_name: each for each in pwd.getpwall()}
    other = known.get("postgres") or known["nobody"]
    return other.pw_uid, other.pw_gid


def _as_owner() -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    user, group = _owner()
    return {"user": user, "group": group, "extra_groups": []}
