"""Whatever happens while `up` starts or stops, it leaves no process behind and nobody waiting."""

from __future__ import annotations

import io
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from workers.embedded import jars, process
from workers.embedded.process import Child
from workers.up import run, shutdown
from workers.up.run import Interrupted, Up
from workers.up.terminal import Terminal
from workers.up.watch import Service, Watch


def sleeper(name: str, home: Path, then: Callable[[], None] = lambda: None) -> Service:
    def start() -> Child:
        child = process.start(name, ["sleep", "600"], home)
        then()
        return child

    return Service(name, start, stop_timeout=5)


def test_processes_are_stopped_though_the_database_fails(tmp_path: Path) -> None:
    """No test without the mark `django_db` is let near the database: every query raises."""
    out, watch = io.StringIO(), Watch(print)
    children = [watch.start(sleeper(name, tmp_path)) for name in ("jobmanager", "taskmanager")]

    shutdown.stop(watch, Terminal(out), lambda: False)

    assert not any(child.alive() for child in children)
    assert "jobs not stopped: Database access not allowed" in out.getvalue()


def test_one_that_cannot_be_stopped_does_not_keep_the_others(tmp_path: Path) -> None:
    out, watch = io.StringIO(), Watch(print)
    web, redis = (watch.start(sleeper(name, tmp_path)) for name in ("web", "redis"))
    web.record.unlink()
    web.record.mkdir()  # a folder where the record was: it cannot be removed as a file

    shutdown.stop(watch, Terminal(out), lambda: False)

    assert not redis.alive()
    assert "web not stopped: " in out.getvalue()


def test_a_signal_while_a_child_starts_is_obeyed_when_it_can_be_stopped(tmp_path: Path) -> None:
    up = Up(Terminal(io.StringIO()), None, with_example=False)
    service = sleeper("redis", tmp_path, then=lambda: os.kill(os.getpid(), signal.SIGINT))

    with up._ears(), pytest.raises(Interrupted):
        up._begin(service)

    assert up._watch.names() == ["redis"]
    up._watch.stop("redis")


@pytest.mark.parametrize("conflicts", [1, run.RESUME_ATTEMPTS])
def test_a_job_that_changes_while_up_starts_is_asked_again(
    conflicts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = conflicts

    def resume_all() -> int:
        nonlocal left
        left -= 1
        if left >= 0:
            raise run.actions.Conflict("it is being cancelled")
        return 1

    monkeypatch.setattr(run.actions, "resume_all", resume_all)
    monkeypatch.setattr(run, "WATCH_SECONDS", 0.01)
    out = io.StringIO()

    Up(Terminal(out), None, with_example=False)._resume_jobs()

    assert ("not every job goes on: it is being cancelled" in out.getvalue()) == (conflicts > 1)


def test_downloads_are_given_up_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given_up = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("HEADRACE_MAVEN_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setattr(jars, "_repositories_on_this_machine", list)
        threading.Timer(0.3, given_up.set).start()
        started = time.monotonic()

        with pytest.raises(jars.JarsMissing, match="not fetched to the end"):
            jars.resolve("spark", tmp_path, given_up=given_up)

    assert time.monotonic() - started < 30
    assert not list(tmp_path.glob("*.jar"))
