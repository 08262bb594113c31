"""TaskManagers as they register, beat, leave and get lost.

A process is an incarnation (pid and start time) of the TaskManager of its name; an older
incarnation finds out by its next heartbeat that it was replaced.
"""

from __future__ import annotations

import datetime

from django.db import transaction
from django.utils import timezone

from jobs import signals
from jobs.models import Slot, TaskManager
from jobs.states import TaskManagerState, change_state


class Replaced(Exception):
    """Another process has registered under this name; this one must stop."""


def queue_of(name: str) -> str:
    return f"taskmanager.{name}"


def register(name: str, host: str, pid: int, slots: int, memory_mib: int) -> TaskManager:
    """A process offers its slots under `name`; slots held by jobs stay held."""
    now = timezone.now()
    values = {
        "host": host,
        "pid": pid,
        "slots": slots,
        "memory_mib": memory_mib,
        "queue": queue_of(name),
        "started_at": now,
        "last_heartbeat": now,
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


def beat(row: TaskManager) -> None:
    """Say that this incarnation lives. Raises Replaced when another has taken its name."""
    now = timezone.now()
    mine = TaskManager.objects.filter(pk=row.pk, pid=row.pid, started_at=row.started_at)
    if not mine.update(last_heartbeat=now):
        raise Replaced(f"another process registered as TaskManager {row.name!r}; this one stops")
    row.refresh_from_db()
    if row.state != TaskManagerState.REGISTERED:  # counted as lost while it was only slow
        with transaction.atomic():
            change_state(row, TaskManagerState.REGISTERED)
            signals.nudge()


def leave(row: TaskManager) -> None:
    """It stops in order. Drivers it launched run on and are adopted when it comes back."""
    row.refresh_from_db()
    if row.state == TaskManagerState.REGISTERED:
        with transaction.atomic():
            change_state(row, TaskManagerState.LEFT)
            signals.nudge()


def silent_since(deadline: datetime.datetime) -> list[TaskManager]:
    """Registered ones last heard of before `deadline`."""
    return list(
        TaskManager.objects.filter(state=TaskManagerState.REGISTERED, last_heartbeat__lt=deadline)
    )


def lose(row: TaskManager, deadline: datetime.datetime) -> bool:
    """Count it as lost, unless it was heard of meanwhile."""
    with transaction.atomic():
        if not TaskManager.objects.filter(pk=row.pk, last_heartbeat__lt=deadline).exists():
            return False
        return change_state(row, TaskManagerState.LOST)
