"""Children are found again by pid and start time, and by nothing less."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from workers.embedded import process

SLEEPER = ["sleep", "60"]
STUBBORN = ["sh", "-c", "trap '' TERM; sleep 60 & wait; sleep 60"]


def test_a_running_child_is_found_by_name(tmp_path: Path) -> None:
    child = process.start("sleeper", SLEEPER, tmp_path)

    found = process.find("sleeper", tmp_path)
    assert found is not None and found.identity == child.identity and found.alive()

    assert found.stop(5)
    assert child.wait(120)
    assert process.find("sleeper", tmp_path) is None


def test_another_process_of_the_same_pid_is_not_it(tmp_path: Path) -> None:
    child = process.start("sleeper", SLEEPER, tmp_path)
    earlier = replace(child.identity, started_at=child.identity.started_at - 60)

    assert child.identity.process() is not None
    assert earlier.process() is None

    child.stop(5)


def test_a_zombie_has_ended(tmp_path: Path) -> None:
    child = process.start("brief", ["true"], tmp_path)
    while psutil.Process(child.pid).status() != psutil.STATUS_ZOMBIE:
        pass

    assert child.identity.process() is None
    assert not child.alive()


def test_a_child_that_ignores_the_signal_is_killed_with_its_session(tmp_path: Path) -> None:
    child = process.start("stubborn", STUBBORN, tmp_path)
    process.wait_until(lambda: bool(psutil.Process(child.pid).children()), child, 5, pause=0.01)
    grandchildren = psutil.Process(child.pid).children()

    assert child.stop(timeout=0.3) is False
    assert not child.alive()
    _, alive = psutil.wait_procs(grandchildren, timeout=120)
    assert alive == []


@pytest.mark.parametrize("content", ["", "{", '{"pid": 1}', "[]"])
def test_a_damaged_record_is_no_child(tmp_path: Path, content: str) -> None:
    (tmp_path / "processes").mkdir()
    (tmp_path / "processes" / "sleeper.json").write_text(content)

    assert process.find("sleeper", tmp_path) is None


def test_output_goes_to_the_log(tmp_path: Path) -> None:
    child = process.start("talker", ["sh", "-c", "echo out; echo err >&2"], tmp_path)
    child.wait(120)

    assert process.log_tail("talker", tmp_path) == "out\nerr"
