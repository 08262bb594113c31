"""TaskManagers as they register, beat, leave and get lost.

A process is an incarnation (pid and start time) of the TaskManager of its name; an older
incarnation finds out by its next heartbeat that it was replaced. Heartbeats carry the database's
time: one clock for all machines.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from jobs import history, signals
from jobs.models import Attempt, Event, Slot, TaskManager
from jobs.states import AttemptState, TaskManagerState, change_state


class Replaced(Exception):
    """Another process has registered under this name; this one must stop."""


def queue_of(name: str) -> str:
    return f"taskmanager.{name}"


def register(
    name: str,
    host: str,
    pid: int,
    slots: int,
    memory_mib: int,
    spark_master: str = "",
    storage: str = "",
) -> TaskManager:
    """A process offers its slots under `name`; slots held by jobs stay held, and a drained one
    stays drained."""
    now = timezone.now()
    values = {
        "host": host,
        "storage": storage,
        "pid": pid,
        "slots": slots,
        "memory_mib": memory_mib,
        "spark_master": spark_master,
        "queue": queue_of(name),
        "started_at": now,
        "last_heartbeat": Now(),
    }
    with transaction.atomic():
        row, created = TaskManager.objects.get_or_create(name=name, defaults=values)
        if created:
            row.entered(TaskManagerState.REGISTERED)
        else:
            _register_again(row, values)
        _offer_slots(row)
        signals.nudge()
    row.refresh_from_db()
    return row


def _register_again(row: TaskManager, values: dict[str, object]) -> None:
    TaskManager.objects.filter(pk=row.pk).update(**values)
    row.slots = int(str(values["slots"]))
    if row.state == TaskManagerState.REGISTERED:
        row.entered(TaskManagerState.REGISTERED)
    else:
        change_state(row, TaskManagerState.REGISTERED)


def _offer_slots(row: TaskManager) -> None:
    """Rows for the slots there are; those beyond go as soon as no job holds them."""
    have = set(row.slot_set.values_list("index", flat=True))
    Slot.objects.bulk_create(
        Slot(taskmanager=row, index=index) for index in range(row.slots) if index not in have
    )
    row.slot_set.filter(index__gte=row.slots, job=None).delete()


def slots() -> QuerySet[Slot]:
    """Those that are offered, and those that a job holds though they no longer are."""
    return Slot.objects.exclude(job=None, index__gte=F("taskmanager__slots"))


def beat(row: TaskManager) -> bool:
    """Say that this incarnation lives; whether it had been counted as lost, or as gone. Raises
    Replaced when another has taken its name."""
    mine = TaskManager.objects.filter(pk=row.pk, pid=row.pid, started_at=row.started_at)
    if not mine.update(last_heartbeat=Now()):
        raise Replaced(f"another process registered as TaskManager {row.name!r}; this one stops")
    row.refresh_from_db()
    if row.state == TaskManagerState.REGISTERED:
        return False
    with transaction.atomic():
        change_state(row, TaskManagerState.REGISTERED)
        signals.nudge()
    return True


def report(row: TaskManager, vitals: Mapping[str, float]) -> None:
    """Say how this incarnation fares."""
    mine = TaskManager.objects.filter(pk=row.pk, pid=row.pid, started_at=row.started_at)
    if mine.update(vitals=dict(vitals)):
        history.write(history.of_taskmanager(row.name), timezone.now(), vitals)


def leave(row: TaskManager) -> None:
    """It stops in order. Drivers it launched run on and are adopted when it comes back; it is lost
    when it does not, for as long after this as after any word of it."""
    row.refresh_from_db()
    if row.state == TaskManagerState.REGISTERED:
        with transaction.atomic():
            change_state(row, TaskManagerState.LEFT)
            TaskManager.objects.filter(pk=row.pk).update(last_heartbeat=Now())
            signals.nudge()


def drain(row: TaskManager, user: User | None = None) -> bool:
    """Give it no new jobs, and have those that it has move to others as soon as these have room;
    until then they run on. False when it is drained already."""
    return _set_drained(row, user, timezone.now(), "drained")


def undrain(row: TaskManager, user: User | None = None) -> bool:
    """Let it have jobs again. Those that were told to leave do so. False when it may already."""
    return _set_drained(row, user, None, "offers its slots again")


def _set_drained(
    row: TaskManager, user: User | None, at: datetime.datetime | None, words: str
) -> bool:
    with transaction.atomic():
        rows = TaskManager.objects.filter(pk=row.pk, drained_at__isnull=at is not None)
        if not rows.update(drained_at=at):
            return False
        who = user.get_username() if user is not None else "the platform"
        Event.objects.create(
            kind=Event.Kind.TASKMANAGER,
            message=f"TaskManager {row.name}: {words}, asked for by {who}",
            detail={"taskmanager": row.name, "by": who},
        )
        signals.nudge()
    row.drained_at = at
    return True


def awaited() -> list[TaskManager]:
    """Those that are to be heard of: that are registered, or left with drivers running."""
    live = Attempt.objects.filter(taskmanager=OuterRef("pk"), state__in=AttemptState.live())
    left = Q(Exists(live), state=TaskManagerState.LEFT)
    return list(TaskManager.objects.filter(Q(state=TaskManagerState.REGISTERED) | left))


def lose(row: TaskManager) -> bool:
    """Count it as lost, unless it was heard of since `row` was read."""
    with transaction.atomic():
        # Not "equal": databases keep less of a second than others.
        unheard = TaskManager.objects.filter(pk=row.pk, last_heartbeat__lte=row.last_heartbeat)
        return unheard.exists() and change_state(row, TaskManagerState.LOST)


def silence(row: TaskManager) -> float:
    """Seconds since its last heartbeat, by the clock that it was written by."""
    now, beat = TaskManager.objects.values_list(Now(), "last_heartbeat").get(pk=row.pk)
    return float((now - beat).total_seconds())
