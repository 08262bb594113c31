"""The next step of an upgrade, from what is. No I/O.

Asked before `decisions.next_step`, whose answer counts where there is none here: on its way to
another version a job is launched, watched and ended as any other. The steps of `states.
UPGRADE_TRANSITIONS`:

| from      | when                                                  | to        |
|-----------|-------------------------------------------------------|-----------|
| STOPPING  | the savepoint failed: the job runs on as it was       | FAILED    |
| STOPPING  | it is complete, and its driver has ended              | STARTING  |
| STARTING  | a first checkpoint, or nothing to read, or finished   | DONE      |
| STARTING  | the driver failed                                     | REVERTING |
| STARTING  | nothing of that by the deadline                       | REVERTING |
| REVERTING | as DONE                                               | REVERTED  |
| REVERTING | the new version had committed something               | DONE      |
| any       | the job ended for good (`jobs.upgrades.close`)        | FAILED    |

A driver that nobody saw end (its machine is lost) says nothing about the version: the job starts
again elsewhere, as the same version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from headrace.wire.failures import Cause
from jobs.states import AttemptState, JobState, SavepointState, UpgradeState, Wanted
from workers.decisions import Ask, AttemptView, JobView


@dataclass(frozen=True, slots=True)
class UpgradeView:
    state: UpgradeState
    savepoint: SavepointState
    #: Why there is no savepoint.
    savepoint_failure: str = ""
    #: The version that the job is now has completed a checkpoint, or found nothing to read.
    progressed: bool = False
    #: The deadline of the new version's start has passed.
    overdue: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """Change the upgrade's state and, where that belongs to it, the job's version."""

    target: UpgradeState
    reason: str = ""


#: A job that is being ended goes its way; its end closes the upgrade.
_ENDING = (JobState.CANCELLING, JobState.FAILING, JobState.SUSPENDED)

_TOO_LATE = "it did not run in time ({})"
_COMMITTED = (
    "the new version had committed output before its driver ended, which the version before would "
    "write again: the new version goes on"
)


def next_step(upgrade: UpgradeView, job: JobView) -> Turn | Ask | None:
    """None: nothing but what any job would do."""
    if job.state in _ENDING or job.state.is_terminal or job.wanted is Wanted.CANCELED:
        return None
    match upgrade.state:
        case UpgradeState.STOPPING:
            return _stopping(upgrade, job.attempt)
        case UpgradeState.STARTING:
            return _starting(upgrade, job)
        case UpgradeState.REVERTING:
            return _reverting(upgrade, job.attempt)
        case UpgradeState.DONE | UpgradeState.REVERTED | UpgradeState.FAILED:
            return None
        case _:
            assert_never(upgrade.state)


def out_of_slots(upgrade: UpgradeView, reason: str) -> Turn | None:
    """What follows when the job has got no slots for longer than it may wait."""
    if upgrade.state is not UpgradeState.STARTING:
        return None
    return Turn(UpgradeState.REVERTING, _TOO_LATE.format(reason))


def _stopping(upgrade: UpgradeView, attempt: AttemptView | None) -> Turn | None:
    """Its driver ends by itself behind the savepoint, and commits nothing more."""
    if upgrade.savepoint is SavepointState.COMPLETED:
        ended = attempt is None or attempt.state.is_terminal
        return Turn(UpgradeState.STARTING) if ended else None
    if upgrade.savepoint in (SavepointState.TRIGGERED, SavepointState.IN_PROGRESS):
        return None
    why = upgrade.savepoint_failure or "its files are gone"
    return Turn(UpgradeState.FAILED, f"no savepoint was made, so nothing was changed: {why}")


def _starting(upgrade: UpgradeView, job: JobView) -> Turn | Ask | None:
    attempt = job.attempt
    if _runs(upgrade, attempt):
        return Turn(UpgradeState.DONE)
    if attempt is not None and attempt.state is AttemptState.FAILED and not attempt.abandoned:
        return Turn(UpgradeState.REVERTING, attempt.error)
    if not upgrade.overdue or job.wanted is not Wanted.RUNNING:
        return None
    if attempt is None or attempt.state.is_terminal:
        return Turn(UpgradeState.REVERTING, _TOO_LATE.format("no driver of it runs"))
    if attempt.out_of_reach or attempt.command:
        return None
    return Ask("suspend")


def _reverting(upgrade: UpgradeView, attempt: AttemptView | None) -> Turn | None:
    if _runs(upgrade, attempt):
        return Turn(UpgradeState.REVERTED)
    failed = attempt is not None and attempt.state is AttemptState.FAILED
    if failed and attempt is not None and attempt.cause == Cause.SUPERSEDED:
        return Turn(UpgradeState.DONE, _COMMITTED)
    return None


def _runs(upgrade: UpgradeView, attempt: AttemptView | None) -> bool:
    return upgrade.progressed or (attempt is not None and attempt.state is AttemptState.FINISHED)
