"""A job goes from one version to another, through a savepoint.

    STOPPING   asked for, and the savepoint that ends the version before with it     `ask`
    STARTING   the savepoint is complete: the job starts anew, as the new version    `turn`
    DONE       the new version runs
    REVERTING  it did not start: the job starts anew, as the version before, from where that stopped
    REVERTED   the version before runs again
    FAILED     there was no savepoint, or the job ended: its state says how it goes on

The JobManager decides each step (`workers.upgrading`) and writes it here, the upgrade's state and
what the job is from then on at once: whoever leads after it was killed finds one or the other.

The new version has a directory of checkpoints of its own, so that neither version meets what the
other has left half done. The one before goes on in its own, which is what the savepoint is a copy
of: the way back needs no savepoint, unless its configuration has had the checkpoints removed when
it stopped. There is a way back for as long as the new version has made nothing visible:
afterwards the version before would write it a second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from headrace.wire.savepoint import ClaimMode
from jobs import actions, attempts, beginnings, retention, savepoints, signals, versions
from jobs.models import Beginning, Event, Job, JobVersion, Savepoint, Slot, Upgrade
from jobs.states import JobState, TaskManagerState, UpgradeState, change_state

OPEN = tuple(UpgradeState.live())


class NoSuchVersion(Exception):
    """The job has no version of that number."""


class _ChangedMeanwhile(Exception):
    """Undoes the transaction."""


def ask(
    job: Job,
    user: User | None = None,
    *,
    version: int | None = None,
    entry: Path | tuple[bytes, str] | None = None,
    arguments: Sequence[str] | None = None,
    parallelism: int | None = None,
    settings: Mapping[str, str | None] | None = None,
    reason: str = "",
    directory: str = "",
    allow_non_restored_state: bool = False,
) -> Upgrade:
    """Want the job to go on as another version: as `version` (default: the current one) with what
    else is given in place of its own; of `settings`, None takes a key out.

    Raises Conflict when the job does not run or is on such a way already, InvalidJob for what
    cannot be submitted, InvalidOption, NoSuchVersion. Nothing was stopped then."""
    job.refresh_from_db()
    current, basis = of(job, job.version), of(job, version or job.version)
    made = _changed(job, basis, entry, arguments, parallelism, settings)
    if made == versions.content(current):
        raise actions.InvalidJob(
            f"nothing would change: that is version {current.number}, the current one"
        )
    _check_room(job, made)
    with transaction.atomic():
        if _open(job) is not None:
            raise actions.Conflict("an upgrade of the job is under way; wait for its end")
        known = versions.content(basis) == made
        after = basis if known else versions.keep(job, made, user, reason)
        row = savepoints.trigger(
            job,
            user,
            directory=directory,
            reason=reason or f"upgrade to version {after.number}",
            then=Savepoint.Then.FINISH,
        )
        by = row.requested_by_name
        return begun(
            job,
            current,
            after,
            row,
            f"upgrade to version {after.number} by {by}",
            allow_non_restored_state=allow_non_restored_state,
        )


def of(job: Job, number: int) -> JobVersion:
    """Raises NoSuchVersion."""
    found = job.versions.filter(number=number).first()
    if found is None:
        raise NoSuchVersion(f"the job has no version {number}")
    return found


def under_way(jobs: Iterable[Job]) -> dict[str, Upgrade]:
    """Those of the jobs that are on such a way, by the job's id."""
    wanted = {job.pk for job in jobs}
    rows = Upgrade.objects.filter(state__in=OPEN).select_related("before", "after", "savepoint")
    return {row.job_id: row for row in rows if row.job_id in wanted}


def turn(upgrade: Upgrade, job: Job, target: UpgradeState, reason: str = "") -> bool:
    """Take the step, and have the job start anew where that belongs to it; False, and nothing
    changed, when upgrade or job are no longer as they were read."""
    seen = upgrade.state_info
    fields: dict[str, Any] = {"failure": reason or upgrade.failure}
    if target is UpgradeState.STARTING:
        fields["deadline"] = versions.deadline(upgrade.after.configuration)
        fields["checkpoint_name"] = "" if _removed(job) else job.checkpoint_dir.name
    try:
        with transaction.atomic():
            upgrade.failure = fields["failure"]
            if not change_state(upgrade, target, **fields):
                raise _ChangedMeanwhile
            _start_anew(upgrade, job, seen, target)
            signals.nudge()
    except _ChangedMeanwhile:
        return False
    return True


def close(job: Job, reason: str) -> None:
    """The job has ended for good on its way, within the transaction that says so."""
    upgrade = _open(job)
    if upgrade is not None:
        upgrade.failure = ": ".join(filter(None, (reason, upgrade.failure)))
        change_state(upgrade, UpgradeState.FAILED, failure=upgrade.failure)


def left_over(job: Job) -> list[Path]:
    """Directories of checkpoints that the job went on from before its last upgrade, or tried to;
    none before it has one of its own since, as its state may be there alone, unless its state is
    gone for good. A later upgrade's are never among them, however old `job` is."""
    gone = job.checkpoints_removed and job.state_info.is_terminal
    if job.progressed_at is None and not gone:
        return []
    ended = list(Upgrade.objects.filter(job=job).only("job", "state"))
    if not all(upgrade.state_info.is_terminal for upgrade in ended):
        return []
    names = {name for each in ended for name in (job.pk, _forward(each), _back(each))}
    return [job.checkpoint_dir.parent / name for name in names - {job.checkpoint_dir.name}]


def _changed(
    job: Job,
    basis: JobVersion,
    entry: Path | tuple[bytes, str] | None,
    arguments: Sequence[str] | None,
    parallelism: int | None,
    settings: Mapping[str, str | None] | None,
) -> versions.Content:
    """The version with what is given, checked and stored."""
    made = versions.content(basis)
    given = {**made.configuration, **(settings or {})}
    merged = {key: str(value) for key, value in given.items() if value is not None}
    wish = actions.check(
        job.name,
        made.artifact if entry is None else entry,
        made.arguments if arguments is None else arguments,
        made.parallelism if parallelism is None else parallelism,
        # what its first version began with may be gone by now
        {key: value for key, value in merged.items() if key not in beginnings.PATH},
    )
    versions.start_timeout_ms(wish.configuration)
    return versions.Content(
        # the same program under another name is the same program
        made.artifact if wish.artifact.sha256 == made.artifact.sha256 else wish.artifact,
        tuple(wish.arguments),
        wish.parallelism,
        merged,
    )


def _check_room(job: Job, made: versions.Content) -> None:
    """More slots than there can be are refused before anything is stopped. That they are on one
    TaskManager where they have to be, only the start shows."""
    if made.parallelism <= job.slots_wanted:
        return
    offered = Slot.objects.filter(
        taskmanager__state=TaskManagerState.REGISTERED,
        taskmanager__drained_at=None,
        index__lt=F("taskmanager__slots"),
    )
    room = offered.filter(job=None).count() + offered.filter(job=job).count()
    if made.parallelism > room:
        raise actions.Conflict(
            f"the new version needs {made.parallelism} slots, and {room} are free or its own; "
            "nothing was stopped. Start another TaskManager, or end another job first"
        )


def begun(
    job: Job,
    before: JobVersion,
    after: JobVersion,
    row: Savepoint,
    told: str,
    *,
    allow_non_restored_state: bool = False,
) -> Upgrade:
    """The first step, within the transaction that asks for its savepoint. Raises Conflict when
    somebody else takes one at the same moment."""
    try:
        with transaction.atomic():
            upgrade = Upgrade.objects.create(
                job=job,
                before=before,
                after=after,
                savepoint=row,
                allow_non_restored_state=allow_non_restored_state,
                requested_by=row.requested_by,
                requested_by_name=row.requested_by_name,
            )
    except IntegrityError as error:
        raise actions.Conflict("an upgrade of the job is under way; wait for its end") from error
    verb, by = "move" if upgrade.moves else "upgrade", row.requested_by_name
    detail = {"verb": verb, "by": by, "upgrade": upgrade.pk, "version": after.number}
    Event.objects.create(job=job, kind=Event.Kind.ACTION, message=told, detail=detail)
    return upgrade


def _start_anew(upgrade: Upgrade, job: Job, seen: UpgradeState, target: UpgradeState) -> None:
    """What the job is from this step on. Raises _ChangedMeanwhile."""
    match seen, target:
        case UpgradeState.STOPPING, UpgradeState.FAILED if upgrade.moves:
            attempts.free_kept(job)
        case UpgradeState.STOPPING, UpgradeState.STARTING:
            _become(upgrade, job, upgrade.after, _forward(upgrade))
        case UpgradeState.STARTING, UpgradeState.REVERTING:
            back = upgrade.checkpoint_name or _back(upgrade)
            _become(upgrade, job, upgrade.before, back, instead_of=_forward(upgrade))
        case UpgradeState.REVERTING, UpgradeState.DONE:
            _become(upgrade, job, upgrade.after, _forward(upgrade))


def _become(
    upgrade: Upgrade, job: Job, version: JobVersion, directory: str, instead_of: str = ""
) -> None:
    """No attempt of the job is under way, or its end is acted on by this."""
    columns = {
        **versions.columns(version),
        "checkpoint_name": directory,
        "checkpoints_removed": False,
        "current_attempt": None,
        "restart_of": None,
        "restart_at": timezone.now(),
        "restarts_in_a_row": 0,
        "failure_times": [],
    }
    if upgrade.moves:  # its program says the same as before
        del columns["slots_needed"]
    if job.state == JobState.RESTARTING:  # it waits already, as another version
        seen = Job.objects.filter(pk=job.pk, state=job.state, version=job.version)
        changed = bool(seen.update(**columns))
    else:
        changed = change_state(job, JobState.RESTARTING, **columns)
    if not changed:
        raise _ChangedMeanwhile
    # A version that runs again in its own directory goes on from what is there.
    lost = upgrade.allow_non_restored_state and version == upgrade.after
    Beginning.objects.update_or_create(
        job=job,
        defaults={
            "path": upgrade.savepoint.path,
            "savepoint": upgrade.savepoint,
            "claim_mode": ClaimMode.NO_CLAIM.value,
            "allow_non_restored_state": lost,
            "beside": False,
            "instead_of": str(job.checkpoint_dir.parent / instead_of) if instead_of else "",
        },
    )


def _removed(job: Job) -> bool:
    """Its checkpoints, when it stopped with the savepoint."""
    return job.checkpoints_removed or retention.removed_when_finished(job.checkpointing)


def _open(job: Job) -> Upgrade | None:
    rows = Upgrade.objects.filter(job=job, state__in=OPEN)
    return rows.select_related("before", "after", "savepoint").first()


def _forward(upgrade: Upgrade) -> str:
    return f"{upgrade.job_id}-{upgrade.pk}"


def _back(upgrade: Upgrade) -> str:
    return f"{_forward(upgrade)}-back"
