"""What one checkpoint consists of: each vertex's part, and each subtask's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jobs import vertices
from jobs.flink import checkpoint_statistics, distributions
from jobs.flink.checkpoint_statistics import Entry
from jobs.models import Checkpoint, Job
from jobs.vertices import Vertex

_TOLD = (
    *("id", "status", "latest_ack_timestamp"),
    *("end_to_end_duration", "alignment_buffered", "processed_data", "persisted_data"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """A checkpoint's entry in the history, and what its vertices did for it."""

    entry: Entry
    #: By the vertex's id, as far as that is known: bytes of state of each subtask, and milliseconds
    #: that each was busy.
    state: dict[str, list[int]] = field(default_factory=dict)
    busy: dict[str, list[int]] = field(default_factory=dict)

    def task(self, vertex: Vertex) -> dict[str, Any]:
        told = {word: self.entry[word] for word in _TOLD[:3]}
        told |= checkpoint_statistics.sizes(sum(self.state.get(vertex.id, [])))
        told |= {word: self.entry[word] for word in _TOLD[3:]}
        arrived = vertex.parallelism if self.entry["num_acknowledged_subtasks"] else 0
        counted = {"num_subtasks": vertex.parallelism, "num_acknowledged_subtasks": arrived}
        return told | counted

    def subtasks(self, vertex: Vertex) -> dict[str, Any]:
        told = [self._subtask(vertex, number) for number in range(vertex.parallelism)]
        return self.task(vertex) | {"summary": _summary(told), "subtasks": told}

    def _subtask(self, vertex: Vertex, number: int) -> dict[str, Any]:
        sizes, busy = self.state.get(vertex.id, []), self.busy.get(vertex.id, [])
        name = "completed" if self.entry["className"] == "completed" else "pending"
        if name == "pending":
            return {"className": "pending_or_failed", "index": number, "status": name}
        return {
            "className": name,
            "index": number,
            "ack_timestamp": self.entry["latest_ack_timestamp"],
            "end_to_end_duration": self.entry["end_to_end_duration"],
            **checkpoint_statistics.sizes(sizes[number] if number < len(sizes) else 0),
            "checkpoint": {"sync": busy[number] if number < len(busy) else 0, "async": 0},
            "alignment": {"buffered": 0, "processed": 0, "persisted": 0, "duration": 0},
            "start_delay": 0,
            "unaligned_checkpoint": False,
            "aborted": False,
            "status": name,
        }


def find(job: Job, checkpoint_id: int) -> Found | None:
    """As the history shows it: the savepoint rather than the checkpoint that it is a copy of."""
    frame = checkpoint_statistics.frame_of(job)
    row = job.checkpoints.filter(checkpoint_id=checkpoint_id).first()
    saved = checkpoint_statistics.saved_as(job, checkpoint_id)
    if saved is not None:
        entry = checkpoint_statistics.savepoint(frame, saved)
    elif row is not None:
        entry = checkpoint_statistics.completed(frame, row)
    else:
        failed = checkpoint_statistics.failed_as(job, checkpoint_id)
        return None if failed is None else Found(checkpoint_statistics.failure(frame, failed))
    return Found(entry) if row is None else Found(entry, _state(job, row), _busy(row))


def _busy(row: Checkpoint) -> dict[str, list[int]]:
    return {
        vertex: [int(each) for each in told.get("busy", [])] for vertex, told in row.tasks.items()
    }


def _state(job: Job, row: Checkpoint) -> dict[str, list[int]]:
    """As Spark told it of each vertex; it keeps no account of subtasks, so these have equal
    parts."""
    found = {}
    for vertex in vertices.of(job.plan or {}):
        size = row.tasks.get(vertex.id, {}).get("state_size")
        if size is not None:
            each, more = divmod(int(size), vertex.parallelism)
            found[vertex.id] = [each + (n < more) for n in range(vertex.parallelism)]
    return found


def _summary(told: list[dict[str, Any]]) -> dict[str, Any]:
    """Of the subtasks that have answered."""
    done = [each for each in told if each["className"] == "completed"]

    def over(*path: str) -> dict[str, Any]:
        values = []
        for each in done:
            value: Any = each
            for word in path:
                value = value[word]
            values.append(int(value))
        return distributions.summary(values)

    return {
        "checkpointed_size": over("checkpointed_size"),
        "state_size": over("state_size"),
        "end_to_end_duration": over("end_to_end_duration"),
        "checkpoint_duration": {
            "sync": over("checkpoint", "sync"),
            "async": over("checkpoint", "async"),
        },
        "alignment": {
            "buffered": over("alignment", "buffered"),
            "processed": over("alignment", "processed"),
            "persisted": over("alignment", "persisted"),
            "duration": over("alignment", "duration"),
        },
        "start_delay": over("start_delay"),
    }
