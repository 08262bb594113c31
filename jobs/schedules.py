"""Jobs that start at a time, or again and again: kept here, started by the leading JobManager.

Each time of a schedule is decided once: whoever decides sets the next one by compare-and-set, in
the transaction that stores the job.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from jobs import (
    actions,
    options,
    permissions,
    savepoints,
    signals,
    timetables,
)
from jobs.artifacts import Artifact
from jobs.models import Event, Job, Schedule, ScheduledRun, Team
from jobs.states import Ends, JobState
from jobs.timetables import Timetable

#: Kept per schedule, beside that of a job that has not ended.
RUNS = 500

_ENDED = [state.value for state in JobState if state.ends is Ends.FOR_GOOD]


def create(
    name: str,
    entry: Path | tuple[bytes, str],
    arguments: Sequence[str] = (),
    parallelism: int = 1,
    configuration: Mapping[str, str] | None = None,
    user: User | None = None,
    *,
    at: datetime | None = None,
    cron: str = "",
    time_zone: str = "UTC",
    grace: str = timetables.DEFAULT_GRACE,
    team: Team | None = None,
) -> Schedule:
    """Raises InvalidJob for what `actions.submit` would refuse, InvalidOption for its times."""
    now = timezone.now()
    if (at is None) == (not cron):
        raise options.InvalidOption("say either when it starts (at) or how often (cron)")
    if at is not None and at <= now:
        raise options.InvalidOption(f"at: {at.isoformat()} has passed")
    table = timetables.read(cron, time_zone, now) if cron else Timetable()
    allowed = timetables.grace_ms(grace)
    wish = actions.check(name, entry, arguments, parallelism, configuration)
    actions.check_reach(wish, user, team)
    with transaction.atomic():
        row = Schedule.objects.create(
            name=wish.name,
            entry=str(wish.artifact.path),
            entry_name=wish.artifact.name,
            artifact_sha256=wish.artifact.sha256,
            arguments=wish.arguments,
            parallelism=wish.parallelism,
            configuration=wish.configuration,
            at=at,
            cron=table.cron,
            time_zone=str(table.zone),
            grace=allowed,
            next_run_at=at or table.after(now),
            created_by=user,
            created_by_name=_name(user),
            created_at=now,
            team=team,
        )
        _tell(row, f"asked for by {_name(user)}: {row.when}")
        signals.nudge()
    return row


def pause(row: Schedule, user: User | None = None) -> Schedule:
    """Its times pass until it is resumed. A job that it has started goes on."""
    with transaction.atomic():
        rows = Schedule.objects.filter(pk=row.pk, paused_at=None)
        if rows.update(paused_at=timezone.now(), next_run_at=None):
            _tell(row, f"paused by {_name(user)}")
    row.refresh_from_db()
    return row


def resume(row: Schedule, user: User | None = None) -> Schedule:
    """Go on with the next time to come. Raises Conflict where none does."""
    row.refresh_from_db()
    if row.paused_at is None:
        return row
    now = timezone.now()
    following = row.at or timetable(row).after(now)
    if following is None or following <= now:
        raise actions.Conflict("its time has passed; make another schedule")
    with transaction.atomic():
        rows = Schedule.objects.filter(pk=row.pk, paused_at=row.paused_at)
        if rows.update(paused_at=None, next_run_at=following):
            _tell(row, f"resumed by {_name(user)}")
            signals.nudge()
    row.refresh_from_db()
    return row


def delete(row: Schedule, user: User | None = None) -> None:
    """Nothing follows. Jobs that it has started stay."""
    with transaction.atomic():
        _tell(row, f"deleted by {_name(user)}")
        row.delete()


def due(now: datetime) -> list[Schedule]:
    return list(Schedule.objects.filter(next_run_at__lte=now).select_related("created_by", "team"))


def timetable(row: Schedule) -> Timetable:
    return timetables.read(row.cron, row.time_zone, row.created_at) if row.cron else Timetable()


def going(row: Schedule) -> Job | None:
    """A job of it that has not ended."""
    run = _going(row).select_related("job").first()
    return run.job if run is not None else None


def settle(
    row: Schedule,
    at: datetime,
    following: datetime | None,
    outcome: ScheduledRun.Outcome,
    why: str = "",
    job: actions.Submission | None = None,
) -> bool:
    """Write down what becomes of the time `at`, and start the job where it is STARTED. False, and
    nothing done, when another has decided."""
    with transaction.atomic():
        mine = Schedule.objects.filter(pk=row.pk, next_run_at=row.next_run_at)
        if not mine.update(next_run_at=following):
            return False
        if row.runs.filter(planned_at=at).exists():  # the clock went back
            return False
        started = actions.store(job, row.created_by, team=row.team) if job is not None else None
        run = row.runs.create(planned_at=at, outcome=outcome, why=why[:1000], job=started)
        reason = f": {run.why}" if run.why else ""
        _tell(row, f"for {at:%Y-%m-%d %H:%M:%S} UTC {run.get_outcome_display()}{reason}", started)
        over = row.runs.exclude(pk__in=_going(row).values("pk"))
        old = over.values_list("pk", flat=True)[RUNS : 2 * RUNS]
        ScheduledRun.objects.filter(pk__in=list(old)).delete()
    return True


def next_job(row: Schedule) -> actions.Submission:
    """Checked, with a look at its files. Raises InvalidJob, also where its owner's account may no
    longer submit."""
    user = row.created_by
    if row.created_by_name != savepoints.PLATFORM and (
        user is None or not permissions.may_submit(user, row.team_id)
    ):
        raise actions.InvalidJob(f"{row.created_by_name} may no longer submit jobs")
    artifact = Artifact(Path(row.entry), row.entry_name, row.artifact_sha256)
    return actions.check(row.name, artifact, row.arguments, row.parallelism, row.configuration)


def _going(row: Schedule) -> QuerySet[ScheduledRun]:
    return row.runs.exclude(job=None).exclude(job__state__in=_ENDED)


def _name(user: User | None) -> str:
    return user.get_username() if user is not None else savepoints.PLATFORM


def _tell(row: Schedule, words: str, job: Job | None = None) -> None:
    Event.objects.create(
        job=job,
        kind=Event.Kind.SCHEDULE,
        message=f"schedule {row.name}: {words}",
        detail={"schedule": row.pk},
    )
