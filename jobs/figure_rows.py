"""What a driver measured, from its journal into the row of its job and into the history.

Called by `jobs.recording`, in its transaction: each event counts once.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence
from typing import Any

from django.db.models import F

from headrace.wire import events
from headrace.wire.journal import Entry
from jobs import history, samples
from jobs.models import Attempt, JobFigures


def record(attempt: Attempt, entries: Sequence[Entry]) -> None:
    """One upsert for all of them, if there is anything in them."""
    row, changed = JobFigures(job_id=attempt.job_id, attempt=attempt.number), set[str]()
    for entry in entries:
        changed |= _columns(row, entry)
    if changed:
        row.at = row.at or _time(entries[-1].at)
        JobFigures.objects.bulk_create(
            [row],
            update_conflicts=True,
            unique_fields=["job"],
            update_fields=sorted(changed),  # so the first checkpoint is that of the first insert
        )
    failed = sum(isinstance(entry.event, events.CheckpointFailed) for entry in entries)
    if failed:
        rows = JobFigures.objects.filter(pk=attempt.job_id)
        rows.update(failed_checkpoints=F("failed_checkpoints") + failed)
    found = [(e.at, values) for e in entries if (values := samples.of(e.event))]
    if found:
        history.write_all(attempt.job_id, found)


def _columns(row: JobFigures, entry: Entry) -> set[str]:
    """Put an event into the row; the columns that it changes."""
    match entry.event:
        case events.Measured() as measured:
            row.at = _time(entry.at)
            row.figures = _figures(measured)
            return {"at", "attempt", "figures"}
        case events.CheckpointCompleted() as made:
            if row.first_checkpoint is None:
                row.first_checkpoint = made.checkpoint_id
            row.checkpoint = {
                "id": made.checkpoint_id,
                "duration": max(0, made.duration),
                "size": made.state_size,
                "rows": made.state_rows,
                "started_at": made.started_at,
                "completed_at": entry.at,
            }
            return {"checkpoint"}
        case events.Running(restored_checkpoint=restored):
            row.first_checkpoint = (restored or 0) + 1
            row.restored_at = None if restored is None else entry.at
            return {"restored_at"}
        case _:
            return set()


def _figures(measured: events.Measured) -> dict[str, Any]:
    # Not `to_json`: that copies every value, a quarter of what recording takes.
    return {field.name: getattr(measured, field.name) for field in dataclasses.fields(measured)}


def _time(milliseconds: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC)
