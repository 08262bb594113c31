"""A job's checkpoints as Flink's REST tells them. Every micro-batch is one.

A savepoint is a copy of a checkpoint and has its number: in the history it stands in its place.
What Flink measures of barriers and alignment there is not here: 0. The number of queries does not
depend on that of the rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import Count, Max, Min, QuerySet

from jobs import checkpoint_rows, vertices
from jobs.flink import distributions, times
from jobs.models import (
    Attempt,
    Beginning,
    Checkpoint,
    CheckpointRequest,
    Event,
    Job,
    JobFigures,
    Savepoint,
)
from jobs.states import SavepointState

HISTORY_KEY = "web.checkpoints.history"
HISTORY, MOST = 10, 1000
#: The newest checkpoints, of which the summary is made.
SAMPLES = 1000
RETAINED_KEY = "execution.checkpointing.num-retained"
#: Unless it says so, and at least: Spark's.
RETAINED, LEAST_RETAINED = 100, 2

_MADE = (SavepointState.COMPLETED, SavepointState.DISPOSING, SavepointState.DISPOSED)
_OPEN = (SavepointState.TRIGGERED, SavepointState.IN_PROGRESS)
_ALWAYS_0 = ("alignment_buffered", "processed_data", "persisted_data")

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Frame:
    """What all checkpoints of a job have in common."""

    job: Job
    subtasks: int
    #: The oldest that is still there for the job to go on from.
    kept_from: int

    def discarded(self, checkpoint_id: int) -> bool:
        return self.job.checkpoints_removed or checkpoint_id < self.kept_from


def of(job: Job) -> dict[str, Any]:
    """Of GET /jobs/:jobid/checkpoints."""
    frame = frame_of(job)
    rows = job.checkpoints.order_by("-checkpoint_id")
    number = history_size()
    newest = list(_light(rows)[:number])
    saved = list(_saved(job)[:number])
    failed = list(_failed(job)[:number])
    return {
        "counts": counts(job),
        "summary": _summary(rows),
        "latest": {
            "completed": completed(frame, newest[0]) if newest else None,
            "savepoint": savepoint(frame, saved[0]) if saved else None,
            "failed": failure(frame, failed[0]) if failed else None,
            "restored": _restored(job),
        },
        "history": _history(frame, newest, saved, failed)[:number],
    }


def frame_of(job: Job) -> Frame:
    subtasks = sum(vertex.parallelism for vertex in vertices.of(job.plan))
    newest = job.checkpoints.aggregate(newest=Max("checkpoint_id"))["newest"] or 0
    return Frame(job, subtasks, newest - _retained(job) + 1)


def history_size() -> int:
    said = str(settings.HEADRACE_PROPERTIES.get(HISTORY_KEY, "")).strip()
    return min(MOST, int(said)) if said.isdecimal() else HISTORY


def completed(frame: Frame, row: Checkpoint) -> Entry:
    return {
        **_entry("completed", row.checkpoint_id, frame.subtasks),
        "trigger_timestamp": times.of(row.started_at),
        "latest_ack_timestamp": times.of(row.completed_at),
        **sizes(row.state_size),
        "end_to_end_duration": row.duration,
        "external_path": f"file:{frame.job.checkpoint_dir}",
        "discarded": frame.discarded(row.checkpoint_id),
    }


def savepoint(frame: Frame, row: Savepoint) -> Entry:
    """One that is complete."""
    ends = "SYNC_SAVEPOINT" if row.then else "SAVEPOINT"
    return {
        **_entry("completed", row.checkpoint_id or 0, frame.subtasks),
        "is_savepoint": True,
        "savepointFormat": "CANONICAL",
        "checkpoint_type": ends,
        "trigger_timestamp": times.of(row.created_at),
        "latest_ack_timestamp": times.of(row.completed_at),
        **sizes(row.size),
        "end_to_end_duration": _milliseconds(row),
        "external_path": f"file:{row.path}",
        "discarded": row.state == SavepointState.DISPOSED,
    }


def failure(frame: Frame, event: Event) -> Entry:
    """Of a checkpoint that took longer than it may."""
    at = times.of(event.at)
    return {
        **_entry("failed", int(event.detail.get("checkpoint") or 0), frame.subtasks),
        "trigger_timestamp": at,
        "latest_ack_timestamp": times.NEVER,
        "num_acknowledged_subtasks": 0,
        "failure_timestamp": at,
        "failure_message": event.message,
    }


def sizes(state_size: int) -> dict[str, int]:
    return {"checkpointed_size": state_size, "state_size": state_size}


def saved_as(job: Job, checkpoint_id: int) -> Savepoint | None:
    return _saved(job).filter(checkpoint_id=checkpoint_id).first()


def failed_as(job: Job, checkpoint_id: int) -> Event | None:
    return _failed(job).filter(detail__checkpoint=checkpoint_id).first()


def _entry(name: str, checkpoint_id: int, subtasks: int) -> Entry:
    """In Flink's order; what is not known is 0."""
    return {
        "className": name,
        "id": checkpoint_id,
        "status": name.upper(),
        "is_savepoint": False,
        "savepointFormat": None,
        "trigger_timestamp": 0,
        "latest_ack_timestamp": times.NEVER,
        **sizes(0),
        "end_to_end_duration": 0,
        **dict.fromkeys(_ALWAYS_0, 0),
        "num_subtasks": subtasks,
        "num_acknowledged_subtasks": subtasks,
        "checkpoint_type": "CHECKPOINT",
        "tasks": {},
    }


def _history(
    frame: Frame, rows: Iterable[Checkpoint], saved: Iterable[Savepoint], failed: Iterable[Event]
) -> list[Entry]:
    """Newest first, each number once: savepoint before checkpoint, and what was late is complete
    if it came at last."""
    found = {entry["id"]: entry for entry in (failure(frame, event) for event in failed)}
    found |= {row.checkpoint_id: completed(frame, row) for row in rows}
    found |= {row.checkpoint_id: savepoint(frame, row) for row in saved}
    return [found[number] for number in sorted(found, reverse=True)]


def counts(job: Job) -> dict[str, int]:
    """restored, total, in_progress, completed, failed. Rows are thinned out: the numbers between
    them were checkpoints, too."""
    seen = job.checkpoints.aggregate(
        number=Count("pk"), oldest=Min("checkpoint_id"), newest=Max("checkpoint_id")
    )
    whole = seen["number"] < checkpoint_rows.EVERY
    complete = seen["number"] if whole else seen["newest"] - seen["oldest"] + 1
    failed = JobFigures.objects.filter(job=job).values_list("failed_checkpoints", flat=True).first()
    asked = CheckpointRequest.objects.filter(job=job, answered_at=None).count()
    open_ = asked + job.savepoints.filter(state__in=_OPEN).count()
    return {
        "restored": job.attempts.exclude(restored_checkpoint=None).count(),
        "total": complete + (failed or 0) + open_,
        "in_progress": open_,
        "completed": complete,
        "failed": failed or 0,
    }


def _summary(rows: QuerySet[Checkpoint]) -> dict[str, Any]:
    sampled = list(rows.values_list("state_size", "duration")[:SAMPLES])
    size = distributions.summary(each for each, _ in sampled)
    zeros = distributions.nothing() if sampled else distributions.summary([])
    return {
        "checkpointed_size": size,
        "state_size": size,
        "end_to_end_duration": distributions.summary(duration for _, duration in sampled),
        "alignment_buffered": distributions.nothing(),
        "processed_data": zeros,
        "persisted_data": zeros,
    }


def _restored(job: Job) -> dict[str, Any] | None:
    rows = job.attempts.exclude(restored_checkpoint=None)
    last: Attempt | None = rows.order_by("-number").first()
    if last is None:
        return None
    beginning = Beginning.objects.filter(job=job).select_related("savepoint").first()
    saved = beginning is not None and _began(last, beginning)
    path = beginning.path if beginning is not None and saved else str(job.checkpoint_dir)
    return {
        "id": last.restored_checkpoint,
        "restore_timestamp": times.of(last.started_at or last.created_at),
        "is_savepoint": saved,
        "external_path": f"file:{path}",
    }


def _began(attempt: Attempt, beginning: Beginning) -> bool:
    """Whether the attempt went on from the savepoint itself, from no checkpoint since."""
    if beginning.savepoint is None:
        return attempt.number == 1
    return attempt.restored_checkpoint == beginning.savepoint.checkpoint_id


def _light(rows: QuerySet[Checkpoint]) -> QuerySet[Checkpoint]:
    """Without what each partition did."""
    return rows.only("checkpoint_id", "started_at", "completed_at", "duration", "state_size", "job")


def _saved(job: Job) -> QuerySet[Savepoint]:
    rows = job.savepoints.filter(state__in=_MADE).exclude(checkpoint_id=None)
    return rows.order_by("-checkpoint_id", "-created_at")


def _failed(job: Job) -> QuerySet[Event]:
    rows = job.events.filter(kind=Event.Kind.CHECKPOINT, detail__has_key="checkpoint")
    return rows.order_by("-at", "-id")


def _milliseconds(row: Savepoint) -> int:
    if row.completed_at is None:
        return row.duration
    return max(0, times.of(row.completed_at) - times.of(row.created_at))


def _retained(job: Job) -> int:
    said = job.checkpointing.get(RETAINED_KEY, "").strip()
    return max(LEAST_RETAINED, int(said)) if said.isdecimal() else RETAINED
