"""/taskmanagers: who offers slots, which jobs sit in them, and what they write.

Their ids are their names. Of memory there is one kind here: what a TaskManager gives its drivers;
it is told as managed memory. What is not known is -1.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.db.models import Prefetch, QuerySet
from django.http import StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import cluster_figures, diagnostics, log_files, permissions, taskmanagers
from jobs.flink import (
    answers,
    cluster_jobmanager,
    cluster_logs,
    metrics,
    reading,
    thread_dumps,
    times,
)
from jobs.models import Slot, TaskManager
from jobs.states import TaskManagerState

_MIB = 1024 * 1024
_UNKNOWN = -1
#: Of a job that the caller may not see.
_NOBODY = "0" * 32
_NOT_HERE = (
    "TaskManager {name} writes no file in the folder of logs that the web process can read; its "
    "log is where its output goes, on {host}."
)
#: Flink's word in the details -> the metric.
_METRICS = {
    "heapUsed": "Status.JVM.Memory.Heap.Used",
    "heapCommitted": "Status.JVM.Memory.Heap.Committed",
    "heapMax": "Status.JVM.Memory.Heap.Max",
    "nonHeapUsed": "Status.JVM.Memory.NonHeap.Used",
    "nonHeapCommitted": "Status.JVM.Memory.NonHeap.Committed",
    "nonHeapMax": "Status.JVM.Memory.NonHeap.Max",
    "directCount": "Status.JVM.Memory.Direct.Count",
    "directUsed": "Status.JVM.Memory.Direct.MemoryUsed",
    "directMax": "Status.JVM.Memory.Direct.TotalCapacity",
    "mappedCount": "Status.JVM.Memory.Mapped.Count",
    "mappedUsed": "Status.JVM.Memory.Mapped.MemoryUsed",
    "mappedMax": "Status.JVM.Memory.Mapped.TotalCapacity",
    "nettyShuffleMemorySegmentsAvailable": "Status.Shuffle.Netty.AvailableMemorySegments",
    "nettyShuffleMemorySegmentsUsed": "Status.Shuffle.Netty.UsedMemorySegments",
    "nettyShuffleMemorySegmentsTotal": "Status.Shuffle.Netty.TotalMemorySegments",
    "nettyShuffleMemoryAvailable": "Status.Shuffle.Netty.AvailableMemory",
    "nettyShuffleMemoryUsed": "Status.Shuffle.Netty.UsedMemory",
    "nettyShuffleMemoryTotal": "Status.Shuffle.Netty.TotalMemory",
}


class TaskManagerView(cluster_jobmanager.ClusterView):
    def row(self, taskmanager_id: str) -> TaskManager:
        """Raises Refused (404); Flink answers 500."""
        found = _rows().filter(name=taskmanager_id).first()
        if found is None:
            raise answers.not_found(f"No TaskExecutor registered under {taskmanager_id}.")
        return found

    def files(self, taskmanager_id: str) -> list[log_files.LogFile]:
        return log_files.of_taskmanager(self.row(taskmanager_id), self.request.user)


class TaskManagers(cluster_jobmanager.ClusterView):
    """GET /taskmanagers: those that are registered."""

    def get(self, request: Request) -> Response:
        rows = _rows().filter(state=TaskManagerState.REGISTERED)
        return Response({"taskmanagers": [_told(row) for row in rows]})


class Aggregated(cluster_jobmanager.ClusterView):
    """GET /taskmanagers/metrics"""

    def get(self, request: Request) -> Response:
        rows = TaskManager.objects.filter(state=TaskManagerState.REGISTERED)
        names = reading.names(request, "taskmanagers")
        if names:
            rows = rows.filter(name__in=names[:1000])
        found = [cluster_figures.of_taskmanager(row) for row in rows]
        return Response(metrics.aggregated(found, request))


class Details(TaskManagerView):
    """GET /taskmanagers/:taskmanagerid"""

    def get(self, request: Request, taskmanager_id: str) -> Response:
        row = self.row(taskmanager_id)
        ids = {slot.job_id for slot in row.slot_set.all() if slot.job_id}
        seen = permissions.visible_jobs(request.user).filter(pk__in=ids)
        figures = cluster_figures.of_taskmanager(row)
        return Response(
            _told(row)
            | {
                "allocatedSlots": _allocated(row, set(seen.values_list("pk", flat=True))),
                "metrics": _metrics(figures),
            }
        )


class Metrics(TaskManagerView):
    """GET /taskmanagers/:taskmanagerid/metrics"""

    def get(self, request: Request, taskmanager_id: str) -> Response:
        found = cluster_figures.of_taskmanager(self.row(taskmanager_id))
        return Response(metrics.listed(found, request))


class Logs(TaskManagerView):
    """GET /taskmanagers/:taskmanagerid/logs: its own, and those of drivers that ran on it."""

    def get(self, request: Request, taskmanager_id: str) -> Response:
        return Response(cluster_logs.listed(self.files(taskmanager_id)))


class LogFile(TaskManagerView):
    """GET /taskmanagers/:taskmanagerid/logs/:filename"""

    def get(self, request: Request, taskmanager_id: str, file_name: str) -> StreamingHttpResponse:
        return cluster_logs.sent(request, cluster_logs.named(self.files(taskmanager_id), file_name))


class Log(TaskManagerView):
    """GET /taskmanagers/:taskmanagerid/log"""

    def get(self, request: Request, taskmanager_id: str) -> StreamingHttpResponse:
        found = [each for each in self.files(taskmanager_id) if _is_own(each)]
        if not found:
            row = self.row(taskmanager_id)
            raise answers.not_found(_NOT_HERE.format(name=row.name, host=row.host))
        return cluster_logs.sent(request, found[0])


class Stdout(TaskManagerView):
    """GET /taskmanagers/:taskmanagerid/stdout: what the program of its newest driver prints."""

    def get(self, request: Request, taskmanager_id: str) -> StreamingHttpResponse:
        found = [each for each in self.files(taskmanager_id) if not _is_own(each)]
        return cluster_logs.sent(request, found[0]) if found else cluster_logs.nothing()


class ThreadDump(TaskManagerView):
    """GET /taskmanagers/:taskmanagerid/thread-dump"""

    def get(self, request: Request, taskmanager_id: str) -> Response:
        row = self.row(taskmanager_id)
        try:
            return thread_dumps.answered(diagnostics.of_taskmanager(row, self.user))
        except diagnostics.NotRunning as error:
            raise answers.not_found(f"{error}.") from None


def _rows() -> QuerySet[TaskManager]:
    slots = (
        taskmanagers.slots()
        .select_related("job")
        .only("taskmanager_id", "index", "job_id", "job__plan")
    )
    return TaskManager.objects.prefetch_related(Prefetch("slot_set", slots))


def _is_own(log: log_files.LogFile) -> bool:
    return not log.name.startswith("driver-")


def _told(row: TaskManager) -> dict[str, Any]:
    held = [slot for slot in row.slot_set.all() if slot.job_id]
    memory = row.memory_mib * _MIB
    free = max(0, row.slots - len(held)) if row.drained_at is None else 0
    return {
        "id": row.name,
        "path": f"headrace://{row.host}/{row.name}",
        "dataPort": _UNKNOWN,
        "jmxPort": _UNKNOWN,
        "timeSinceLastHeartbeat": times.of(row.last_heartbeat),
        "slotsNumber": row.slots,
        "freeSlots": free,
        "assignedTasks": sum(_tasks(slot) for slot in held),
        "totalResource": _resource(row, row.slots),
        "freeResource": _resource(row, free),
        "hardware": _hardware(row),
        "memoryConfiguration": {
            "frameworkHeap": 0,
            "taskHeap": 0,
            "frameworkOffHeap": 0,
            "taskOffHeap": 0,
            "networkMemory": 0,
            "managedMemory": memory,
            "jvmMetaspace": 0,
            "jvmOverhead": 0,
            "totalFlinkMemory": memory,
            "totalProcessMemory": memory,
        },
    }


def _hardware(row: TaskManager) -> dict[str, Any]:
    return {
        "cpuCores": _UNKNOWN,
        "physicalMemory": _UNKNOWN,
        "freeMemory": row.memory_mib * _MIB,
        "managedMemory": row.memory_mib * _MIB,
    }


def _resource(row: TaskManager, slots: int) -> dict[str, Any]:
    """Of so many slots, MiB."""
    return {
        "cpuCores": float(slots),
        "taskHeapMemory": 0,
        "taskOffHeapMemory": 0,
        "managedMemory": slots * row.memory_mib // max(1, row.slots),
        "networkMemory": 0,
        "extendedResources": {},
    }


def _allocated(row: TaskManager, seen: Collection[str]) -> list[dict[str, Any]]:
    return [
        {
            "jobId": slot.job_id if slot.job_id in seen else _NOBODY,
            "resource": _resource(row, 1),
            "assignedTasks": _tasks(slot),
        }
        for slot in row.slot_set.all()
        if slot.job_id
    ]


def _tasks(slot: Slot) -> int:
    """Subtasks in it: one of each vertex of its job, without reading more of its plan than that."""
    nodes = (slot.job.plan or {}).get("nodes") or [] if slot.job is not None else []
    return sum(str(node.get("chain", node["id"])) == str(node["id"]) for node in nodes)


def _metrics(figures: Mapping[str, float]) -> dict[str, Any]:
    """All of Flink's words: its dashboard breaks where one is missing."""
    told: dict[str, Any] = {
        word: int(figures.get(name, _UNKNOWN)) for word, name in _METRICS.items()
    }
    prefix, suffix = "Status.JVM.GarbageCollector.", ".Count"
    collectors = [
        name.removeprefix(prefix).removesuffix(suffix)
        for name in figures
        if name.startswith(prefix) and name.endswith(suffix)
    ]
    told["garbageCollectors"] = [
        {
            "name": name,
            "count": int(figures[f"{prefix}{name}{suffix}"]),
            "time": int(figures.get(f"{prefix}{name}.Time", _UNKNOWN)),
        }
        for name in collectors
    ]
    return told
