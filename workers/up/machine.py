"""What has to hold on this machine before anything starts."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from workers.embedded import ports, process


class NotPossible(Exception):
    """`up` cannot start here; the message says what to do. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A port one of our processes will listen on, and the variable that moves it."""

    name: str
    port: int
    variable: str


@contextmanager
def only_one(home: Path) -> Iterator[None]:
    """Hold the home's lock; the kernel lets it go when this process ends, however it ends."""
    with (home / "up.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            raise NotPossible(
                f"Headrace is running already (process {lock.read().strip()}); stop it there with "
                f"Ctrl-C, or set HEADRACE_HOME and other ports to run a second one."
            ) from error
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def check_ports(home: Path, wanted: list[Wanted]) -> None:
    """Each port is free, or held by the process an earlier `up` has left. Raises NotPossible."""
    for each in wanted:
        if ports.taken(each.port) and process.find(each.name, home) is None:
            raise NotPossible(
                f"port {each.port} (for {each.name}) is taken by another program; end that, or "
                f"choose another port: `{each.variable}={_another(each.port)} make up`."
            )


def _another(port: int) -> int:
    return port + 10_000 if port < 50_000 else port - 10_000
