"""The actions a page offers on a job: how each reads, when it is offered, what it calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jobs import actions
from jobs.models import Job
from jobs.states import JobState, Wanted

_ENDED = (JobState.FINISHED, JobState.FAILED, JobState.CANCELED)


@dataclass(frozen=True, slots=True)
class Verb:
    """One action. `consequence` is what the confirmation says will happen to the data."""

    name: str
    label: str
    icon: str
    #: "bad" for what cannot be taken back, else "".
    colour: str
    consequence: str
    #: What the page says when it was asked for.
    asked: str
    offered: Callable[[Job], bool]
    carry_out: Callable[..., Job]


def _runs(job: Job) -> bool:
    return job.wanted == Wanted.RUNNING and not job.state_info.is_terminal


def _may_resume(job: Job) -> bool:
    return job.wanted == Wanted.SUSPENDED and job.state_info not in _ENDED


def _may_restart(job: Job) -> bool:
    if job.state_info in (JobState.FAILED, JobState.CANCELED):
        return True
    return _runs(job) and job.state_info in (JobState.RUNNING, JobState.RESTARTING)


def _may_cancel(job: Job) -> bool:
    return job.wanted != Wanted.CANCELED and job.state_info not in _ENDED


VERBS = {
    verb.name: verb
    for verb in (
        Verb(
            "resume",
            "Resume",
            "play",
            "",
            "The job goes on from its last checkpoint as soon as slots are free.",
            "Resuming from the last checkpoint.",
            _may_resume,
            actions.resume,
        ),
        Verb(
            "suspend",
            "Suspend",
            "pause",
            "",
            "The job ends behind its current batch and frees its slots. Its checkpoint is kept; "
            "resume goes on from there, no record lost, none twice.",
            "Suspending behind the current batch.",
            _runs,
            actions.suspend,
        ),
        Verb(
            "restart",
            "Restart",
            "restart",
            "",
            "The driver is ended behind its current batch and started again from the last "
            "checkpoint.",
            "Restarting from the last checkpoint.",
            _may_restart,
            actions.restart,
        ),
        Verb(
            "cancel",
            "Cancel",
            "stop",
            "bad",
            "The job ends behind its current batch and frees its slots. Its last checkpoint is "
            "kept, so it can be started again from there by hand.",
            "Cancelling behind the current batch.",
            _may_cancel,
            actions.cancel,
        ),
    )
}


def offered(job: Job) -> list[Verb]:
    return [verb for verb in VERBS.values() if verb.offered(job)]
