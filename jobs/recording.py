"""A driver's journal into the tables, each event exactly once.

The number and position reached are compared and set in the transaction that writes the rows. So
a reader that died, or an older incarnation that woke up, can neither lose nor double an event.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import assert_never

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from headrace.wire import events
from headrace.wire.journal import Entry
from jobs.models import Attempt, Checkpoint, Event, Job
from jobs.states import AttemptState, JobState, change_state

_CHECKPOINT_FIELDS = (
    *("started_at", "completed_at", "duration", "state_size", "state_rows", "records_in"),
    *("records_out", "transactions", "phases", "offsets", "lag", "latency", "watermark"),
    *("counters", "attempt"),
)


def record(attempt: Attempt, entries: Sequence[Entry]) -> bool:
    """Record the entries that follow what is recorded of `attempt`; False when another did."""
    if not entries:
        return True
    last = entries[-1]
    with transaction.atomic():
        mine = Attempt.objects.filter(pk=attempt.pk, journal_number=attempt.journal_number)
        if not mine.update(journal_number=last.number, journal_position=last.position):
            return False
        _record_checkpoints(attempt, entries)
        _record_progress(attempt, entries)
        for entry in entries:
            _record_entry(attempt, entry)
    attempt.refresh_from_db()
    return True


def _record_entry(attempt: Attempt, entry: Entry) -> None:
    at = _time(entry.at)
    match entry.event:
        case events.Started() as started:
            detail = {"master": started.spark_master, "versions": started.versions}
            _tell(attempt, at, f"driver started, process {started.pid}", detail)
        case events.Planned() as planned:
            Job.objects.filter(pk=attempt.job_id).update(
                plan=planned.plan, checkpoint_interval=planned.checkpoint_interval
            )
        case events.Running() as running:
            _record_running(attempt, at, running)
        case events.CheckpointCompleted() | events.Progressed():
            pass  # written together: `_record_checkpoints`, `_record_progress`
        case events.CommandDone() as done:
            _tell(attempt, at, _command_words(done), done.result)
        case events.Failed() as failed:
            _record_outcome(
                attempt,
                at,
                Attempt.Outcome.FAILED,
                error=failed.error or "the driver failed without a reason",
                traceback=failed.traceback,
                restartable=failed.restartable,
            )
        case events.Stopped() as stopped:
            _record_outcome(attempt, at, Attempt.Outcome(stopped.reason))
        case events.Event():
            raise TypeError(f"no rule for {entry.event!r}")
        case _:
            assert_never(entry.event)


def _record_running(attempt: Attempt, at: datetime.datetime, running: events.Running) -> None:
    """The attempt runs, and so does its job unless something else is going on with it."""
    attempt.refresh_from_db()
    if attempt.state == AttemptState.DEPLOYING:
        change_state(
            attempt,
            AttemptState.RUNNING,
            restored_checkpoint=running.restored_checkpoint,
            application_id=running.application_id,
        )
    job = Job.objects.get(pk=attempt.job_id)
    if job.state == JobState.CREATED and job.current_attempt == attempt.number:
        change_state(job, JobState.RUNNING)
    words = f"attempt {attempt.number} runs"
    if running.restored_checkpoint is not None:
        words += f", restored from checkpoint {running.restored_checkpoint}"
    _tell(attempt, at, words, {"recovered": running.recovered})


def _record_outcome(
    attempt: Attempt, at: datetime.datetime, outcome: Attempt.Outcome, **fields: object
) -> None:
    """What the driver says about its end; the first word counts."""
    Attempt.objects.filter(pk=attempt.pk, outcome=Attempt.Outcome.NONE).update(
        outcome=outcome, outcome_at=timezone.now(), **fields
    )
    if outcome is not Attempt.Outcome.FAILED:  # failures are told when the process is gone
        _tell(attempt, at, f"attempt {attempt.number}: driver {outcome.label}", {})


def _record_checkpoints(attempt: Attempt, entries: Sequence[Entry]) -> None:
    """One row per micro-batch. A batch that was reported and then run again replaces its row."""
    rows = {
        entry.event.checkpoint_id: _checkpoint(attempt, entry.at, entry.event)
        for entry in entries
        if isinstance(entry.event, events.CheckpointCompleted)
    }
    if not rows:
        return
    Checkpoint.objects.bulk_create(
        rows.values(),
        update_conflicts=True,
        unique_fields=["job", "checkpoint_id"],
        update_fields=_CHECKPOINT_FIELDS,
    )
    if any(checkpoint_id % 100 == 0 for checkpoint_id in rows):
        prune_checkpoints(attempt.job_id, settings.HEADRACE_CHECKPOINT_ROWS)


def _checkpoint(attempt: Attempt, at: int, event: events.CheckpointCompleted) -> Checkpoint:
    return Checkpoint(
        job_id=attempt.job_id,
        attempt=attempt,
        checkpoint_id=event.checkpoint_id,
        started_at=_time(event.started_at),
        completed_at=_time(at),
        duration=max(0, event.duration),
        state_size=event.state_size,
        state_rows=event.state_rows,
        records_in=event.records_in,
        records_out=event.records_out,
        transactions=event.transactions,
        phases=event.phases,
        offsets=event.offsets,
        lag=event.lag,
        latency=event.latency,
        watermark=event.watermark,
        counters=event.counters,
    )


def _record_progress(attempt: Attempt, entries: Sequence[Entry]) -> None:
    """Where the job stands now, also while nothing comes in and no checkpoint is made."""
    for entry in reversed(entries):
        if isinstance(entry.event, events.CheckpointCompleted | events.Progressed):
            Job.objects.filter(pk=attempt.job_id).update(
                lag=entry.event.lag, progressed_at=_time(entry.at)
            )
            return


def prune_checkpoints(job_id: str, keep: int) -> int:
    """Delete all but the newest `keep` rows; how many went."""
    ids = Checkpoint.objects.filter(job=job_id).order_by("-checkpoint_id")
    oldest = ids.values_list("checkpoint_id", flat=True)[keep : keep + 1].first()
    if oldest is None:
        return 0
    return Checkpoint.objects.filter(job=job_id, checkpoint_id__lte=oldest).delete()[0]


def _command_words(done: events.CommandDone) -> str:
    verb = done.command_id.partition("-")[0]
    return f"driver refused {verb}: {done.error}" if done.error else f"driver carries out {verb}"


def _tell(
    attempt: Attempt, at: datetime.datetime, message: str, detail: Mapping[str, object]
) -> None:
    Event.objects.create(
        job_id=attempt.job_id,
        attempt=attempt,
        at=at,
        kind=Event.Kind.ATTEMPT,
        message=message,
        detail=detail,
    )


def _time(milliseconds: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC)
