"""The JobManager's next step for a job, from what is and what is wanted. No I/O.

One step at a time, each decided from the tables alone: whoever leads, and however often it was
killed in between, decides the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from jobs.states import AttemptState, JobState, Wanted
from workers import restarts


@dataclass(frozen=True, slots=True)
class AttemptView:
    """The attempt under way, or whose end is still to be acted on."""

    number: int
    state: AttemptState
    #: "cancel", "suspend" or "" when it was not asked to end.
    command: str = ""
    restartable: bool = True
    #: Its TaskManager is not heard from, and since how many seconds.
    out_of_reach: float | None = None


@dataclass(frozen=True, slots=True)
class JobView:
    state: JobState
    wanted: Wanted
    attempt: AttemptView | None = None
    restart_of: int | None = None
    restart_due: bool = False
    restarts_in_a_row: int = 0
    strategy: restarts.FixedDelay = field(default_factory=lambda: restarts.FixedDelay(1, 1000))


@dataclass(frozen=True, slots=True)
class Change:
    """Change the job's state. `closes` = the attempt's end is acted on by this."""

    target: JobState
    reason: str = ""
    closes: bool = False


@dataclass(frozen=True, slots=True)
class Again:
    """Close the attempt and start another after the delay. `counts` against the strategy."""

    delay_ms: int
    counts: bool = True


@dataclass(frozen=True, slots=True)
class Begin:
    """Give it slots and create the next attempt; or say what it waits for."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Have its TaskManager ask the driver to end."""

    command: str


@dataclass(frozen=True, slots=True)
class Launch:
    """Have its TaskManager launch the driver (sent again until it does; launches once)."""


@dataclass(frozen=True, slots=True)
class Abandon:
    """Count the driver as gone though nobody can see it."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Only time or somebody else can help; `reason` is shown."""

    reason: str = ""


Step = Change | Again | Begin | Ask | Launch | Abandon | Wait

#: A job to be cancelled whose TaskManager stays away this long is canceled without it (seconds).
#: A driver that still ran there is killed by its TaskManager when that comes back.
ABANDON_AFTER = 60.0

_OUT_OF_REACH = (
    "its TaskManager is not heard from; its driver may still run. "
    "The job goes on when the TaskManager is back."
)


def next_step(job: JobView) -> Step:
    """What to do now. Applied, it leads to a state with another next step, or to a wait."""
    match job.state:
        case JobState.INITIALIZING | JobState.SUSPENDED:
            return _start_or_end(job)
        case JobState.CREATED | JobState.RUNNING | JobState.RECONCILING:
            return _under_way(job)
        case JobState.RESTARTING:
            return _between_attempts(job)
        case JobState.CANCELLING:
            return _ending(job, JobState.CANCELED)
        case JobState.FAILING:
            return _ending(job, JobState.FAILED)
        case JobState.FAILED | JobState.CANCELED | JobState.FINISHED:
            return Wait()
        case _:
            assert_never(job.state)


def _start_or_end(job: JobView) -> Step:
    if job.wanted is Wanted.CANCELED:
        return Change(JobState.CANCELLING)
    if job.wanted is Wanted.RUNNING:
        return Change(JobState.CREATED)
    return Wait() if job.state is JobState.SUSPENDED else Change(JobState.SUSPENDED)


def _between_attempts(job: JobView) -> Step:
    if job.wanted is Wanted.CANCELED:
        return Change(JobState.CANCELLING)
    if job.wanted is Wanted.SUSPENDED:
        return Change(JobState.SUSPENDED)
    return Change(JobState.CREATED) if job.restart_due else Wait()


def _ending(job: JobView, target: JobState) -> Step:
    """No way back: once no driver can run, the job is in `target`."""
    attempt = job.attempt
    if attempt is None or attempt.state.is_terminal:
        return Change(target, closes=True)
    if attempt.command != "cancel":
        return Ask("cancel")
    if attempt.out_of_reach is not None and attempt.out_of_reach > ABANDON_AFTER:
        return Abandon()
    return Wait(_OUT_OF_REACH if attempt.out_of_reach is not None else "")


def _under_way(job: JobView) -> Step:
    if job.wanted is Wanted.CANCELED:
        return Change(JobState.CANCELLING)
    if job.attempt is None:
        if job.wanted is Wanted.SUSPENDED:
            return Change(JobState.SUSPENDED)
        # Without an attempt there is nothing to reconcile or to run.
        return Begin() if job.state is JobState.CREATED else Again(0, counts=False)
    if job.attempt.state.is_terminal:
        return _after_attempt(job, job.attempt)
    return _with_attempt(job, job.attempt)


def _with_attempt(job: JobView, attempt: AttemptView) -> Step:
    runs = attempt.state is AttemptState.RUNNING
    if attempt.out_of_reach is not None:
        if job.state is not JobState.RECONCILING:
            return Change(JobState.RECONCILING)
        return Wait(_OUT_OF_REACH)
    if job.state is JobState.RECONCILING:
        return Change(JobState.RUNNING if runs else JobState.CREATED)
    if runs and job.state is JobState.CREATED:  # it said so while the job was reconciling
        return Change(JobState.RUNNING)
    leave = job.wanted is Wanted.SUSPENDED or job.restart_of == attempt.number
    if leave and not attempt.command:
        return Ask("suspend")
    if attempt.state is AttemptState.CREATED:
        return Launch()
    return Wait()


def _after_attempt(job: JobView, attempt: AttemptView) -> Step:
    by_hand = job.restart_of == attempt.number
    match attempt.state:
        case AttemptState.FINISHED:
            return Change(JobState.FINISHED, closes=True)
        case AttemptState.CANCELED:
            return Change(JobState.CANCELLING, "its driver was canceled", closes=True)
        case AttemptState.SUSPENDED if job.wanted is Wanted.SUSPENDED:
            return Change(JobState.SUSPENDED, closes=True)
        case AttemptState.SUSPENDED:
            # Asked for: a restart by hand, or resumed while it stopped. Else somebody told the
            # driver to end (a machine going down): it goes on, at no cost to the strategy.
            return Again(0 if attempt.command else job.strategy.delay_ms, counts=False)
        case AttemptState.FAILED if by_hand:
            return Again(0, counts=False)
        case AttemptState.FAILED if job.wanted is Wanted.SUSPENDED and attempt.restartable:
            return Change(JobState.SUSPENDED, closes=True)
        case AttemptState.FAILED:
            return _after_failure(job, attempt)
        case AttemptState.CREATED | AttemptState.DEPLOYING | AttemptState.RUNNING:
            raise ValueError(f"attempt {attempt.number} has not ended: {attempt.state}")
        case _:
            assert_never(attempt.state)


def _after_failure(job: JobView, attempt: AttemptView) -> Step:
    verdict = restarts.decide(job.strategy, job.restarts_in_a_row, restartable=attempt.restartable)
    match verdict:
        case restarts.Restart():
            return Again(verdict.delay_ms)
        case restarts.GiveUp():
            return Change(JobState.FAILING, verdict.reason, closes=True)
        case _:
            assert_never(verdict)
