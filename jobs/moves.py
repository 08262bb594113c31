"""A job leaves a TaskManager that is drained, through a savepoint.

It is stopped with one and begins anew with it, as the same version, where slots are kept for it:
an upgrade that changes nothing else (`jobs.upgrades`). So it also gets where its checkpoints are
not seen, when savepoints are. An attempt of which none could be made leaves from its checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from django.db import transaction
from django.db.models import F

from jobs import options, savepoints, upgrades
from jobs.models import Attempt, Job, Savepoint, Upgrade
from jobs.states import AttemptState, UpgradeState


def ask(job: Job, attempt: Attempt) -> bool:
    """Stop it with a savepoint, to go on elsewhere. False when none can be made: there is no place
    for it. Raises Conflict, of savepoints or of actions, while somebody else is stopping it."""
    where = attempt.taskmanager.name if attempt.taskmanager is not None else "where it runs"
    told = f"moves off {where}, which is drained, through a savepoint"
    current = upgrades.of(job, job.version)
    try:
        with transaction.atomic():
            row = savepoints.trigger(job, reason=told, then=Savepoint.Then.FINISH)
            upgrades.begun(job, current, current, row, told)
    except options.InvalidOption:
        return False
    return True


def unsaved(attempts: Iterable[Attempt]) -> set[int]:
    """Those of which no savepoint could be made to leave with, by their keys."""
    rows = Upgrade.objects.filter(
        savepoint__attempt__in=[attempt.pk for attempt in attempts],
        state=UpgradeState.FAILED,
        before=F("after"),
    )
    return {pk for pk in rows.values_list("savepoint__attempt", flat=True) if pk is not None}


def place(job: Job, attempt: Attempt) -> Path | None:
    """Below which it can have a savepoint to leave with; None when it has to do without."""
    if attempt.state != AttemptState.RUNNING:
        return None
    try:
        return savepoints.directory_of(job)
    except options.InvalidOption:
        return None


def carried(jobs: Iterable[Job], last: Mapping[str, Attempt]) -> dict[str, Path]:
    """Jobs that are to begin with a savepoint, to its path; their last attempts are those that made
    them, so that no checkpoint of a later one can be anywhere."""
    rows = Upgrade.objects.filter(
        job__in=[job.pk for job in jobs], state=UpgradeState.STARTING
    ).select_related("savepoint")
    return {
        row.job_id: Path(row.savepoint.path)
        for row in rows
        if row.job_id in last and row.savepoint.attempt_id == last[row.job_id].pk
    }
