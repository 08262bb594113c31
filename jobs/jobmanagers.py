"""JobManagers as they give signs of life. Which one leads is the lease's to say: `jobs.leases`."""

from __future__ import annotations

import datetime
from collections.abc import Mapping

from django.db.models.functions import Now
from django.utils import timezone

from jobs import history, leases
from jobs.models import JobManagerProcess, Lease

#: One that was not heard of for so long is forgotten; it is shown as gone before.
FORGOTTEN = datetime.timedelta(days=1)
#: One that was not heard of for so long is gone.
SILENT = datetime.timedelta(seconds=35)


def report(
    name: str,
    host: str,
    pid: int,
    started_at: datetime.datetime,
    vitals: Mapping[str, float],
) -> None:
    """It lives, and fares so."""
    JobManagerProcess.objects.update_or_create(
        name=name,
        defaults={
            "host": host,
            "pid": pid,
            "started_at": started_at,
            "last_heartbeat": Now(),
            "vitals": dict(vitals),
        },
    )
    old = timezone.now() - FORGOTTEN
    JobManagerProcess.objects.filter(last_heartbeat__lt=old).delete()
    history.write(history.of_jobmanager(name), timezone.now(), vitals)


def leave(name: str) -> None:
    """It ended in order."""
    JobManagerProcess.objects.filter(name=name).delete()


def leader() -> JobManagerProcess | None:
    """None while nobody leads, or the leader has not reported yet."""
    lease = Lease.objects.filter(name=leases.JOBMANAGER, expires_at__gt=timezone.now()).first()
    return JobManagerProcess.objects.filter(name=lease.holder).first() if lease else None


def is_silent(row: JobManagerProcess, now: datetime.datetime) -> bool:
    return now - row.last_heartbeat > SILENT
