"""Savepoints that are asked for are answered once, and a job ends with one that is there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from headrace.runtime.batch_reporting import BatchReporting
from headrace.runtime.job_run import JobRun
from headrace.runtime.program import Program
from headrace.runtime.savepoint_requests import SavepointRequest, SavepointRequests
from headrace.runtime.savepointing import Savepointing
from headrace.wire import events
from headrace.wire.commands import SavepointOptions
from tests.unit.runtime.run_contexts import run_context

ID = "5" * 32


@dataclass
class Said:
    answers: list[events.Event] = field(default_factory=list)

    def report(self, event: events.Event) -> None:
        self.answers.append(event)


def overdue(then: str = "finished") -> SavepointRequest:
    wish = SavepointOptions(ID, "/x", "it", then=cast(Any, then), timeout_ms=0)
    request = SavepointRequest(wish)
    while not request.overdue:  # until the clock has moved
        pass
    return request


def test_one_that_the_job_is_being_stopped_for_is_overdue_no_more() -> None:
    said, requests = Said(), SavepointRequests()
    requests.ask(request := overdue(), said.report)
    assert requests.begin_ending()
    requests.give_up_overdue(said.report)
    assert said.answers == []
    assert requests.take(ending=True) == request
    assert not requests.begin_ending()


@pytest.mark.parametrize("then", ["", "finished"])
def test_one_that_nobody_has_begun_is_given_up(then: str) -> None:
    said, requests = Said(), SavepointRequests()
    requests.ask(overdue(then), said.report)
    requests.give_up_overdue(said.report)
    [answer] = said.answers
    assert isinstance(answer, events.SavepointFailed)
    assert not requests.wanted


class Run(JobRun):
    """Its queries do what is in a list, and end."""

    bounded, count = False, 0

    def __init__(self, folder: Path, *queries: Callable[[Run], object]) -> None:
        self.said, self.queries = Said(), list(queries)
        self.context = run_context(folder, self.said)
        for name in ("offsets", "commits"):
            (folder / "spark" / name).mkdir(parents=True)
            (folder / "spark" / name / "0").write_text("v1\n{}\n{}")
        nothing: dict[Any, Any] = {}
        program = Program("words", nothing, nothing, nothing, nothing, 1, 8, 1)
        super().__init__(program, self.context, None)
        self._ends = self._kafka = cast(Any, self)
        self.replaced = self.context.stop.asked  # no topic is
        self.context.savepoints.ask(overdue(), self.said.report)

    def run(self) -> None:
        self._read(cast(Any, None), cast(Any, self), bool)

    def all_closed(self) -> bool:
        return False

    def due(self) -> bool:
        """What the watch asks each time that it goes round."""
        reporting = cast(BatchReporting, self)
        return self._savepoints.due(reporting, None)

    reported = None

    def _start(self, *_: Any, **__: Any) -> Any:
        return None, None

    def _report_running(self, *_: Any) -> None:
        pass

    def _watch(self, *_: Any) -> None:
        self.queries.pop(0)(self)


def stopped_slowly(run: Run) -> None:
    assert run.due()
    run.context.savepoints.give_up_overdue(run.said.report)


def stopped_in_vain(run: Run) -> None:
    assert run.due()
    run.context.savepoints.close("a plain query", run.said.report)


def test_a_job_that_is_slow_to_stop_ends_with_its_savepoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[int] = []

    def save(_: Savepointing, request: SavepointRequest, batch: int) -> bool:
        saved.append(batch)
        return True

    monkeypatch.setattr(Savepointing, "save_last", save)
    run = Run(tmp_path, stopped_slowly)
    run.run()
    assert (saved, run.context.stop.reason, run.said.answers) == ([0], "finished", [])


def test_a_job_that_was_stopped_in_vain_runs_on(tmp_path: Path) -> None:
    run = Run(tmp_path, stopped_in_vain, bool)
    run.run()
    assert run.queries == []
    assert run.context.stop.reason == ""
    assert run.said.answers == [events.SavepointFailed(ID, "a plain query")]
