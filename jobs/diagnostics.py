"""Thread dumps and flame graphs: asked for in a row, answered by the process's own TaskManager or
JobManager within seconds, kept for a day.

A tree of a flame graph is {"name", "value", "children": [tree]}; `value` counts samples.
"""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone

from headrace.wire.text import storable
from jobs.models import Diagnosis, Job, JobManagerProcess, TaskManager
from jobs.states import AttemptState, TaskManagerState

#: An answer is good for so long: who asks sooner is given it, and nothing is sampled again.
FRESH = timedelta(seconds=10)
#: Nobody has answered for so long: nobody will.
GIVEN_UP = timedelta(seconds=60)
KEPT = timedelta(days=1)
#: Of one kind and process no more are kept, however often somebody asks.
KEPT_EACH = 20
#: Samples of a flame graph are taken for so many seconds.
SECONDS = 4
FULL, ON_CPU, OFF_CPU = "full", "on_cpu", "off_cpu"
TYPES = (FULL, ON_CPU, OFF_CPU)
_LOOK_SECONDS = 0.1
_REASON = 1000


class NotRunning(Exception):
    """There is no process to look at."""


def of_taskmanager(row: TaskManager, user: User | None) -> Diagnosis:
    """Threads of its own process. Raises NotRunning."""
    if row.state != TaskManagerState.REGISTERED:
        raise NotRunning(f"TaskManager {row.name} does not run")
    return _ask(Diagnosis(kind=Diagnosis.Kind.THREADS, taskmanager=row), user)


def of_jobmanager(row: JobManagerProcess, user: User | None) -> Diagnosis:
    """Threads of a JobManager."""
    return _ask(Diagnosis(kind=Diagnosis.Kind.THREADS, jobmanager=row.name), user)


def of_job(job: Job, kind: Diagnosis.Kind, user: User | None) -> Diagnosis:
    """Of the driver and its Python workers. Raises NotRunning."""
    attempt = (
        job.attempts.filter(number=job.current_attempt or 0, state=AttemptState.RUNNING)
        .select_related("taskmanager")
        .first()
    )
    if attempt is None or attempt.taskmanager is None:
        raise NotRunning("the job has no driver that runs")
    return _ask(Diagnosis(kind=kind, taskmanager=attempt.taskmanager, attempt=attempt), user)


def newest_of_job(job: Job, kind: Diagnosis.Kind) -> Diagnosis | None:
    """The last one that was answered, however old."""
    rows = Diagnosis.objects.filter(attempt__job=job, kind=kind, error="")
    return rows.exclude(answered_at=None).first()


def is_pending(row: Diagnosis) -> bool:
    return row.answered_at is None and timezone.now() - row.asked_at < GIVEN_UP


def error_of(row: Diagnosis) -> str:
    """Why there is no answer and will be none; "" while there may be one, and with one."""
    if row.answered_at is None and not is_pending(row):
        return "nobody answered within a minute; whoever was asked is busy or gone: ask again"
    return row.error


def wait(row: Diagnosis, seconds: float) -> Diagnosis:
    """Until it is answered or `seconds` have passed since it was asked, by whomever; as it is then,
    answered or not."""
    asked = max(0.0, (timezone.now() - row.asked_at).total_seconds())
    until = time.monotonic() + seconds - asked
    while row.answered_at is None and time.monotonic() < until:
        time.sleep(_LOOK_SECONDS)
        try:
            row.refresh_from_db()
        except Diagnosis.DoesNotExist:
            row.answered_at, row.error = timezone.now(), "whoever was asked has been removed"
    return row


def _ask(wanted: Diagnosis, user: User | None) -> Diagnosis:
    """One that is under way, or answered just now, is given instead of a new one."""
    now = timezone.now()
    Diagnosis.objects.filter(asked_at__lt=now - KEPT).delete()
    same = Diagnosis.objects.filter(
        kind=wanted.kind,
        taskmanager=wanted.taskmanager,
        attempt=wanted.attempt,
        jobmanager=wanted.jobmanager,
    )
    under_way = Q(answered_at=None, asked_at__gt=now - GIVEN_UP)
    known = same.filter(under_way | Q(answered_at__gt=now - FRESH, error="")).first()
    if known is not None:
        return known
    oldest = same.values_list("pk", flat=True)[KEPT_EACH - 1 : KEPT_EACH].first()
    if oldest is not None:
        same.filter(pk__lte=oldest).exclude(under_way).delete()
    wanted.asked_by, wanted.asked_at = user, now
    wanted.save(force_insert=True)
    return wanted


# --- who answers ---------------------------------------------------------------------------------


def take(
    *, taskmanager: TaskManager | None = None, jobmanager: str = "", own: bool
) -> Diagnosis | None:
    """The oldest that nobody has begun with; whoever is given it answers it. `own`: of the process
    that asks for it, not of a driver."""
    recent = Q(taken_at=None, asked_at__gt=timezone.now() - GIVEN_UP, attempt__isnull=own)
    rows = Diagnosis.objects.filter(recent, taskmanager=taskmanager, jobmanager=jobmanager)
    for row in rows.select_related("attempt").order_by("pk"):
        mine = Diagnosis.objects.filter(pk=row.pk, taken_at=None).update(taken_at=timezone.now())
        if mine:
            return row
    return None


def answer(row: Diagnosis, found: dict[str, Any]) -> None:
    Diagnosis.objects.filter(pk=row.pk).update(answered_at=timezone.now(), answer=found)


def fail(row: Diagnosis, error: str) -> None:
    Diagnosis.objects.filter(pk=row.pk).update(
        answered_at=timezone.now(), error=storable(error)[:_REASON]
    )


def tree(row: Diagnosis, kind: str) -> dict[str, Any] | None:
    """Of an answered flame graph. None when nothing was seen."""
    found = row.answer.get(kind)
    return found if found and found.get("value") else None


def threads(row: Diagnosis) -> list[dict[str, str]]:
    """[{"name", "text"}] of an answered thread dump."""
    return list(row.answer.get("threads", []))
