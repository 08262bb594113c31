"""The tables of states are complete and say what Flink's say."""

from __future__ import annotations

import pytest

from jobs import states
from jobs.states import AttemptState, Ends, JobState, TaskManagerState, UpgradeState

TABLES = [
    (JobState, states.JOB_TRANSITIONS),
    (AttemptState, states.ATTEMPT_TRANSITIONS),
    (TaskManagerState, states.TASKMANAGER_TRANSITIONS),
    (UpgradeState, states.UPGRADE_TRANSITIONS),
]


def test_job_states_are_flinks() -> None:
    assert {state.value for state in JobState} == {
        *("INITIALIZING", "CREATED", "RUNNING", "FAILING", "FAILED", "CANCELLING", "CANCELED"),
        *("FINISHED", "RESTARTING", "SUSPENDED", "RECONCILING"),
    }
    assert {s for s in JobState if s.ends is Ends.FOR_GOOD} == {"FAILED", "CANCELED", "FINISHED"}
    assert {s for s in JobState if s.ends is Ends.FOR_NOW} == {"SUSPENDED"}


@pytest.mark.parametrize(("enum", "table"), TABLES)
def test_every_state_has_a_row_and_a_look(enum: type[states.State], table: dict) -> None:  # type: ignore[type-arg]
    assert set(table) == set(enum)
    for state in enum:
        assert state.label and state.colour
        assert table[state] <= set(enum)
        assert state not in table[state]


def test_every_job_state_can_be_reached_and_left() -> None:
    reachable = {JobState.INITIALIZING}.union(*states.JOB_TRANSITIONS.values())
    assert reachable == set(JobState)
    dead_ends = {state for state, after in states.JOB_TRANSITIONS.items() if not after}
    assert dead_ends == {JobState.FINISHED}


def test_every_live_job_can_be_cancelled() -> None:
    for state in JobState:
        if state.is_terminal and state is not JobState.SUSPENDED:
            continue
        if state not in (JobState.CANCELLING, JobState.FAILING):
            assert JobState.CANCELLING in states.JOB_TRANSITIONS[state]
