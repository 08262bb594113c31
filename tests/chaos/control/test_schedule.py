"""What a run over the platform does and checks, apart from its processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.chaos.control import audit, report
from tests.chaos.control.faults import UNNOTICED, Fault, Kind, Schedule
from tests.chaos.control.run import Hit, Outcome
from tests.chaos.faults import Part


@pytest.mark.parametrize("count", [1, 12, 50])
def test_the_schedule_follows_from_the_seed_alone(count: int) -> None:
    first = Schedule.of(7, count, 4)
    assert first == Schedule.of(7, count, 4)
    assert first.faults != Schedule.of(8, count, 4).faults
    assert len(first.faults) == count
    assert {fault.job for fault in first.faults} <= set(range(4))


def test_a_long_run_has_each_kind_and_a_short_one_each_process() -> None:
    for seed in range(20):
        assert {fault.kind for fault in Schedule.of(seed, 50, 4).faults} == set(Kind)
        short = {fault.kind for fault in Schedule.short(seed, 2).faults}
        assert len(short) == 8
        assert short >= UNNOTICED


def fault(kind: Kind, job: int = 0) -> Fault:
    return Fault(kind, job, Part.ALL, 0, 0)


def attempt(number: int, cause: str = "", ended: str | None = "now") -> dict[str, Any]:
    return {
        "number": number,
        "state": "FAILED",
        "cause": cause,
        "ended_at": ended,
        "error": "an error",
    }


@pytest.mark.parametrize(
    ("done", "job", "cause", "wrong"),
    [
        (fault(Kind.DRIVER_KILLED), 0, "died", False),
        (fault(Kind.DRIVER_PAUSED), 0, "hung", False),
        (fault(Kind.TASKMANAGER_AWAY), 1, "lost", False),
        (fault(Kind.DRIVER_UNSEEN), 1, "lost", False),
        (fault(Kind.DRIVER_KILLED), 1, "died", True),
        (fault(Kind.TASKMANAGER_AWAY), 0, "died", True),
        (fault(Kind.TASKMANAGER_KILLED), 0, "died", True),
        (fault(Kind.LEADER_KILLED), 0, "fenced", True),
        (fault(Kind.REDIS_KILLED), 0, "not-launched", True),
        (None, 0, "in-doubt", True),
    ],
)
def test_an_attempt_may_end_for_its_own_fault_alone(
    done: Fault | None, job: int, cause: str, wrong: bool
) -> None:
    ends = audit.Ends()
    assert ends.take(job, [attempt(2, ended=None), attempt(1, cause)], done) == 1
    assert bool(ends.problems) == wrong
    assert not ends.unasked
    assert ends.take(job, [attempt(1, cause)], done) == 0
    assert ends.causes == {cause: 1}


def test_what_slowness_ends_is_told_and_no_problem() -> None:
    ends = audit.Ends()
    ends.take(0, [attempt(1, "hung")], fault(Kind.WEB_KILLED))
    assert not ends.problems
    assert "attempt 1 ended during web killed: hung" in ends.unasked[0]


def test_two_drivers_of_a_job_are_found() -> None:
    assert audit.doubled({"a": {1: [], 2: []}, "b": {1: []}}) == [
        "job a has processes of several attempts: [1, 2]"
    ]


def test_a_slot_that_leaked_is_found() -> None:
    slots = [{"job": "a"}, {"job": "a"}, {"job": "gone"}, {"job": None}]
    assert audit.slot_problems({"tm": {"slot_set": slots}}, {"a": 1, "b": 1}) == [
        "job a holds 2 slots instead of 1",
        "job gone holds 1 slots instead of 0",
    ]


def test_the_report_tells_what_is_wrong_and_goes_into_its_section(tmp_path: Path) -> None:
    schedule = Schedule(7, 2, (fault(Kind.WEB_KILLED), fault(Kind.DRIVER_KILLED)))
    outcome = Outcome(hits=[Hit(schedule.faults[0], 12.0, 0)], takeovers=[5.2])
    good = report.text(schedule, outcome)
    assert "1 planned faults did not hit" in good
    assert "verdict: all jobs ran" in good
    assert not report.passed(schedule, outcome)
    outcome.problems.append("numbers 0: 3 records lost")
    outcome.harness.append("HarnessFault: no broker")
    bad = report.text(schedule, outcome)
    assert "WRONG: 1\n  numbers 0: 3 records lost" in bad
    assert "THE RUN ITSELF COULD NOT GO ON: 1" in bad
    assert "verdict" not in bad

    page = tmp_path / "page.md"
    page.write_text(f"```text\nanother\n```\n{report.HEADING}words\n```text\nold\n```\nmore\n")
    report.write(page, good)
    assert page.read_text() == (
        f"```text\nanother\n```\n{report.HEADING}words\n```text\n{good}```\nmore\n"
    )
