"""The attempts of jobs that are under way, or whose end is still to be acted on."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import F

from jobs.models import Attempt, Job
from jobs.states import AttemptState


def attempts_of(jobs: Sequence[Job]) -> dict[str, Attempt]:
    """The current attempt of each. Nearly all are live, and these are found by their state: for
    hundreds of jobs one by one, a database would rather read all attempts that ever were."""
    current = {(job.pk, job.current_attempt) for job in jobs if job.current_attempt is not None}
    every = Attempt.objects.order_by().prefetch_related("taskmanager")  # many share one
    live = every.filter(state__in=AttemptState.live())
    found = {row.job_id: row for row in live if (row.job_id, row.number) in current}
    if ended := [job for job, _ in current if job not in found]:
        rows = every.filter(job__in=ended, number=F("job__current_attempt"))
        found |= {row.job_id: row for row in rows}
    return found


def attempt_of(job: Job) -> Attempt | None:
    if job.current_attempt is None:
        return None
    rows = job.attempts.filter(number=job.current_attempt)
    return rows.select_related("taskmanager").first()
