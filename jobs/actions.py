"""What users ask of jobs: the only writer of the desired state.

Each action compares and sets, writes who asked into the history, and nudges the JobManager after
commit. Asking again for what is already wanted changes nothing and is no error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from jobs import artifacts, options, signals
from jobs.models import Event, Job
from jobs.states import JobState, Wanted, change_state

MAX_PARALLELISM = 32_768  # Flink's upper bound for the maximum parallelism


class InvalidJob(ValueError):
    """The job was refused at submission; nothing was stored. `args[0]` says why."""


class Conflict(Exception):
    """The job is not in a state where this can be asked; nothing was changed."""


def submit(
    name: str,
    entry: Path | tuple[bytes, str],
    arguments: Sequence[str] = (),
    parallelism: int = 1,
    configuration: Mapping[str, str] | None = None,
    user: User | None = None,
) -> Job:
    """Store the job and want it running. `entry` is a path, or content and file name.

    Raises InvalidJob, with the Python error for a file that does not compile.
    """
    content, file_name = (entry.read_bytes(), entry.name) if isinstance(entry, Path) else entry
    settings = {str(key): str(value) for key, value in (configuration or {}).items()}
    try:
        name = _checked_name(name or Path(file_name).stem)
        _check_parallelism(parallelism)
        restarts = options.restarts(settings)
        artifact = artifacts.store(content, file_name)
    except (artifacts.UnusableFile, options.InvalidOption) as error:
        raise InvalidJob(str(error)) from error
    with transaction.atomic():
        now = timezone.now()
        job = Job.objects.create(
            name=name,
            entry=str(artifact.path),
            entry_name=artifact.name,
            artifact_sha256=artifact.sha256,
            arguments=[str(argument) for argument in arguments],
            parallelism=parallelism,
            configuration=settings,
            restart_attempts=restarts.attempts,
            restart_delay_ms=restarts.delay_ms,
            submitted_by=user,
            created_at=now,
            state_changed_at=now,
            timestamps={JobState.INITIALIZING.value: int(now.timestamp() * 1000)},
        )
        _told(job, user, Event.Kind.SUBMITTED, "submitted", entry=artifact.name)
        signals.nudge()
    return job


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
    "wanted": Wanted.RUNNING,
    "suspended_by": Job.SuspendedBy.NOBODY,
    "restarts_in_a_row": 0,
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


def _start_again(job: Job, user: User | None) -> Job:
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


def _check_parallelism(parallelism: int) -> None:
    if not 0 < parallelism <= MAX_PARALLELISM:
        raise options.InvalidOption(
            f"parallelism {parallelism} is not a number from 1 to {MAX_PARALLELISM}"
        )
