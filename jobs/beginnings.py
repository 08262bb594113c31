"""What a job begins with: nothing, or a savepoint, checked before the job is stored."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

from django.contrib.auth.models import User

from headrace.wire import savepoint
from headrace.wire.savepoint import BadSavepoint, ClaimMode, Manifest, Restore
from jobs import options, permissions, savepoints
from jobs.models import Beginning, Job, Savepoint, Team
from jobs.roles import Role
from jobs.states import SavepointState

#: Flink's keys, newest name first.
PATH = ("execution.state-recovery.path", "execution.savepoint.path")
CLAIM_MODE = ("execution.state-recovery.claim-mode", "execution.savepoint-restore-mode")
IGNORE_UNCLAIMED = (
    "execution.state-recovery.ignore-unclaimed-state",
    "execution.savepoint.ignore-unclaimed-state",
)


def from_configuration(configuration: Mapping[str, str]) -> Restore | None:
    """What the configuration asks for. Raises InvalidOption."""
    path = _first(configuration, PATH)
    if not path:
        return None
    ignore = _first(configuration, IGNORE_UNCLAIMED).strip().lower()
    return wanted(path, _first(configuration, CLAIM_MODE), allow_lost=ignore == "true")


def wanted(
    path: str, claim_mode: str = "", *, allow_lost: bool = False, beside: bool = False
) -> Restore:
    """Raises InvalidOption for a claim mode that is none."""
    mode = (claim_mode or ClaimMode.NO_CLAIM).strip().upper()
    if mode not in set(ClaimMode):
        known = " or ".join(ClaimMode)
        raise options.InvalidOption(f"claim mode {claim_mode!r} is not known; it is {known}")
    return Restore(path.strip(), mode, allow_lost, beside)


def check(restore: Restore) -> Manifest | None:
    """Refuse now what the driver would refuse later; it verifies every byte before it begins. None
    for a savepoint of this cluster that only TaskManagers reach. Raises InvalidOption."""
    try:
        directory = savepoint.locate(restore.path)
        row = known(restore.path)
        if row is not None:
            _check_whole(row)
            _check_others(row, restore)
        if row is not None and not directory.exists():
            return None
        manifest = savepoint.verify(directory, content=False)
    except BadSavepoint as error:
        raise options.InvalidOption(str(error)) from error
    if manifest.drained:
        raise options.InvalidOption(
            f"the savepoint at {directory} was taken with drain: all windows and timers of its job "
            "have fired, and whatever came would be late. Take one without drain to go on from"
        )
    return manifest


def known(path: str) -> Savepoint | None:
    """This cluster's savepoint at a path as users write it, whichever way that leads there. Raises
    BadSavepoint for what is no path."""
    directory = savepoint.locate(path)
    row = Savepoint.objects.filter(path__in=[str(directory), os.path.normpath(directory)]).first()
    if row is not None:
        return row
    with contextlib.suppress(BadSavepoint, OSError):  # none here, or it was moved
        there = Savepoint.objects.filter(pk=savepoint.read(directory).savepoint_id).first()
        if there is not None and directory.samefile(there.path):
            return there
    return None


def check_team(
    restore: Restore, row: Savepoint | None, user: User | None, team: Team | None
) -> None:
    """The state of another team's job is that team's: begun with by whom sees the job, claimed (it
    is removed then) by whom may operate it. `user`: None for the platform itself. Raises
    InvalidOption, as for a savepoint that there is not."""
    whose = row.job.team_id if row is not None and row.job is not None else None
    if row is None or user is None or whose == (team.pk if team is not None else None):
        return
    least = Role.OPERATOR if restore.claim_mode == ClaimMode.CLAIM else Role.VIEWER
    if not permissions.is_at_least(user, least, whose):
        raise options.InvalidOption(
            f"the savepoint at {restore.path} is of a job of another team; beginning with it needs "
            f"the role {least.label} there"
        )


def keep(job: Job, restore: Restore, row: Savepoint | None) -> None:
    """Within the transaction that stores the job. `row`: as `known` answers. Raises InvalidOption
    when another job has claimed it since it was checked."""
    if row is not None:
        _check_still(row, restore)
    Beginning.objects.create(
        job=job,
        path=row.path if row is not None else str(savepoint.locate(restore.path)),
        savepoint=row,
        claim_mode=restore.claim_mode,
        allow_non_restored_state=restore.allow_non_restored_state,
        beside=restore.beside,
    )


def of(job: Job) -> Restore | None:
    """What the job's driver begins with, unless it has begun before. None also once it has gone on
    in the place of another version, whose checkpoints may be gone by now."""
    row = Beginning.objects.filter(job=job).first()
    if row is None or (row.instead_of and job.progressed_at is not None):
        return None
    how = (row.claim_mode, row.allow_non_restored_state, row.beside, row.instead_of)
    return Restore(row.path, *how)


def _check_still(row: Savepoint, restore: Restore) -> None:
    """From here to the end of the transaction nobody else can begin with it."""
    locked = Savepoint.objects.select_for_update().get(pk=row.pk)
    try:
        _check_whole(locked)
        _check_others(locked, restore)
    except BadSavepoint as error:
        raise options.InvalidOption(str(error)) from error


def _check_whole(row: Savepoint) -> None:
    """Raises BadSavepoint when it is not there yet, or not for long."""
    if row.state != SavepointState.COMPLETED:
        raise BadSavepoint(f"the savepoint at {row.path} is {row.state_info.label.lower()}")


def _check_others(row: Savepoint, restore: Restore) -> None:
    """A job that claims a savepoint removes it: nobody else may need it. Raises BadSavepoint."""
    if restore.claim_mode == ClaimMode.CLAIM and (why := savepoints.needed_by(row)):
        raise BadSavepoint(f"the savepoint at {row.path} cannot be claimed: {why}")
    first = savepoints.to_begin_with(row).filter(claim_mode=ClaimMode.CLAIM.value).first()
    if first is not None:
        raise BadSavepoint(
            f"the savepoint at {row.path} is removed as soon as job {first.job.name}, which has "
            "claimed it, has a checkpoint of its own; begin with one of that job"
        )


def _first(configuration: Mapping[str, str], keys: tuple[str, ...]) -> str:
    return next((configuration[key] for key in keys if configuration.get(key)), "")
