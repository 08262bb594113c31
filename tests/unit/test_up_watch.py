"""A process that dies is started again: at once, then after growing waits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from workers.embedded import process
from workers.embedded.process import Child
from workers.up.watch import Service, Watch


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Stage:
    """A watch with a clock to turn, and what it told."""

    home: Path
    clock: Clock = field(default_factory=Clock)
    told: list[str] = field(default_factory=list)
    children: list[Child] = field(default_factory=list)
    watch: Watch = field(init=False)

    def __post_init__(self) -> None:
        self.watch = Watch(self.told.append, self.clock)

    def service(self, code: str, *, may_finish: bool = False) -> Service:
        return Service("actor", self.starter(code), stop_timeout=5, may_finish=may_finish)

    def starter(self, code: str) -> Callable[[], Child]:
        def start() -> Child:
            child = process.start("actor", [sys.executable, "-c", code], self.home)
            self.children.append(child)
            return child

        return start

    def die(self) -> None:
        self.children[-1].stop(5)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    for child in stage.children:
        child.stop(5)


FOREVER = "import time; time.sleep(600)"


def test_first_death_is_followed_by_a_start_at_once(stage: Stage) -> None:
    stage.watch.start(stage.service(FOREVER))
    stage.die()
    stage.watch.tick()

    assert len(stage.children) == 2 and stage.children[1].alive()
    assert stage.told == ["actor has ended (signal 15); starting it again now"]


def test_waits_grow_and_a_long_life_forgets_them(stage: Stage) -> None:
    stage.watch.start(stage.service(FOREVER))
    for _ in range(2):
        stage.die()
        stage.watch.tick()
    assert len(stage.children) == 2
    stage.clock.now += 1
    stage.watch.tick()
    assert len(stage.children) == 3

    stage.clock.now += 61
    stage.die()
    stage.watch.tick()
    assert len(stage.children) == 4
    assert [line.rpartition("again ")[2] for line in stage.told] == ["now", "in 1 s", "now"]


def test_a_start_that_fails_is_tried_again(stage: Stage) -> None:
    attempts = []

    def start() -> Child:
        attempts.append(stage.clock.now)
        if len(attempts) == 2:
            raise OSError("no memory")
        return stage.starter(FOREVER)()

    stage.watch.start(Service("actor", start))
    stage.die()
    stage.watch.tick()
    stage.clock.now += 1
    stage.watch.tick()

    assert len(attempts) == 3
    assert stage.told[1] == "actor did not start: no memory; starting it again in 1 s"


def test_work_that_is_done_is_not_begun_again(stage: Stage) -> None:
    stage.watch.start(stage.service("", may_finish=True)).wait(120)
    stage.watch.tick()
    stage.watch.tick()

    assert len(stage.children) == 1
    assert stage.told == ["actor has done its work"]


def test_a_failure_is_not_done_work(stage: Stage) -> None:
    stage.watch.start(stage.service("raise SystemExit(3)", may_finish=True)).wait(120)
    stage.watch.tick()

    assert len(stage.children) == 2
    assert stage.told == ["actor has ended (exit code 3); starting it again now"]


def test_what_is_stopped_is_watched_no_more(stage: Stage) -> None:
    child = stage.watch.start(stage.service(FOREVER))
    stage.watch.stop("actor")
    stage.watch.tick()

    assert not child.alive()
    assert stage.watch.names() == []
    assert stage.told == []
