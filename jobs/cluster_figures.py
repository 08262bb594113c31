"""The latest figures of TaskManagers, JobManagers and the cluster, under Flink's names.

An empty dict says that nothing is known. Memory is in bytes, CPU time in nanoseconds, CPU load is
a share of the machine's cores from 0 to 1: docs/metrics-export.md.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Count, F, Q

from jobs import jobmanagers
from jobs.models import Job, JobManagerProcess, Slot, TaskManager
from jobs.states import JobState, TaskManagerState

Figures = dict[str, float]

#: States of jobs that Flink counts as running.
RUNNING = (JobState.RUNNING,)


def of_taskmanager(row: TaskManager) -> Figures:
    """As of its last heartbeat; nothing once it is lost or has left."""
    return dict(row.vitals) if row.state == TaskManagerState.REGISTERED else {}


def of_taskmanagers(rows: Iterable[TaskManager]) -> dict[str, Figures]:
    """By name, without a query."""
    return {row.name: of_taskmanager(row) for row in rows}


def of_jobmanager(leader: JobManagerProcess | None = None) -> Figures:
    """How the leader fares, and what Flink's JobManager says of the cluster. `leader`: if the
    caller has asked already."""
    row = leader or jobmanagers.leader()
    return {**(row.vitals if row is not None else {}), **of_cluster()}


def of_cluster() -> Figures:
    registered = TaskManager.objects.filter(state=TaskManagerState.REGISTERED)
    offered = Slot.objects.filter(
        taskmanager__state=TaskManagerState.REGISTERED, index__lt=F("taskmanager__slots")
    )
    free = Q(job=None, taskmanager__drained_at=None)
    slots = offered.aggregate(all=Count("pk"), free=Count("pk", filter=free))
    return {
        "numRegisteredTaskManagers": registered.count(),
        "numRunningJobs": Job.objects.filter(state__in=RUNNING).count(),
        "taskSlotsAvailable": slots["free"],
        "taskSlotsTotal": slots["all"],
    }
