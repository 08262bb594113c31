"""TaskManagers and their slots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import models

from jobs import states
from jobs.models.event import Event
from jobs.states import State, TaskManagerState


class TaskManager(models.Model):
    """A process that runs drivers in its slots. `pid` and `started_at` say which incarnation."""

    name = models.CharField(max_length=100, unique=True)
    host = models.CharField(max_length=255)
    #: Where the files of its drivers are: `workers.storage`.
    storage = models.CharField(max_length=32, blank=True)
    pid = models.PositiveIntegerField()
    slots = models.PositiveIntegerField()
    memory_mib = models.PositiveIntegerField()
    state = models.CharField(
        max_length=12, choices=TaskManagerState.choices(), default=TaskManagerState.REGISTERED.value
    )
    queue = models.CharField(max_length=120)
    #: The Spark cluster that its jobs run on; "" = in their drivers, `local[slots]`.
    spark_master = models.CharField(max_length=300, blank=True)
    #: Since when it gets no new jobs and gives those away that it has; None = it does not.
    drained_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField()
    last_heartbeat = models.DateTimeField()
    #: How it fares, under Flink's names, as of about its last heartbeat; {} = not known.
    vitals = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["name"]
        verbose_name = "TaskManager"

    def __str__(self) -> str:
        return self.name

    def transitions(self) -> Mapping[State, frozenset[State]]:
        return states.TASKMANAGER_TRANSITIONS

    def entering(self, target: State) -> dict[str, Any]:
        return {}

    def entered(self, seen: State) -> None:
        Event.objects.create(
            kind=Event.Kind.TASKMANAGER,
            message=f"TaskManager {self.name}: {TaskManagerState(self.state).label.lower()}",
            detail={"taskmanager": self.name, "from": seen, "to": self.state},
        )

    @property
    def state_info(self) -> TaskManagerState:
        return TaskManagerState(self.state)


class Slot(models.Model):
    """One n-th of a TaskManager, and one unit of parallelism of the job that holds it."""

    taskmanager = models.ForeignKey(TaskManager, models.CASCADE, related_name="slot_set")
    index = models.PositiveIntegerField()
    job = models.ForeignKey("Job", models.SET_NULL, null=True, blank=True, related_name="slots")
    allocated_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["taskmanager", "index"]
        constraints = [
            models.UniqueConstraint(fields=["taskmanager", "index"], name="one_slot_per_index")
        ]

    def __str__(self) -> str:
        return f"{self.taskmanager}/{self.index}"
