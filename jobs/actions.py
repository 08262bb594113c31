"""What users ask of jobs: the only writer of the desired state.

Each action compares and sets, writes who asked into the history, and nudges the JobManager after
commit. Asking again for what is already wanted changes nothing and is no error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from headrace.wire import checkpointing, packages
from headrace.wire.savepoint import Restore
from jobs import (
    artifacts,
    beginnings,
    job_secrets,
    options,
    placement,
    restart_strategies,
    signals,
    versions,
)
from jobs.artifacts import Artifact
from jobs.models import Event, Job, Savepoint, Team, new_job_id
from jobs.states import Ends, JobState, Wanted, change_state

MAX_PARALLELISM = 32_768  # Flink's upper bound for the maximum parallelism


class InvalidJob(ValueError):
    """The job was refused at submission; nothing was stored. `args[0]` says why."""


class Conflict(Exception):
    """The job is not in a state where this can be asked; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Submission:
    """What a job is to be, checked; its program is stored."""

    name: str
    artifact: Artifact
    arguments: list[str]
    parallelism: int
    configuration: dict[str, str]
    #: The savepoint that it begins with, and its row if it is one of this cluster's.
    restore: Restore | None
    savepoint: Savepoint | None


def check(
    name: str,
    entry: Path | tuple[bytes, str] | Artifact,
    arguments: Sequence[str] = (),
    parallelism: int = 1,
    configuration: Mapping[str, str] | None = None,
    restore: Restore | None = None,
) -> Submission:
    """Whether `submit` takes it; no job is stored. Raises InvalidJob."""
    settings = {str(key): str(value) for key, value in (configuration or {}).items()}
    try:
        name = _checked_name(name or Path(_file_name(entry)).stem)
        _check_parallelism(parallelism)
        restart_strategies.read(settings, django_settings.HEADRACE_PROPERTIES)
        placement.read(settings, django_settings.HEADRACE_PROPERTIES)
        _check_checkpointing(settings)
        restore = restore or beginnings.from_configuration(settings)
        if restore is not None:
            beginnings.check(restore)
        savepoint = beginnings.known(restore.path) if restore is not None else None
        artifact = _stored(entry)
        artifacts.entry_class(artifact, settings.get(packages.ENTRY_CLASS, ""))
    except (artifacts.UnusableFile, options.InvalidOption) as error:
        raise InvalidJob(str(error)) from error
    told = [str(argument) for argument in arguments]
    return Submission(name, artifact, told, parallelism, settings, restore, savepoint)


def check_reach(wish: Submission, user: User | None, team: Team | None) -> None:
    """Secrets and the savepoint that it names are within the reach of who submits it, for the team
    that is to own it. Raises InvalidOption."""
    job_secrets.check(wish.configuration, team)
    if wish.restore is not None:
        beginnings.check_team(wish.restore, wish.savepoint, user, team)


def submit(
    name: str,
    entry: Path | tuple[bytes, str] | Artifact,
    arguments: Sequence[str] = (),
    parallelism: int = 1,
    configuration: Mapping[str, str] | None = None,
    user: User | None = None,
    restore: Restore | None = None,
    *,
    team: Team | None = None,
    job_id: str = "",
) -> Job:
    """Store the job and want it running. `entry` is a path, content and file name, or what is
    stored already. `restore`: the savepoint that it begins with, unless its configuration names
    one. `job_id`: 32 hex digits that no job had before; "" = any.

    Raises InvalidJob, with the Python error for a file that does not compile.
    """
    wish = check(name, entry, arguments, parallelism, configuration, restore)
    try:
        return store(wish, user, team=team, job_id=job_id)
    except IntegrityError as error:
        if job_id and Job.objects.filter(pk=job_id).exists():
            raise InvalidJob(
                f"there is a job {job_id} already; it is not submitted again"
            ) from error
        raise


def store(
    wish: Submission, user: User | None = None, *, team: Team | None = None, job_id: str = ""
) -> Job:
    """Submit what was checked before. It looks at no file: who holds a lock does not wait for a
    file system. Raises InvalidJob when another job has claimed its savepoint since, and for a
    secret or a savepoint that the team may not have."""
    try:
        check_reach(wish, user, team)
    except options.InvalidOption as error:
        raise InvalidJob(str(error)) from error
    with transaction.atomic():
        now = timezone.now()
        job = Job.objects.create(
            id=job_id or new_job_id(),
            team=team,
            name=wish.name,
            entry=str(wish.artifact.path),
            entry_name=wish.artifact.name,
            artifact_sha256=wish.artifact.sha256,
            arguments=wish.arguments,
            parallelism=wish.parallelism,
            configuration=wish.configuration,
            restart_strategy=restart_strategies.own(wish.configuration),
            submitted_by=user,
            created_at=now,
            state_changed_at=now,
            timestamps={JobState.INITIALIZING.value: int(now.timestamp() * 1000)},
        )
        versions.keep_first(job, user)
        if wish.restore is not None:
            try:
                beginnings.keep(job, wish.restore, wish.savepoint)
            except options.InvalidOption as error:
                raise InvalidJob(str(error)) from error
        begun = {"savepoint": wish.restore.path} if wish.restore is not None else {}
        _told(job, user, Event.Kind.SUBMITTED, "submitted", entry=wish.artifact.name, **begun)
        signals.nudge()
    return job


def _file_name(entry: Path | tuple[bytes, str] | Artifact) -> str:
    return entry[1] if isinstance(entry, tuple) else entry.name


def _stored(entry: Path | tuple[bytes, str] | Artifact) -> Artifact:
    if isinstance(entry, Artifact):
        return entry
    content = entry.read_bytes() if isinstance(entry, Path) else entry[0]
    return artifacts.store(content, _file_name(entry))


def cancel(job: Job, user: User | None = None) -> Job:
    """Want the job ended for good. Raises Conflict when it has already ended otherwise."""
    job.refresh_from_db()
    state = JobState(job.state)
    if job.wanted == Wanted.CANCELED and (state is JobState.CANCELED or not state.is_terminal):
        return job
    if state in (JobState.FINISHED, JobState.FAILED, JobState.CANCELED):
        raise Conflict(f"the job has already ended: {state.label.lower()}")
    return _want(job, user, "cancel", wanted=Wanted.CANCELED)


def suspend(
    job: Job,
    user: User | None = None,
    *,
    by: Job.SuspendedBy = Job.SuspendedBy.USER,
) -> Job:
    """Want the job stopped behind its current batch, to be resumed from there."""
    job.refresh_from_db()
    if job.wanted == Wanted.SUSPENDED:
        return job
    if job.wanted == Wanted.CANCELED or JobState(job.state).is_terminal:
        raise Conflict(f"a job that is {_ended_word(job)} cannot be suspended")
    return _want(job, user, "suspend", wanted=Wanted.SUSPENDED, suspended_by=by)


def resume(job: Job, user: User | None = None) -> Job:
    """Want a suspended job running again, from its last checkpoint."""
    job.refresh_from_db()
    state = JobState(job.state)
    if job.wanted == Wanted.RUNNING and not state.is_terminal:
        return job
    if job.wanted != Wanted.SUSPENDED or (state.is_terminal and state is not JobState.SUSPENDED):
        raise Conflict(
            f"a job that is {_ended_word(job)} cannot be resumed; "
            "restart it to start it again from its last checkpoint"
        )
    versions.resumed(job)
    return _want(job, user, "resume", **_RUNNING_AGAIN)


def restart(job: Job, user: User | None = None) -> Job:
    """Start the job again from its last checkpoint, whatever it does now.

    A running attempt is ended behind its current batch first. Raises Conflict for a finished job
    (nothing is left to do) and for one that is being cancelled.
    """
    job.refresh_from_db()
    state = JobState(job.state)
    if state is JobState.FINISHED:
        raise Conflict("the job has finished: all its input is processed; submit it again")
    if state in (JobState.FAILED, JobState.CANCELED):
        return _start_again(job, user)
    if job.wanted == Wanted.CANCELED or state is JobState.FAILING:
        raise Conflict(f"a job that is {state.label.lower()} cannot be restarted; wait for its end")
    wishes: dict[str, Any] = {**_RUNNING_AGAIN, "restart_of": job.current_attempt}
    if state is JobState.RESTARTING:
        wishes["restart_at"] = timezone.now()
    return _want(job, user, "restart", **wishes)


def suspend_all() -> int:
    """Stop every job in order because the platform stops; how many. See `resume_all`.

    Raises Conflict for one that changed this moment, after the others: call it again."""
    running = Job.objects.filter(wanted=Wanted.RUNNING, state__in=JobState.live())
    return _each(running, lambda job: suspend(job, by=Job.SuspendedBy.PLATFORM))


def resume_all() -> int:
    """Let the jobs go on that `suspend_all` stopped, not those a user suspended; how many."""
    stopped = Job.objects.filter(
        wanted=Wanted.SUSPENDED, suspended_by=Job.SuspendedBy.PLATFORM
    ).exclude(state__in=[JobState.FAILED, JobState.FINISHED, JobState.CANCELED])
    return _each(stopped, resume)


def _each(jobs: Iterable[Job], wish: Callable[[Job], Job]) -> int:
    """Wish it of each; a conflict of one is raised when all were asked."""
    done, conflict = 0, None
    for job in jobs:
        try:
            wish(job)
            done += 1
        except Conflict as error:
            conflict = error
    if conflict is not None:
        raise conflict
    return done


_RUNNING_AGAIN: dict[str, Any] = {
    "archived_at": None,
    "wanted": Wanted.RUNNING,
    "suspended_by": Job.SuspendedBy.NOBODY,
    "restarts_in_a_row": 0,
    "failure_times": [],
    "restart_at": None,
}


def _want(job: Job, user: User | None, verb: str, **wishes: Any) -> Job:
    """Set the wishes if the job is still as it was read."""
    with transaction.atomic():
        seen = Job.objects.filter(
            pk=job.pk, state=job.state, wanted=job.wanted, current_attempt=job.current_attempt
        )
        if not seen.update(**wishes):
            raise Conflict("the job has changed meanwhile; look at it again and repeat")
        _told(job, user, Event.Kind.ACTION, verb)
        signals.nudge()
    job.refresh_from_db()
    return job


def archive(job: Job, user: User | None = None) -> Job:
    """Put a job away that has ended: lists leave it out. Raises Conflict for one that has not."""
    return _put_away(job, user, "archive", timezone.now())


def unarchive(job: Job, user: User | None = None) -> Job:
    """Have lists show it again."""
    return _put_away(job, user, "unarchive", None)


def _put_away(job: Job, user: User | None, verb: str, at: datetime | None) -> Job:
    job.refresh_from_db()
    if JobState(job.state).ends is not Ends.FOR_GOOD:
        raise Conflict(f"a job that is {job.state_info.label.lower()} cannot be archived; end it")
    if (job.archived_at is None) == (at is None):
        return job
    return _want(job, user, verb, archived_at=at)


def _start_again(job: Job, user: User | None) -> Job:
    if job.checkpoints_removed:
        raise Conflict(
            "its checkpoints were removed at its end, as its configuration asks for; submit it "
            "again, with a savepoint if there is one"
        )
    with transaction.atomic():
        if not change_state(job, JobState.CREATED, **_RUNNING_AGAIN, restart_of=None):
            raise Conflict("the job has changed meanwhile; look at it again and repeat")
        _told(job, user, Event.Kind.ACTION, "restart")
        signals.nudge()
    return job


def _told(job: Job, user: User | None, kind: Event.Kind, verb: str, **detail: Any) -> None:
    who = user.get_username() if user is not None else "the platform"
    Event.objects.create(
        job=job, kind=kind, message=f"{verb} by {who}", detail={"verb": verb, "by": who, **detail}
    )


def _ended_word(job: Job) -> str:
    state = JobState(job.state)
    return state.label.lower() if state.is_terminal else "being cancelled"


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not 0 < len(name) <= 200:
        raise options.InvalidOption("a job needs a name of 1 to 200 characters")
    return name


def _check_checkpointing(settings: Mapping[str, str]) -> None:
    try:
        checkpointing.check(settings)
    except ValueError as error:
        raise options.InvalidOption(str(error)) from None


def _check_parallelism(parallelism: int) -> None:
    if not 0 < parallelism <= MAX_PARALLELISM:
        raise options.InvalidOption(
            f"parallelism {parallelism} is not a number from 1 to {MAX_PARALLELISM}"
        )
