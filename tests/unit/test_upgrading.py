"""What an upgrade does next, from what is."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from headrace.wire.failures import Cause
from jobs.states import (
    UPGRADE_TRANSITIONS,
    AttemptState,
    JobState,
    SavepointState,
    UpgradeState,
    Wanted,
)
from workers import upgrading
from workers.decisions import Ask, AttemptView, JobView
from workers.upgrading import Turn, UpgradeView, next_step

RUNNING = AttemptView(3, AttemptState.RUNNING)
FINISHED = AttemptView(3, AttemptState.FINISHED)
FAILED = AttemptView(3, AttemptState.FAILED, cause=Cause.RUNNING, error="boom")
STOPPING = UpgradeView(UpgradeState.STOPPING, SavepointState.IN_PROGRESS)
SAVED = UpgradeView(UpgradeState.STOPPING, SavepointState.COMPLETED)
STARTING = UpgradeView(UpgradeState.STARTING, SavepointState.COMPLETED)
REVERTING = UpgradeView(UpgradeState.REVERTING, SavepointState.COMPLETED)


def job(attempt: AttemptView | None, state: JobState = JobState.RUNNING) -> JobView:
    return JobView(state, Wanted.RUNNING, attempt)


def test_every_turn_is_one_that_the_table_allows() -> None:
    attempts = [
        None,
        *(
            AttemptView(1, state, command, cause=cause, abandoned=abandoned, out_of_reach=away)
            for state, command, cause, abandoned, away in itertools.product(
                AttemptState, ("", "suspend"), ("", "superseded"), (True, False), (False, True)
            )
        ),
    ]
    upgrades = [
        UpgradeView(state, savepoint, "full", progressed, overdue)
        for state, savepoint, progressed, overdue in itertools.product(
            UpgradeState, SavepointState, (True, False), (True, False)
        )
    ]
    seen = set()
    for upgrade, attempt, state, wanted in itertools.product(upgrades, attempts, JobState, Wanted):
        step = next_step(upgrade, JobView(state, wanted, attempt))
        if isinstance(step, Turn):
            assert step.target in UPGRADE_TRANSITIONS[upgrade.state], (upgrade, attempt)
            seen.add((upgrade.state, step.target))
        if isinstance(step, Ask):
            assert attempt is not None and not attempt.state.is_terminal
    closed_by_the_job = {
        (UpgradeState.STARTING, UpgradeState.FAILED),
        (UpgradeState.REVERTING, UpgradeState.FAILED),
    }
    table = {(state, after) for state, targets in UPGRADE_TRANSITIONS.items() for after in targets}
    assert seen == table - closed_by_the_job


def test_no_version_starts_while_a_driver_of_the_other_may_run() -> None:
    for state in (AttemptState.CREATED, AttemptState.DEPLOYING, AttemptState.RUNNING):
        live = job(replace(RUNNING, state=state))
        assert next_step(SAVED, live) is None
        step = next_step(replace(STARTING, overdue=True), live)
        assert not isinstance(step, Turn)


def test_the_new_version_starts_when_the_savepoint_is_whole_and_its_driver_gone() -> None:
    assert next_step(STOPPING, job(RUNNING)) is None
    assert next_step(SAVED, job(RUNNING)) is None
    assert next_step(SAVED, job(FINISHED)) == Turn(UpgradeState.STARTING)
    # it ended badly, with nothing left to commit
    assert next_step(SAVED, job(FAILED)) == Turn(UpgradeState.STARTING)


def test_without_a_savepoint_the_job_stays_what_it_is() -> None:
    failed = replace(STOPPING, savepoint=SavepointState.FAILED, savepoint_failure="disk full")
    step = next_step(failed, job(RUNNING))
    assert isinstance(step, Turn)
    assert step.target is UpgradeState.FAILED
    assert step.reason == "no savepoint was made, so nothing was changed: disk full"


@pytest.mark.parametrize(("upgrade", "runs"), [(STARTING, "DONE"), (REVERTING, "REVERTED")])
def test_a_version_runs_when_it_has_got_somewhere(upgrade: UpgradeView, runs: str) -> None:
    assert next_step(upgrade, job(None, JobState.RESTARTING)) is None
    assert next_step(upgrade, job(RUNNING)) is None
    target = Turn(UpgradeState(runs))
    assert next_step(replace(upgrade, progressed=True), job(RUNNING)) == target
    assert next_step(upgrade, job(FINISHED)) == target
    # it failed behind its first checkpoint: that is no failed start
    assert next_step(replace(upgrade, progressed=True), job(FAILED)) == target


def test_a_driver_that_fails_before_its_first_checkpoint_leads_back() -> None:
    assert next_step(STARTING, job(FAILED)) == Turn(UpgradeState.REVERTING, "boom")
    mapped = replace(FAILED, cause=Cause.CHECKPOINT, final="does not fit", error="lost uid")
    assert next_step(STARTING, job(mapped)) == Turn(UpgradeState.REVERTING, "lost uid")


def test_a_lost_machine_says_nothing_of_the_version() -> None:
    assert next_step(STARTING, job(replace(FAILED, abandoned=True))) is None
    assert next_step(STARTING, job(replace(FINISHED, state=AttemptState.SUSPENDED))) is None


def test_what_does_not_run_in_time_is_stopped_first_and_leads_back() -> None:
    late = replace(STARTING, overdue=True)
    assert next_step(late, job(RUNNING)) == Ask("suspend")
    assert next_step(late, job(replace(RUNNING, command="suspend"))) is None
    assert next_step(late, job(replace(RUNNING, out_of_reach=True))) is None
    for attempt in (None, replace(RUNNING, state=AttemptState.SUSPENDED)):
        step = next_step(late, job(attempt, JobState.CREATED))
        assert isinstance(step, Turn)
        assert step.target is UpgradeState.REVERTING
    # no time passes for a job that is suspended
    suspended = JobView(JobState.RUNNING, Wanted.SUSPENDED, RUNNING)
    assert next_step(late, suspended) is None


def test_no_slots_for_the_new_version_leads_back() -> None:
    turn = upgrading.out_of_slots(STARTING, "needs 8 slots, 2 are free")
    assert turn is not None
    assert turn.target is UpgradeState.REVERTING
    assert "needs 8 slots" in turn.reason
    assert upgrading.out_of_slots(REVERTING, "needs 2 slots") is None


def test_there_is_no_way_back_behind_output_of_the_new_version() -> None:
    superseded = replace(FAILED, cause=Cause.SUPERSEDED)
    step = next_step(REVERTING, job(superseded))
    assert isinstance(step, Turn)
    assert step.target is UpgradeState.DONE
    # the version before fails for another reason: its restart strategy decides
    assert next_step(REVERTING, job(FAILED)) is None


@pytest.mark.parametrize("upgrade", [STOPPING, SAVED, STARTING, REVERTING])
def test_a_cancelled_job_takes_no_step_of_an_upgrade(upgrade: UpgradeView) -> None:
    late = replace(upgrade, overdue=True, progressed=True)
    for attempt in (None, RUNNING, FINISHED, FAILED):
        assert next_step(late, JobView(JobState.RUNNING, Wanted.CANCELED, attempt)) is None
        assert next_step(late, job(attempt, JobState.CANCELLING)) is None
