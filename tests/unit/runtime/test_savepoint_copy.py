"""A savepoint that is being copied is answered once, and in time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from headrace.runtime import savepoint_copy, savepoints
from headrace.runtime.savepoint_copy import SavepointCopy
from headrace.runtime.savepoint_requests import SavepointRequest
from headrace.runtime.savepointing import Savepointing
from headrace.runtime.savepoints import Held, Origin, SavepointFailed
from headrace.wire import events, savepoint
from headrace.wire.commands import SavepointOptions
from tests.unit.runtime.run_contexts import run_context

ID = "5" * 32


@dataclass
class Said:
    answers: list[events.Event] = field(default_factory=list)
    some: threading.Event = field(default_factory=threading.Event)

    def report(self, event: events.Event) -> None:
        self.answers.append(event)
        self.some.set()


@dataclass
class Copying:
    """In place of a copy: it writes for as long as it is told to."""

    path: Path
    hangs: bool
    begun: threading.Event = field(default_factory=threading.Event)
    goes_on: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)

    def save(
        self, wish: SavepointOptions, given_up: Callable[[], str]
    ) -> tuple[Path, savepoint.Manifest]:
        self.begun.set()
        while not self.goes_on.wait(0.01):
            if not self.hangs and (why := given_up()):
                raise SavepointFailed(why)
        self.path.mkdir()
        manifest = savepoint.Manifest(wish.savepoint_id, "a", "words", "", "", 5, 6, 1, 8)
        savepoint.write_manifest(self.path, manifest)
        return self.path, manifest

    def release(self) -> None:
        self.released.set()


@dataclass
class Case:
    folder: Path
    said: Said = field(default_factory=Said)

    def __post_init__(self) -> None:
        self.context = run_context(self.folder, self.said)

    def copy(self, *, hangs: bool = False, timeout_ms: int = 600_000) -> SavepointCopy:
        self.copying = Copying(self.folder / "it", hangs)
        wish = SavepointOptions(ID, str(self.folder), "it", timeout_ms=timeout_ms)
        return SavepointCopy(cast(Held, self.copying), SavepointRequest(wish), self.context)

    @property
    def failure(self) -> str:
        [answer] = self.said.answers
        assert isinstance(answer, events.SavepointFailed)
        return answer.error


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)


def test_one_that_is_whole(case: Case) -> None:
    copy = case.copy()
    assert not copy.check()
    case.copying.goes_on.set()
    assert copy.wait()
    [answer] = case.said.answers
    assert isinstance(answer, events.SavepointCompleted)
    assert (answer.savepoint_id, answer.checkpoint_id) == (ID, 6)


def test_one_that_takes_too_long(case: Case) -> None:
    assert not case.copy(timeout_ms=0).wait()
    assert case.failure == "it was not complete 0 s after it was begun"
    assert case.copying.released.wait(240)


def test_one_that_hangs_is_not_waited_for(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(savepoint_copy, "GIVE_UP_SECONDS", 0.0)
    assert not case.copy(hangs=True, timeout_ms=0).wait()
    assert "was not complete" in case.failure
    # it gets on after all: nobody has been told of it, so it is not there
    case.copying.goes_on.set()
    assert case.copying.released.wait(240)
    wait_for(lambda: not case.copying.path.exists())
    assert "was not complete" in case.failure


@pytest.mark.parametrize("reason", ["canceled", "suspended"])
def test_a_job_that_is_to_end_does_not_wait_for_it(case: Case, reason: str) -> None:
    copy = case.copy()
    case.context.stop.ask(reason)
    assert not copy.wait()
    assert case.failure == f"the job was {reason} before"


def test_a_job_that_has_failed_does_not_wait_for_it(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    copying = Copying(case.folder / "it", hangs=False)
    monkeypatch.setattr(Held, "hold", lambda *_: copying)
    saves = Savepointing(case.context, Origin("a" * 32, "words", Path("words.py"), case.folder, {}))
    wish = SavepointOptions(ID, str(case.folder), "it")
    case.context.savepoints.ask(SavepointRequest(wish), case.said.report)
    saves.serve(lambda: 5)
    assert copying.begun.wait(240)
    saves.check()
    saves.give_up("the job failed before")
    saves.close()
    assert case.failure == "the job failed before"


def test_the_job_does_not_wait_until_a_claimed_savepoint_is_removed(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed = threading.Event()

    def dispose(*_: object) -> bool:
        return removed.wait(240)

    monkeypatch.setattr(savepoints, "claimed", lambda _: (case.folder / "it", ID))
    monkeypatch.setattr(savepoints, "unclaim", lambda _: None)
    monkeypatch.setattr(savepoint, "dispose", dispose)
    saves = Savepointing(case.context, Origin("a" * 32, "words", Path("words.py"), case.folder, {}))
    saves.batch_completed()
    assert case.said.answers == []
    removed.set()
    saves.close()
    assert case.said.answers == [events.SavepointDisposed(ID, str(case.folder / "it"))]


def wait_for(what: Callable[[], bool]) -> None:
    for _ in range(6000):
        if what():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it did not come")
