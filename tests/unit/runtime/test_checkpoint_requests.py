"""Checkpoints that are asked for are answered once: with the one that was made, or why not."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from headrace.runtime.checkpoint_requests import CheckpointRequests
from headrace.runtime.python_sources import ControlFile
from headrace.runtime.run_checkpoints import RunCheckpoints
from headrace.runtime.spark_offsets import SparkOffsets
from headrace.wire import events
from headrace.wire.events import CommandDone
from tests.unit.runtime.run_contexts import run_context


@dataclass
class Said:
    events: list[events.Event] = field(default_factory=list)

    def report(self, event: events.Event) -> None:
        self.events.append(event)


def test_one_is_answered_by_the_first_checkpoint_behind_its_tick() -> None:
    said, requests, ticks = Said(), CheckpointRequests(), count(5)
    requests.ask("checkpoint-a", 60_000, said.report)
    requests.ask("checkpoint-a", 60_000, said.report)  # sent twice
    requests.reached(9, 7, said.report)  # not taken up yet
    requests.take_up(lambda: next(ticks), 7)
    requests.take_up(lambda: next(ticks), 7)
    requests.ask("checkpoint-b", 60_000, said.report)
    requests.reached(4, 8, said.report)
    assert said.events == []

    requests.reached(5, 8, said.report)
    assert said.events == [CommandDone("checkpoint-a", result={"checkpoint_id": 9})]
    assert requests.wanted
    requests.take_up(lambda: next(ticks), 7)
    requests.reached(6, 8, said.report)
    assert said.events[1:] == [CommandDone("checkpoint-b", result={"checkpoint_id": 9})]
    assert not requests.wanted


def test_those_that_are_not_made_are_told_so() -> None:
    said, requests = Said(), CheckpointRequests()
    requests.ask("checkpoint-late", 0, said.report)
    requests.ask("checkpoint-left", 60_000, said.report)
    while not said.events:  # until the clock has moved
        requests.give_up_overdue(said.report)
    requests.close("the job ended before", said.report)
    requests.ask("checkpoint-after", 60_000, said.report)
    assert said.events == [
        CommandDone("checkpoint-late", "no checkpoint was completed within 0 s"),
        CommandDone("checkpoint-left", "the job ended before"),
        CommandDone("checkpoint-after", "the job ended before"),
    ]


@dataclass
class Run:
    folder: Path
    said: Said = field(default_factory=Said)

    def __post_init__(self) -> None:
        self.context = run_context(self.folder, self.said)
        self.spark = self.folder / "spark"
        control = ControlFile(self.folder / "control.json")
        self.checkpoints = RunCheckpoints(self.context, SparkOffsets(self.spark), control)

    def ask(self) -> None:
        self.context.checkpoints.ask("checkpoint-a", 60_000, self.said.report)

    def batch(self, number: int, tick: int, *, completed: bool = True) -> None:
        """As Spark writes it, with the control file as the only source."""
        lines = ["v1", json.dumps({"batchTimestampMs": 0}), json.dumps({"position": tick})]
        contents = {"offsets": "\n".join(lines), "commits": "v1"}
        for folder in ("offsets", "commits") if completed else ("offsets",):
            (self.spark / folder).mkdir(parents=True, exist_ok=True)
            (self.spark / folder / str(number)).write_text(contents[folder])


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def test_a_batch_that_was_planned_before_does_not_count(run: Run) -> None:
    run.batch(0, 0)
    run.batch(1, 0, completed=False)
    run.ask()
    run.checkpoints.check(0)
    run.batch(1, 0)
    run.checkpoints.check(0)
    assert run.said.events == []
    run.batch(2, 1)
    run.checkpoints.check(0)
    assert run.said.events == [CommandDone("checkpoint-a", result={"checkpoint_id": 3})]


def test_a_query_that_sees_no_ticks_answers_by_its_batches(run: Run) -> None:
    run.batch(0, 0)
    run.ask()
    run.checkpoints.check(0)
    run.batch(1, 0)
    run.checkpoints.check(0)
    assert run.said.events == []  # it may have been about to be planned
    run.batch(2, 0)
    run.checkpoints.check(0)
    assert run.said.events == [CommandDone("checkpoint-a", result={"checkpoint_id": 3})]


def test_the_first_batch_is_waited_for(run: Run) -> None:
    run.ask()
    run.checkpoints.check(0)
    run.batch(0, 1)
    run.checkpoints.check(0)
    assert run.said.events == [CommandDone("checkpoint-a", result={"checkpoint_id": 1})]
