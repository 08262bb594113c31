"""What can be asked of several jobs at once; each is asked by itself, and may refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest

from dashboard import asking, verbs
from jobs import actions, audit, permissions, savepoints
from jobs.models import Job, Savepoint
from jobs.roles import Role
from jobs.states import Ends, JobState, Wanted


@dataclass(frozen=True, slots=True)
class Verb:
    """One action on several jobs: how it reads, which jobs it is for, what it calls."""

    name: str
    label: str
    icon: str
    consequence: str
    #: "Cancelling", before "3 jobs".
    done: str
    offered: Callable[[Job], bool]
    carry_out: Callable[[Job, User], object]
    colour: str = ""


@dataclass(slots=True)
class Plan:
    """What a verb would do: the jobs that it is for, and those that are left alone, and why."""

    verb: Verb
    jobs: list[Job] = field(default_factory=list)
    left: list[tuple[Job, str]] = field(default_factory=list)


@dataclass(slots=True)
class Outcome:
    done: int = 0
    refused: list[str] = field(default_factory=list)

    @property
    def words(self) -> str:
        jobs = "1 job" if self.done == 1 else f"{self.done} jobs"
        return f"{jobs}; {len(self.refused)} refused" if self.refused else jobs


def acts(user: Any) -> bool:
    """Whether there may be anything that this person can ask of jobs or TaskManagers."""
    own = permissions.rights(user)
    return max([own.cluster or Role.VIEWER, *own.teams.values()]) >= Role.OPERATOR


def plan(verb: Verb, jobs: Iterable[Job], user: Any) -> Plan:
    found = Plan(verb)
    for job in jobs:
        if not permissions.may_operate(user, job):
            found.left.append((job, "your account may not act on it"))
        elif not verb.offered(job):
            found.left.append((job, f"it is {job.state_info.label.lower()}"))
        else:
            found.jobs.append(job)
    return found


def carry_out(request: HttpRequest, wish: Plan) -> Outcome:
    """Ask each of the jobs; those that have changed meanwhile refuse."""
    outcome, verb = Outcome(), wish.verb
    for job in wish.jobs:
        try:
            verb.carry_out(job, request.user)  # type: ignore[arg-type]
        except asking.REFUSALS as refused:
            outcome.refused.append(f"{job.name}: nothing was changed, {refused}.")
            result = audit.Result.FAILED
        else:
            outcome.done += 1
            result = audit.Result.OK
        audit.record(request, f"job.{verb.name}", job, result=result)
    return outcome


def _runs(job: Job) -> bool:
    return job.state_info is JobState.RUNNING and job.wanted == Wanted.RUNNING


def _savepoint(job: Job, user: User) -> Savepoint:
    return savepoints.trigger(job, user)


def _stop(job: Job, user: User) -> Savepoint:
    return savepoints.trigger(job, user, then=Savepoint.Then.FINISH)


def _archivable(job: Job) -> bool:
    return job.state_info.ends is Ends.FOR_GOOD and job.archived_at is None


VERBS = {
    verb.name: verb
    for verb in (
        Verb(
            "savepoint",
            "Savepoint",
            "bookmark",
            "Each job is asked for a savepoint and runs on.",
            "Savepoints are being taken of",
            _runs,
            _savepoint,
        ),
        Verb(
            "stop",
            "Stop with savepoint",
            "stop",
            "Each job ends behind a savepoint, from which it can be submitted again.",
            "Stopping with a savepoint:",
            _runs,
            _stop,
        ),
        Verb(
            "suspend",
            "Suspend",
            "pause",
            "Each job ends behind its current batch and frees its slots; resume goes on from "
            "there, no record lost, none twice.",
            "Suspending",
            verbs.VERBS["suspend"].offered,
            actions.suspend,
        ),
        Verb(
            "resume",
            "Resume",
            "play",
            "Each job goes on from its last checkpoint as soon as slots are free.",
            "Resuming",
            verbs.VERBS["resume"].offered,
            actions.resume,
        ),
        Verb(
            "restart",
            "Restart",
            "restart",
            "Each driver is ended behind its current batch and started again from the last "
            "checkpoint.",
            "Restarting",
            verbs.VERBS["restart"].offered,
            actions.restart,
        ),
        Verb(
            "archive",
            "Archive",
            "archive",
            "Lists leave these jobs out; what they did is kept.",
            "Archived",
            _archivable,
            actions.archive,
        ),
        Verb(
            "unarchive",
            "Take out of archive",
            "archive",
            "Lists show these jobs again.",
            "Taken out of the archive:",
            lambda job: job.archived_at is not None,
            actions.unarchive,
        ),
        Verb(
            "cancel",
            "Cancel",
            "stop",
            "Each job ends behind its current batch and frees its slots. Its last checkpoint is "
            "kept, so it can be started again from there by hand.",
            "Cancelling",
            verbs.VERBS["cancel"].offered,
            actions.cancel,
            colour="bad",
        ),
    )
}
