"""What the JobManager does next, from what is and what is wanted."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

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
    Wait,
    next_step,
)
from workers.restarts import FixedDelay

ATTEMPTS = [
    None,
    *(
        AttemptView(1, state, command, restartable, out_of_reach)
        for state, command, restartable, out_of_reach in itertools.product(
            AttemptState, ("", "suspend", "cancel"), (True, False), (None, 1.0, 1000.0)
        )
    ),
]
JOBS = [
    JobView(state, wanted, attempt, restart_of, due, 0, strategy)
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
        if job.attempt is not None and job.attempt.out_of_reach is not None:
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
            case Abandon():
                assert job.attempt is not None
                job = replace(job, attempt=replace(job.attempt, state=AttemptState.CANCELED))
            case Wait():
                if job.attempt and job.attempt.command and job.attempt.out_of_reach is None:
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


def test_a_lost_taskmanager_means_waiting_not_doubling() -> None:
    attempt = AttemptView(1, AttemptState.RUNNING, out_of_reach=3600.0)
    job = JobView(JobState.RUNNING, Wanted.RUNNING, attempt)

    assert next_step(job) == Change(JobState.RECONCILING)
    assert isinstance(next_step(replace(job, state=JobState.RECONCILING)), Wait)
    back = replace(job, state=JobState.RECONCILING, attempt=replace(attempt, out_of_reach=None))
    assert next_step(back) == Change(JobState.RUNNING)


def test_cancelling_gives_an_unreachable_driver_up_in_the_end() -> None:
    attempt = AttemptView(1, AttemptState.RUNNING, "cancel", out_of_reach=1.0)
    job = JobView(JobState.CANCELLING, Wanted.CANCELED, attempt)

    assert isinstance(next_step(job), Wait)
    late = replace(attempt, out_of_reach=decisions.ABANDON_AFTER + 1)
    assert next_step(replace(job, attempt=late)) == Abandon()


def test_a_driver_that_was_told_to_end_by_somebody_goes_on_at_no_cost() -> None:
    attempt = AttemptView(1, AttemptState.SUSPENDED)
    job = JobView(
        JobState.RUNNING, Wanted.RUNNING, attempt, restarts_in_a_row=1, strategy=FixedDelay(1, 700)
    )

    assert next_step(job) == Again(700, counts=False)
