"""The JobManager's next step for a job, from what is and what is wanted. No I/O.

One step at a time, each decided from the tables alone: whoever leads, and however often it was
killed in between, decides the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from jobs.restart_strategies import ExponentialDelay, Strategy
from jobs.states import AttemptState, JobState, Wanted
from workers import restarts


@dataclass(frozen=True, slots=True)
class AttemptView:
    """The attempt under way, or whose end is still to be acted on."""

    number: int
    state: AttemptState
    #: "cancel", "suspend" or "" when it was not asked to end.
    command: str = ""
    #: Of a failed one: why no other may follow; None when one may.
    final: str | None = None
    #: Of a failed one: `headrace.wire.failures.Cause`, and what its driver said.
    cause: str = ""
    error: str = ""
    #: Of a failed or suspended one: how its job was to end with a savepoint that is complete,
    #: "finished" or "canceled"; "" when it was not.
    ended_with: str = ""
    #: Nobody saw it end.
    abandoned: bool = False
    #: When it ended, ms since 1970.
    ended_at: int = 0
    #: Its TaskManager is not heard from, or was stopped.
    out_of_reach: bool = False
    #: Its TaskManager is counted as lost: it stayed away for longer than a restart takes.
    lost: bool = False
    #: Its TaskManager is where its files are not; they are on this machine.
    left_behind_on: str = ""


@dataclass(frozen=True, slots=True)
class JobView:
    state: JobState
    wanted: Wanted
    attempt: AttemptView | None = None
    restart_of: int | None = None
    restart_due: bool = False
    strategy: Strategy = field(default_factory=ExponentialDelay)
    history: restarts.History = field(default_factory=restarts.History)
    #: Which job it is, for its jitter.
    seed: str = ""
    #: All that it goes on from is where every machine sees it.
    movable: bool = False
    #: It holds a slot of a TaskManager that is drained, and whether it holds all elsewhere already.
    to_leave: bool = False
    has_room: bool = False
    #: The savepoint that its attempt was to leave with could not be made.
    unsaved: bool = False
    #: It is on its way to another version or to other slots.
    upgrading: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """Change the job's state. `closes` = the attempt's end is acted on by this."""

    target: JobState
    reason: str = ""
    closes: bool = False


@dataclass(frozen=True, slots=True)
class Again:
    """Close the attempt and start another after the delay. `verdict` when the restart strategy
    says so: it counts."""

    delay_ms: int
    verdict: restarts.Restart | None = None


@dataclass(frozen=True, slots=True)
class Begin:
    """Give it slots and create the next attempt; or say what it waits for."""


@dataclass(frozen=True, slots=True)
class Move:
    """Find slots elsewhere for a job that runs on, and keep them for it; or say why not."""


@dataclass(frozen=True, slots=True)
class Leave:
    """Stop it with a savepoint; it goes on from there in the slots that it holds elsewhere."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Have its TaskManager ask the driver to end."""

    command: str


@dataclass(frozen=True, slots=True)
class Launch:
    """Have its TaskManager launch the driver (sent again until it does; launches once)."""


@dataclass(frozen=True, slots=True)
class Abandon:
    """Count the driver as gone though nobody can see it. FAILED: the job goes on elsewhere."""

    target: AttemptState


@dataclass(frozen=True, slots=True)
class Wait:
    """Only time or somebody else can help; `reason` is shown."""

    reason: str = ""


Step = Change | Again | Begin | Move | Leave | Ask | Launch | Abandon | Wait

#: A driver that somebody outside told to end goes on after this long.
UNASKED_DELAY_MS = 1000

_OUT_OF_REACH = (
    "its TaskManager is not heard from; its driver may still run. "
    "The job goes on when the TaskManager is back. It does not move, as its files are not on "
    "storage that other machines see (HEADRACE_SHARED_STORAGE)."
)
_LEFT_BEHIND = (
    "its TaskManager was started where the files of its driver are not, which are on {}; there its "
    "driver may still run. The job goes on when the TaskManager is back there."
)
_UNSEEN = "its TaskManager is not heard from; its driver may still run and is to end first."
_SAVED = "its driver ended behind the savepoint that the job ends with"
_HAS_LEFT = (
    "its TaskManager was stopped; its driver may still run. The job goes on when the TaskManager "
    "is back. When it stays away for heartbeat.timeout it is counted as lost."
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
    if attempt.out_of_reach and attempt.lost:
        return Abandon(AttemptState.CANCELED)
    return Wait(_UNSEEN if attempt.out_of_reach else "")


def _under_way(job: JobView) -> Step:
    if job.wanted is Wanted.CANCELED:
        return Change(JobState.CANCELLING)
    if job.attempt is None:
        if job.wanted is Wanted.SUSPENDED:
            return Change(JobState.SUSPENDED)
        # Without an attempt there is nothing to reconcile or to run.
        return Begin() if job.state is JobState.CREATED else Again(0)
    if job.attempt.state.is_terminal:
        return _after_attempt(job, job.attempt)
    return _with_attempt(job, job.attempt)


def _with_attempt(job: JobView, attempt: AttemptView) -> Step:
    runs = attempt.state is AttemptState.RUNNING
    if attempt.out_of_reach:
        if job.state is not JobState.RECONCILING:
            return Change(JobState.RECONCILING)
        if attempt.lost and job.movable:
            return Abandon(AttemptState.FAILED)
        if attempt.left_behind_on:
            return Wait(_LEFT_BEHIND.format(attempt.left_behind_on))
        return Wait(_OUT_OF_REACH if attempt.lost else _HAS_LEFT)
    if job.state is JobState.RECONCILING:
        return Change(JobState.RUNNING if runs else JobState.CREATED)
    if runs and job.state is JobState.CREATED:  # it said so while the job was reconciling
        return Change(JobState.RUNNING)
    ends = job.wanted is Wanted.SUSPENDED or job.restart_of == attempt.number
    if ends and not attempt.command:
        return Ask("suspend")
    if attempt.state is AttemptState.CREATED:
        return Launch()
    stays = not job.to_leave or not runs or attempt.command or job.upgrading
    return Wait() if stays else _leaving(job)


def _leaving(job: JobView) -> Step:
    if not job.has_room:
        return Move()
    return Ask("suspend") if job.unsaved else Leave()


def _after_attempt(job: JobView, attempt: AttemptView) -> Step:
    by_hand = job.restart_of == attempt.number
    if attempt.ended_with == "canceled":
        return Change(JobState.CANCELLING, _SAVED, closes=True)
    if attempt.ended_with:
        return Change(JobState.FINISHED, _SAVED, closes=True)
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
            return Again(0 if attempt.command else UNASKED_DELAY_MS)
        case AttemptState.FAILED if by_hand:
            return Again(0)
        case AttemptState.FAILED if job.wanted is Wanted.SUSPENDED and attempt.final is None:
            return Change(JobState.SUSPENDED, closes=True)
        case AttemptState.FAILED:
            return _after_failure(job, attempt.ended_at, attempt.final)
        case AttemptState.CREATED | AttemptState.DEPLOYING | AttemptState.RUNNING:
            raise ValueError(f"attempt {attempt.number} has not ended: {attempt.state}")
        case _:
            assert_never(attempt.state)


def after_waiting(job: JobView, now: int) -> Step:
    """What follows when a job that is to begin has got no slots for longer than it may wait: as
    in Flink, its restart strategy decides. It keeps its place in the queue."""
    return _after_failure(job, now, None)


def _after_failure(job: JobView, at: int, final: str | None) -> Step:
    verdict = restarts.decide(job.strategy, job.history, at, seed=job.seed, final=final)
    match verdict:
        case restarts.Restart():
            return Again(verdict.delay_ms, verdict)
        case restarts.GiveUp():
            return Change(JobState.FAILING, verdict.reason, closes=True)
        case _:
            assert_never(verdict)
