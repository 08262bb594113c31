"""The waiting jobs and the slots there are, as the tables have them, for `workers.slots`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import structlog
from django.conf import settings
from django.db.models import F, OuterRef, Q, Subquery

from jobs import moves, options, placement
from jobs.models import Attempt, Job, Slot, TaskManager
from jobs.states import TaskManagerState
from workers import slots
from workers.slots import Balance, Grant, Refusal

log = structlog.get_logger(__name__)

#: {TaskManager: ids of slots}
Slots = dict[int, tuple[int, ...]]


def allocate(jobs: Sequence[Job]) -> dict[str, Grant | Refusal]:
    """What each of the jobs gets that wait for slots, or are to move off a TaskManager that is
    drained. Nothing is written."""
    if not jobs:
        return {}
    registered = list(TaskManager.objects.filter(state=_OFFERING["state"]).order_by("pk"))
    free, held = _slots(jobs)
    offers = [
        slots.Offer(tm.pk, tm.name, tm.slots, free.get(tm.pk, ()), tm.spark_master)
        for tm in registered
        if tm.drained_at is None
    ]
    before = _last(jobs)
    requests, unplaceable = _requests(jobs, held, before, registered)
    spread = placement.spreads_out(settings.HEADRACE_PROPERTIES)
    drained = {tm.pk: tm.name for tm in registered if tm.drained_at is not None}
    balance = Balance.SLOTS if spread else Balance.NONE
    return unplaceable | slots.allocate(requests, offers, balance, drained)


def with_room(jobs: Sequence[Job]) -> set[str]:
    """Those that hold all the slots that they need on TaskManagers that are not drained."""
    held = _slots(jobs)[1] if jobs else {}
    counts = {job: sum(map(len, by_taskmanager.values())) for job, by_taskmanager in held.items()}
    return {job.pk for job in jobs if counts.get(job.pk, 0) >= job.slots_wanted}


def to_leave(jobs: Sequence[Job]) -> set[str]:
    """Those that hold a slot of a TaskManager that is drained."""
    there = Slot.objects.exclude(taskmanager__drained_at=None).exclude(job=None)
    held = set(there.order_by().values_list("job", flat=True))
    return {job.pk for job in jobs if job.pk in held}


def movable(job: Job) -> bool:
    """Whether all that it goes on from is where every machine sees it."""
    return _is_shared(job.checkpoint_dir) and _is_shared(Path(job.entry))


def _is_shared(path: Path) -> bool:
    return any(path.is_relative_to(shared) for shared in settings.HEADRACE_SHARED_STORAGE)


_OFFERING = {"state": TaskManagerState.REGISTERED, "drained_at": None}


def _slots(jobs: Sequence[Job]) -> tuple[Slots, dict[str, Slots]]:
    """Those that no job holds, and those that each of the jobs holds; of what is offered."""
    free: defaultdict[int, list[int]] = defaultdict(list)
    held: defaultdict[str, defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    rows = Slot.objects.filter(
        Q(job=None) | Q(job__in=[job.pk for job in jobs]),
        index__lt=F("taskmanager__slots"),
        **{f"taskmanager__{name}": value for name, value in _OFFERING.items()},
    )
    for pk, taskmanager, job in rows.order_by("taskmanager", "index").values_list(
        "pk", "taskmanager_id", "job_id"
    ):
        (free if job is None else held[job])[taskmanager].append(pk)
    return _tuples(free), defaultdict(dict, {job: _tuples(ids) for job, ids in held.items()})


def _tuples(found: dict[int, list[int]]) -> Slots:
    return {taskmanager: tuple(ids) for taskmanager, ids in found.items()}


def _last(jobs: Sequence[Job]) -> dict[str, Attempt]:
    """The last attempt of each."""
    last = Attempt.objects.filter(job=OuterRef("pk")).order_by("-number")
    rows = dict(
        Job.objects.filter(pk__in=[job.pk for job in jobs])
        .order_by()
        .annotate(last=Subquery(last.values("pk")[:1]))
        .values_list("pk", "last")
    )
    where = Attempt.objects.only("host", "state", "storage", "taskmanager__host").order_by()
    found = where.select_related("taskmanager").in_bulk({pk for pk in rows.values() if pk})
    return {job: found[pk] for job, pk in rows.items() if pk in found}


def _requests(
    jobs: Sequence[Job],
    held: Mapping[str, Slots],
    before: Mapping[str, Attempt],
    registered: Sequence[TaskManager],
) -> tuple[list[slots.Request], dict[str, Grant | Refusal]]:
    """And those that cannot ask: the trouble of one job, as settings that cannot be used any more,
    stays its own."""
    requests: list[slots.Request] = []
    refused: dict[str, Grant | Refusal] = {}
    carried, unsaved = moves.carried(jobs, before), moves.unsaved(before.values())
    for job in jobs:
        try:
            last = before.get(job.pk)
            bound = last is not None and _is_bound(
                job, last, carried.get(job.pk), may_save=last.pk not in unsaved
            )
            requests.append(_request(job, held[job.pk], last, bound, registered))
        except Exception as error:
            log.exception("job not placed", job=job.pk)
            refused[job.pk] = Refusal(f"cannot be placed: {error}", fits=False)
    return requests, refused


def _request(
    job: Job,
    held: Slots,
    before: Attempt | None,
    bound: bool,
    registered: Sequence[TaskManager],
) -> slots.Request:
    own = job.placement
    only: frozenset[int] | None = None
    if before is not None and bound:
        only = frozenset(tm.pk for tm in registered if _sees_files(tm, before))
    since = job.queued_at or job.state_changed_at
    return slots.Request(
        job=job.pk,
        slots=job.slots_wanted,
        priority=own.priority,
        since=since.timestamp(),
        holds=held,
        previous=before.taskmanager_id if before is not None else None,
        anywhere=bool(own.spark_master),
        only=only,
        only_why=f"on {_host(before)}, where its files are" if only is not None and before else "",
    )


def _is_bound(job: Job, before: Attempt, carried: Path | None, *, may_save: bool) -> bool:
    """Whether it can only go on where the files of its last attempt are. A savepoint that it
    begins with, or is to leave with, is enough to go elsewhere."""
    if movable(job) or not _host(before):
        return False
    savepoint = carried or (moves.place(job, before) if may_save else None)
    return savepoint is None or not (_is_shared(savepoint) and _is_shared(Path(job.entry)))


def _sees_files(taskmanager: TaskManager, before: Attempt) -> bool:
    return before.is_on(taskmanager) if before.storage else taskmanager.host == _host(before)


def _host(before: Attempt) -> str:
    """Attempts of earlier versions have none of their own."""
    return before.host or (before.taskmanager.host if before.taskmanager is not None else "")


def overdue(job: Job, now: datetime) -> bool:
    """Whether it has waited for longer than `slot.request.timeout`."""
    waited = (now - job.state_changed_at).total_seconds() * 1000
    try:
        return waited > job.placement.timeout_ms
    except options.InvalidOption:
        return False
