"""What the JobManager does next, from what is and what is wanted."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from jobs.restart_strategies import ExponentialDelay, FixedDelay, NoRestart
from jobs.states import JOB_TRANSITIONS, AttemptState, JobState, Wanted
from workers import decisions
from workers.decisions import (
    Abandon,
    Again,
    Ask,
    AttemptView,
    Begin,
    Change,
    JobView,
    Launch,
    Leave,
    Move,
    Wait,
    after_waiting,
    next_step,
)
from workers.restarts import History

ATTEMPTS = [
    None,
    *(
        AttemptView(1, state, command, final, out_of_reach=away, lost=lost)
        for state, command, final, (away, lost) in itertools.product(
            AttemptState,
            ("", "suspend", "cancel"),
            (None, "it would again"),
            ((False, False), (True, False), (True, True)),
        )
    ),
]
JOBS = [
    JobView(state, wanted, attempt, restart_of, due, strategy, movable=due)
    for state, wanted, attempt, restart_of, due, strategy in itertools.product(
        JobState,
        Wanted,
        ATTEMPTS,
        (None, 1),
        (True, False),
        (FixedDelay(0, 1000), FixedDelay(3, 1000)),
    )
]


def test_every_situation_has_a_step_that_the_table_allows() -> None:
    for job in JOBS:
        step = next_step(job)
        if isinstance(step, Change):
            assert step.target in JOB_TRANSITIONS[job.state], job
        if isinstance(step, Again):
            assert JobState.RESTARTING in JOB_TRANSITIONS[job.state], job
        if isinstance(step, Begin):
            assert job.attempt is None and job.state is JobState.CREATED, job
        if isinstance(step, Ask | Launch | Abandon):
            assert job.attempt is not None and not job.attempt.state.is_terminal, job


def test_a_driver_is_never_followed_while_it_may_run() -> None:
    for job in JOBS:
        if job.attempt is None or job.attempt.state.is_terminal:
            continue
        step = next_step(job)
        assert not isinstance(step, Again | Begin), job
        assert not (isinstance(step, Change) and step.closes), job


@pytest.mark.parametrize("wanted", Wanted)
@pytest.mark.parametrize("end", [state for state in AttemptState if state.is_terminal])
def test_steps_alone_lead_to_rest(wanted: Wanted, end: AttemptState) -> None:
    """From anywhere, with drivers that can be reached and end as asked, the job gets where it is
    wanted. (Nobody un-wants a cancel, so CANCELLING comes with no other wish.)"""
    for job in JOBS:
        if job.attempt is not None and job.attempt.out_of_reach:
            continue
        if job.state is JobState.CANCELLING and wanted is not Wanted.CANCELED:
            continue
        settled = _settle(replace(job, wanted=wanted, restart_due=True), end)
        assert settled.state in _RESTS[wanted], (job, settled)


_RESTS = {
    Wanted.RUNNING: {
        JobState.RUNNING,
        JobState.CREATED,
        JobState.FAILED,
        JobState.CANCELED,
        JobState.FINISHED,
    },
    Wanted.SUSPENDED: {
        JobState.SUSPENDED,
        JobState.FAILED,
        JobState.CANCELED,
        JobState.FINISHED,
    },
    Wanted.CANCELED: {JobState.CANCELED, JobState.FAILED, JobState.FINISHED},
}


def _settle(job: JobView, end: AttemptState) -> JobView:
    """Apply steps until there is none; asked drivers end as `end`."""
    for _ in range(12):
        match next_step(job):
            case Change(target, _, closes):
                job = replace(job, state=target)
                if closes:
                    job = replace(job, attempt=None, restart_of=None)
            case Again():
                job = replace(job, state=JobState.RESTARTING, attempt=None, restart_of=None)
            case Begin():
                job = replace(job, attempt=AttemptView(2, AttemptState.CREATED))
            case Launch():
                assert job.attempt is not None
                job = replace(job, attempt=replace(job.attempt, state=AttemptState.RUNNING))
            case Ask(command):
                assert job.attempt is not None
                job = replace(job, attempt=replace(job.attempt, command=command, state=end))
            case Abandon(target):
                assert job.attempt is not None
                job = replace(job, attempt=replace(job.attempt, state=target))
            case Wait():
                if job.attempt and job.attempt.command and not job.attempt.out_of_reach:
                    if job.attempt.state.is_terminal:
                        return job
                    job = replace(job, attempt=replace(job.attempt, state=end))
                    continue
                return job
    return job


def test_a_job_goes_from_submission_to_launch() -> None:
    job = JobView(JobState.INITIALIZING, Wanted.RUNNING)
    assert next_step(job) == Change(JobState.CREATED)
    assert next_step(replace(job, state=JobState.CREATED)) == Begin()
    created = AttemptView(1, AttemptState.CREATED)
    assert next_step(replace(job, state=JobState.CREATED, attempt=created)) == Launch()


def test_a_taskmanager_that_left_is_waited_for() -> None:
    attempt = AttemptView(1, AttemptState.RUNNING, out_of_reach=True)
    job = JobView(JobState.RUNNING, Wanted.RUNNING, attempt, movable=True)

    assert next_step(job) == Change(JobState.RECONCILING)
    assert isinstance(next_step(replace(job, state=JobState.RECONCILING)), Wait)
    back = replace(job, state=JobState.RECONCILING, attempt=replace(attempt, out_of_reach=False))
    assert next_step(back) == Change(JobState.RUNNING)


def test_a_job_whose_files_only_the_lost_machine_has_waits_and_says_so() -> None:
    attempt = AttemptView(1, AttemptState.RUNNING, out_of_reach=True, lost=True)
    step = next_step(JobView(JobState.RECONCILING, Wanted.RUNNING, attempt))

    assert isinstance(step, Wait)
    assert "not on storage that other machines see" in step.reason


def test_a_job_on_shared_storage_leaves_a_lost_taskmanager_at_the_cost_of_a_restart() -> None:
    attempt = AttemptView(1, AttemptState.RUNNING, out_of_reach=True, lost=True)
    job = JobView(JobState.RECONCILING, Wanted.RUNNING, attempt, movable=True)

    assert next_step(job) == Abandon(AttemptState.FAILED)
    given_up = replace(attempt, state=AttemptState.FAILED, ended_at=5000)
    step = next_step(replace(job, attempt=given_up))

    assert isinstance(step, Again) and step.verdict is not None
    assert step.verdict.after.restarts == 1
    assert isinstance(next_step(replace(job, attempt=given_up, strategy=FixedDelay(0))), Change)


def test_a_job_leaves_a_drained_taskmanager_when_it_has_room_elsewhere() -> None:
    attempt = AttemptView(1, AttemptState.RUNNING)
    job = JobView(JobState.RUNNING, Wanted.RUNNING, attempt, to_leave=True)

    assert next_step(job) == Move()
    assert next_step(replace(job, has_room=True)) == Leave()
    assert next_step(replace(job, has_room=True, upgrading=True)) == Wait()
    starting = replace(attempt, state=AttemptState.DEPLOYING)
    assert next_step(replace(job, state=JobState.CREATED, attempt=starting)) == Wait()
    wanted = replace(job, wanted=Wanted.SUSPENDED)
    assert next_step(wanted) == Ask("suspend")


def test_it_leaves_from_its_checkpoint_when_no_savepoint_can_be_made() -> None:
    attempt = AttemptView(1, AttemptState.RUNNING)
    job = JobView(
        JobState.RUNNING, Wanted.RUNNING, attempt, to_leave=True, has_room=True, unsaved=True
    )

    assert next_step(job) == Ask("suspend")
    assert next_step(replace(job, has_room=False)) == Move()
    asked = replace(attempt, command="suspend")
    assert next_step(replace(job, attempt=asked)) == Wait()
    ended = replace(asked, state=AttemptState.SUSPENDED)
    assert next_step(replace(job, attempt=ended)) == Again(0)


def test_waiting_for_slots_for_too_long_is_a_failure() -> None:
    job = JobView(JobState.CREATED, Wanted.RUNNING, strategy=NoRestart())

    assert isinstance(after_waiting(job, 0), Change)
    again = after_waiting(replace(job, strategy=FixedDelay(1, 700)), 0)
    assert isinstance(again, Again)
    assert again.delay_ms == 700


def test_cancelling_gives_an_unreachable_driver_up_in_the_end() -> None:
    attempt = AttemptView(1, AttemptState.RUNNING, "cancel", out_of_reach=True)
    job = JobView(JobState.CANCELLING, Wanted.CANCELED, attempt)

    assert isinstance(next_step(job), Wait)
    late = replace(attempt, lost=True)
    assert next_step(replace(job, attempt=late)) == Abandon(AttemptState.CANCELED)


def test_a_driver_that_was_told_to_end_by_somebody_goes_on_at_no_cost() -> None:
    attempt = AttemptView(1, AttemptState.SUSPENDED)
    job = JobView(
        JobState.RUNNING, Wanted.RUNNING, attempt, strategy=FixedDelay(1), history=History(1)
    )

    assert next_step(job) == Again(decisions.UNASKED_DELAY_MS)


def test_a_failure_that_another_attempt_would_meet_ends_the_job_with_the_reason() -> None:
    attempt = AttemptView(1, AttemptState.FAILED, final="no such file")
    job = JobView(JobState.RUNNING, Wanted.RUNNING, attempt, strategy=ExponentialDelay())

    assert next_step(job) == Change(JobState.FAILING, "no such file", closes=True)


@pytest.mark.parametrize("state", [AttemptState.FAILED, AttemptState.SUSPENDED])
@pytest.mark.parametrize("wanted", [Wanted.RUNNING, Wanted.SUSPENDED])
def test_a_job_that_was_stopped_with_a_savepoint_does_not_run_on(
    state: AttemptState, wanted: Wanted
) -> None:
    """Its driver was killed behind it, with the answer given already."""
    for then, target in (("finished", JobState.FINISHED), ("canceled", JobState.CANCELLING)):
        attempt = AttemptView(1, state, ended_with=then)
        for restart_of in (None, 1):
            step = next_step(JobView(JobState.RUNNING, wanted, attempt, restart_of))
            assert isinstance(step, Change)
            assert (step.target, step.closes) == (target, True)
