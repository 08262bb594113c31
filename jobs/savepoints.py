"""Savepoints: asked for by users, made by drivers, recorded here.

TRIGGERED    asked for; its TaskManager carries the wish to the driver     `trigger`
IN_PROGRESS  the driver knows                                              `sent`
COMPLETED    it is whole                                                   `completed`
FAILED       there is none, and the job goes on as it was                  `failed`, `fail_of`
DISPOSING    to be removed; a TaskManager that reaches it does so          `dispose`
             none does: it stays COMPLETED, with the reason                `give_up_disposal`
DISPOSED     it is gone                                                    `disposed`

A savepoint belongs to the attempt that was running when it was asked for, and fails with it.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from headrace.wire import events, savepoint
from headrace.wire.commands import SavepointOptions
from jobs import options, signals
from jobs.models import Attempt, Beginning, Job, Savepoint
from jobs.states import AttemptState, JobState, SavepointState, UpgradeState, change_state


class Conflict(Exception):
    """Neither job nor savepoint is in a state where this can be asked; nothing was changed."""


#: Where a job's savepoints go, by Flink's keys, oldest name last.
DIRECTORY_KEYS = ("execution.checkpointing.savepoint-dir", "state.savepoints.dir")
TIMEOUT = "execution.checkpointing.timeout"
DEFAULT_TIMEOUT_MS = 10 * 60 * 1000
#: Within which a TaskManager that sees a savepoint's directory has begun to remove it.
DISPOSE_SECONDS = 60.0
#: The platform itself, where a user's name is wanted.
PLATFORM = "the platform"

_OPEN = (SavepointState.TRIGGERED, SavepointState.IN_PROGRESS)


def trigger(
    job: Job,
    user: User | None = None,
    *,
    directory: str = "",
    reason: str = "",
    then: Savepoint.Then = Savepoint.Then.RUN,
    drain: bool = False,
    trigger_id: str = "",
) -> Savepoint:
    """Want a savepoint of a running job, in a new directory below `directory`. A second request
    with the same trigger id answers the first.

    Raises Conflict when the job does not run, or is to end already; InvalidOption for a directory
    that cannot be.
    """
    known = job.savepoints.filter(trigger_id=trigger_id).first() if trigger_id else None
    if known is not None:
        return known
    parent = directory_of(job, directory)
    job.refresh_from_db()
    number = job.current_attempt or 0
    attempt = job.attempts.filter(number=number, state=AttemptState.RUNNING).first()
    if attempt is None:
        raise Conflict(
            f"the job is {job.state_info.label.lower()}, and savepoints are taken of jobs that run"
        )
    if then and job.savepoints.filter(state__in=_OPEN, attempt=attempt).exclude(then="").exists():
        raise Conflict("the job is being stopped with a savepoint already")
    row = _new(job, user, parent, trigger_id, attempt=attempt, then=then, drain=drain)
    row.reason = reason[:500]
    return _stored(row)


def refused(job: Job, user: User | None, trigger_id: str, why: str) -> Savepoint:
    """A request that cannot be met, kept as its answer: Flink's API tells failures that way."""
    known = job.savepoints.filter(trigger_id=trigger_id).first() if trigger_id else None
    if known is not None:
        return known
    row = _new(job, user, Path(settings.HEADRACE_SAVEPOINTS), trigger_id)
    row.state, row.failure = SavepointState.FAILED.value, why
    return _stored(row)


def waiting() -> list[Savepoint]:
    """Those that a TaskManager is to do something for: to be asked for, or to be removed."""
    rows = Savepoint.objects.filter(state__in=[SavepointState.TRIGGERED, SavepointState.DISPOSING])
    return list(rows.select_related("attempt", "job"))


def wish(row: Savepoint) -> SavepointOptions:
    """What the driver is told."""
    path = Path(row.path)
    return SavepointOptions(
        savepoint_id=row.pk,
        directory=str(path.parent),
        name=path.name,
        by=row.requested_by_name,
        reason=row.reason,
        then=row.then,  # type: ignore[arg-type]
        drain=row.drain,
        timeout_ms=timeout_ms(row.job),
    )


def sent(row: Savepoint) -> bool:
    """The driver has been told."""
    with transaction.atomic():
        return change_state(row, SavepointState.IN_PROGRESS)


def completed(attempt: Attempt, event: events.SavepointCompleted) -> None:
    row = _open_one(attempt, event.savepoint_id)
    if row is not None:
        change_state(
            row,
            SavepointState.COMPLETED,
            path=event.path,
            checkpoint_id=event.checkpoint_id,
            size=event.size,
            files=event.files,
            duration=event.duration,
            artifact_sha256=event.artifact_sha256,
        )


def failed(attempt: Attempt, event: events.SavepointFailed) -> None:
    row = _open_one(attempt, event.savepoint_id)
    if row is not None:
        _fail(row, event.error)


def fail_of(attempt: Attempt) -> None:
    """The attempt has ended: what it did not make, nobody makes."""
    for row in Savepoint.objects.filter(attempt=attempt, state__in=_OPEN):
        _fail(row, "its driver ended, or was lost, before it was complete")


def ended_with(attempt: Attempt) -> str:
    """How the job was to end with a savepoint, of an attempt that ended otherwise though that is
    complete: behind it no batch runs, and whoever asked for it has been told. "" = it was not."""
    if attempt.state not in (AttemptState.FAILED, AttemptState.SUSPENDED):
        return ""
    made = (SavepointState.COMPLETED, SavepointState.DISPOSING, SavepointState.DISPOSED)
    return (
        attempt.savepoints.filter(state__in=made)
        .exclude(then="")
        .values_list("then", flat=True)
        .first()
        or ""
    )


def disposed_by_job(event: events.SavepointDisposed) -> None:
    """A job that claimed it has a checkpoint of its own now, and has removed it. What it removed
    may be a copy elsewhere: the savepoint itself is where it was."""
    row = Savepoint.objects.filter(pk=event.savepoint_id, path=event.path).first()
    if row is not None and row.state == SavepointState.COMPLETED:
        change_state(row, SavepointState.DISPOSED)


def dispose(row: Savepoint, user: User | None = None) -> Savepoint:
    """Want it removed; a TaskManager that reaches its directory does it. Raises Conflict while it
    is being made, and while a job may have to begin with it: see `needed_by`."""
    with transaction.atomic():
        # Locked: a job that is stored meanwhile looks at the state behind this, or is seen here.
        state = Savepoint.objects.select_for_update().get(pk=row.pk).state_info
        if state is SavepointState.COMPLETED:
            if why := needed_by(row):
                raise Conflict(why)
            if not change_state(row, SavepointState.DISPOSING):
                raise Conflict("the savepoint has changed meanwhile; look at it again and repeat")
            signals.nudge()
        elif state not in (SavepointState.DISPOSING, SavepointState.DISPOSED):
            words = f"the savepoint is {state.label.lower()}: there is nothing to dispose of"
            raise Conflict(words)
    row.refresh_from_db()
    return row


def needed_by(row: Savepoint) -> str:
    """Why it may not go: an upgrade under way, or a job that is to begin with it. "" when nobody
    needs it."""
    if row.upgrades.filter(state__in=UpgradeState.live()).exists():
        return "an upgrade begins with it, and may have to go back to it"
    first = to_begin_with(row).first()
    if first is None:
        return ""
    ends = "; archive the job if it is not to start again" if first.job.ended_at else ""
    return f"job {first.job.name} is to begin with it, and has no checkpoint of its own yet{ends}"


def to_begin_with(row: Savepoint) -> QuerySet[Beginning]:
    """Those of jobs that have no checkpoint of their own yet. One that has failed or was cancelled
    before may be started again, unless it was put away."""
    waiting = row.jobs.filter(
        job__progressed_at=None, job__archived_at=None, job__checkpoints_removed=False
    )
    return waiting.exclude(job__state=JobState.FINISHED).select_related("job")


def disposed(row: Savepoint, left: str = "") -> None:
    """It is gone; also where that took so long that it counted as one that cannot be removed.
    `left`: what was found beside it and is still there."""
    row.refresh_from_db()
    if row.state in (SavepointState.DISPOSING, SavepointState.COMPLETED):
        with transaction.atomic():
            change_state(row, SavepointState.DISPOSED, failure=left[:500])


def unreached(now: datetime) -> list[Savepoint]:
    """Those that no TaskManager has removed, though each has looked."""
    since = now - timedelta(seconds=DISPOSE_SECONDS)
    rows = Savepoint.objects.filter(state=SavepointState.DISPOSING)
    return list(rows.filter(Q(disposing_since=None) | Q(disposing_since__lt=since)))


def give_up_disposal(row: Savepoint) -> None:
    kept(
        row,
        f"none of the TaskManagers that run sees {row.path}; start one on the machine that has it "
        "and dispose of it again, or remove the directory by hand",
    )


def kept(row: Savepoint, why: str) -> None:
    """It could not be removed."""
    with transaction.atomic():
        change_state(row, SavepointState.COMPLETED, failure=f"not removed: {why}")


def _new(job: Job, user: User | None, parent: Path, trigger_id: str, **fields: object) -> Savepoint:
    name = f"savepoint-{job.pk[:6]}-{secrets.token_hex(6)}"  # as Flink names them
    row = Savepoint(
        job=job,
        job_name=job.name,
        path=str(parent / name),
        requested_by=user,
        requested_by_name=user.get_username() if user is not None else PLATFORM,
        version=job.version,
        artifact_sha256=job.artifact_sha256,
        parallelism=job.parallelism,
        **fields,
    )
    row.trigger_id = trigger_id or row.pk
    return row


def _stored(row: Savepoint) -> Savepoint:
    try:
        with transaction.atomic():
            row.save(force_insert=True)
            row.entered(SavepointState.TRIGGERED)
            signals.nudge()
    except IntegrityError:  # the same request at the same moment
        return Savepoint.objects.get(job=row.job, trigger_id=row.trigger_id)
    return row


def _open_one(attempt: Attempt, savepoint_id: str) -> Savepoint | None:
    return Savepoint.objects.filter(pk=savepoint_id, attempt=attempt, state__in=_OPEN).first()


def _fail(row: Savepoint, why: str) -> None:
    change_state(row, SavepointState.FAILED, failure=why)


def directory_of(job: Job, asked: str = "") -> Path:
    """Below which its savepoints are made. Raises InvalidOption."""
    said = {**settings.HEADRACE_PROPERTIES, **job.checkpointing}
    text = asked or next((said[key] for key in DIRECTORY_KEYS if said.get(key)), "")
    if not text:
        return Path(settings.HEADRACE_SAVEPOINTS)
    try:
        path = savepoint.locate(text)
    except savepoint.BadSavepoint as error:
        raise options.InvalidOption(f"savepoints cannot go there: {error}") from None
    if len(str(path)) > 400:
        raise options.InvalidOption("the directory's path has more than 400 characters")
    return path


def timeout_ms(job: Job | None) -> int:
    """Within which a checkpoint or savepoint of it is to be made, or to be begun."""
    configured = job.checkpointing.get(TIMEOUT, "") if job is not None else ""
    return options.duration_ms(configured) or DEFAULT_TIMEOUT_MS
