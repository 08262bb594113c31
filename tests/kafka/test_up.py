"""`manage.py up` as its user sees it: started, disturbed, killed, stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from tests.isolation import ROOT
from workers.embedded import jars, ports, process

OURS = ("kafka", "redis", "web", "jobmanager", "taskmanager")
START_SECONDS = 400
STOP_SECONDS = 240


@dataclass
class Machine:
    """A home and ports that several runs of `up` share."""

    home: Path
    environment: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.web = ports.free()
        self.environment = {
            **os.environ,
            "HEADRACE_HOME": str(self.home),
            "HEADRACE_ADMIN_PASSWORD": "of-this-test-only",
            "HEADRACE_WEB_PORT": str(self.web),
            "HEADRACE_KAFKA_PORT": str(ports.free()),
            "HEADRACE_REDIS_PORT": str(ports.free()),
        }

    @property
    def told(self) -> str:
        return (self.home / "up.out").read_text()

    @contextmanager
    def up(self) -> Iterator[subprocess.Popen[bytes]]:
        """One run, past its summary."""
        with (self.home / "up.out").open("wb") as out:
            command = [sys.executable, str(ROOT / "manage.py"), "up", "--no-example"]
            popen = subprocess.Popen(command, env=self.environment, stdout=out, stderr=out)
        try:
            self.wait_for(lambda: "Ctrl-C stops everything" in self.told, START_SECONDS, popen)
            yield popen
        finally:
            popen.kill()
            popen.wait()

    def wait_for(
        self, true: Callable[[], bool], seconds: float, popen: subprocess.Popen[bytes]
    ) -> None:
        deadline = time.monotonic() + seconds
        while not true():
            assert popen.poll() is None, self.told
            assert time.monotonic() < deadline, self.told
            time.sleep(0.1)

    def stop(self, popen: subprocess.Popen[bytes], number: signal.Signals) -> None:
        popen.send_signal(number)
        assert popen.wait(STOP_SECONDS) == 0, self.told

    def running(self) -> dict[str, process.Identity]:
        found = {name: process.find(name, self.home) for name in OURS}
        return {name: child.identity for name, child in found.items() if child}

    def web_answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.web}/login/", timeout=5) as page:
                return bool(page.status == 200)
        except OSError:
            return False


@pytest.fixture
def machine(tmp_path: Path, jar_folder: Path) -> Iterator[Machine]:
    for jar_set in jars.SETS:
        jars.resolve(jar_set, jar_folder)
    (tmp_path / "jars").symlink_to(jar_folder)
    machine = Machine(tmp_path)
    yield machine
    for name in OURS:
        if child := process.find(name, tmp_path):
            child.stop(10)


def test_it_starts_watches_and_stops_in_order(machine: Machine) -> None:
    with machine.up() as up:
        first = machine.running()
        assert set(first) == set(OURS)
        assert f"Open http://127.0.0.1:{machine.web}/" in machine.told
        assert "of-this-test-only" not in machine.told

        psutil.Process(first["web"].pid).kill()
        machine.wait_for(lambda: machine.running().get("web") not in (None, first["web"]), 20, up)
        machine.wait_for(machine.web_answers, 30, up)
        assert "web has ended (signal 9); starting it again now" in machine.told

        machine.stop(up, signal.SIGINT)

    assert machine.running() == {}
    assert "✓ Processes       stopped" in machine.told


def test_after_a_kill_the_next_one_takes_over(machine: Machine) -> None:
    with machine.up() as up:
        up.kill()
        up.wait()
    left = machine.running()
    assert set(left) == set(OURS)

    with machine.up() as up:
        now = machine.running()
        assert {name: now[name] for name in ("kafka", "redis")} == {
            name: left[name] for name in ("kafka", "redis")
        }
        # Their settings and code may be old ones, so they are started afresh.
        assert all(now[name] != left[name] for name in ("web", "jobmanager", "taskmanager"))
        assert not any(left[name].process() for name in ("web", "jobmanager", "taskmanager"))

        refused = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), "up"],
            env=machine.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert refused.returncode == 1
        assert f"Headrace is running already (process {up.pid})" in refused.stderr

        machine.stop(up, signal.SIGTERM)

    assert machine.running() == {}
