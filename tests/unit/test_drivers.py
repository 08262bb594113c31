"""Driver processes: one per attempt, found again, nothing secret in their environment."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from headrace.wire import rundir
from workers import drivers, launcher

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[drivers.Driver]:
    driver = drivers.Driver(tmp_path / "run")
    yield driver
    driver.kill()


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def _until_known(driver: drivers.Driver) -> None:
    deadline = time.monotonic() + 120
    while driver.identity is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert driver.identity is not None


def test_second_launch_starts_no_second_driver(driver: drivers.Driver) -> None:
    driver.launch([*SLEEP, str(driver.run_dir)])
    _until_known(driver)
    again = drivers.Driver(driver.run_dir)
    again.launch([*SLEEP, str(driver.run_dir)])
    time.sleep(1)

    assert again.exit_code is None
    assert again.identity == driver.identity
    assert len([p for p in psutil.process_iter() if str(driver.run_dir) in _words(p)]) == 1
    assert driver.is_alive()
    assert list(driver.run_dir.glob(".process*")) == []


def test_killed_driver_is_dead_to_all_who_look(driver: drivers.Driver) -> None:
    driver.launch(SLEEP)
    _until_known(driver)
    other = drivers.Driver(driver.run_dir)
    assert other.is_alive()

    other.kill()
    deadline = time.monotonic() + 120
    while driver.is_alive() and time.monotonic() < deadline:
        time.sleep(0.02)

    assert not driver.is_alive()
    assert not other.is_alive()
    assert not driver.remains()
    assert driver.exit_code == -9


def test_process_with_a_pid_used_again_is_not_touched(tmp_path: Path) -> None:
    somebody = drivers.Driver(tmp_path / "somebody")
    somebody.launch(SLEEP)
    _until_known(somebody)
    assert somebody.identity is not None
    stale = drivers.Driver(tmp_path / "stale")
    rundir.write_atomically(
        stale.run_dir / rundir.PROCESS,
        f'{{"pid": {somebody.identity.pid}, "started_at": 1.0}}'.encode(),
    )

    assert not stale.is_alive()
    stale.kill()
    assert somebody.is_alive()
    somebody.kill()


def test_session_of_another_boot_is_not_touched(driver: drivers.Driver, tmp_path: Path) -> None:
    """The driver is gone with the machine; a session now has its number, and lost its leader."""
    driver.launch(["sh", "-c", "sleep 60 & exit 0"])
    _until_known(driver)
    while driver.is_alive():
        time.sleep(0.02)
    record = json.loads((driver.run_dir / rundir.PROCESS).read_text())
    assert record["boot"] == launcher.boot()
    stale = drivers.Driver(tmp_path / "stale")
    earlier = json.dumps({**record, "boot": "another/1"}).encode()
    rundir.write_atomically(stale.run_dir / rundir.PROCESS, earlier)

    assert stale.identity is not None
    assert not stale.is_alive()
    assert not stale.remains()
    stale.kill()
    assert driver.remains()


def test_environment_has_no_secrets() -> None:
    own = {
        **dict.fromkeys(drivers.SECRETS, "secret"),
        "CELERY_BROKER_URL": "secret",
        "AWS_PROFILE": "mine",
        "PYTHONPATH": "/somewhere",
    }

    environment = drivers.environment(own, Path("/run/1"))

    assert "secret" not in environment.values()
    assert environment["AWS_PROFILE"] == "mine"
    assert environment["HEADRACE_RUN_DIR"] == "/run/1"
    assert environment["PYTHONPATH"].endswith(":/somewhere")


def test_a_heartbeat_may_say_why_it_stopped(driver: drivers.Driver) -> None:
    assert driver.complaint() == ""
    driver.run_dir.mkdir()
    (driver.run_dir / rundir.HEARTBEAT).touch()
    assert driver.complaint() == ""

    (driver.run_dir / rundir.HEARTBEAT).write_text("its JVM has not answered for 31 s")
    assert driver.complaint() == " (its JVM has not answered for 31 s)"
