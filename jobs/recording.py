"""A driver's journal into the tables, each event exactly once.

The number and position reached are compared and set in the transaction that writes the rows. So
a reader that died, or an older incarnation that woke up, can neither lose nor double an event.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from headrace.wire import events
from headrace.wire.failures import Cause
from headrace.wire.journal import Entry
from jobs import (
    attempts,
    checkpoint_requests,
    checkpoint_rows,
    figure_rows,
    job_secrets,
    options,
    restart_strategies,
    savepoints,
)
from jobs.models import Attempt, Checkpoint, Event, Job
from jobs.states import AttemptState, JobState, change_state

#: Events that change nothing about the attempt.
_ROUTINE = (events.CheckpointCompleted, events.Progressed, events.Measured)
_CHECKPOINT_FIELDS = (
    *("started_at", "completed_at", "duration", "state_size", "state_rows", "records_in"),
    *("records_out", "transactions", "phases", "offsets", "lag", "latency", "watermark"),
    *("counters", "attempt", "tasks"),
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
        figure_rows.record(attempt, entries)
        for entry in entries:
            _record_entry(attempt, entry)
    if all(isinstance(entry.event, _ROUTINE) for entry in entries):
        attempt.journal_number, attempt.journal_position = last.number, last.position
    else:
        attempt.refresh_from_db()
    return True


def _record_entry(attempt: Attempt, entry: Entry) -> None:
    at = _time(entry.at)
    match _without_secrets(attempt, entry.event):
        case events.Started() as started:
            detail = {"master": started.spark_master, "versions": started.versions}
            _tell(attempt, at, f"driver started, process {started.pid}", detail)
        case events.Planned() as planned:
            needed = sum(planned.slots.values())
            Job.objects.filter(pk=attempt.job_id).update(
                plan=planned.plan,
                checkpoint_interval=planned.checkpoint_interval,
                slots_needed=needed if needed > attempt.job.parallelism else None,
                checkpoint_settings=planned.checkpoint_settings,
            )
            _record_restart_strategy(attempt, at, planned)
        case events.Running() as running:
            _record_running(attempt, at, running)
        case events.CheckpointFailed() as late:
            told = {"checkpoint": late.checkpoint_id, "in_a_row": late.in_a_row}
            _tell(attempt, at, late.error, told, Event.Kind.CHECKPOINT)
        case events.CheckpointCompleted() | events.Progressed() | events.Measured():
            pass  # written together: `_record_checkpoints`, `_record_progress`, `figure_rows`
        case events.SavepointCompleted() as made:
            savepoints.completed(attempt, made)
        case events.SavepointFailed() as not_made:
            savepoints.failed(attempt, not_made)
        case events.SavepointDisposed() as gone:
            savepoints.disposed_by_job(gone)
        case events.CommandDone() as done:
            _tell(attempt, at, _command_words(done), done.result)
            checkpoint_requests.answered(attempt, done)
        case events.Failed() as failed:
            _record_outcome(
                attempt,
                at,
                Attempt.Outcome.FAILED,
                error=failed.error or "the driver failed without a reason",
                traceback=failed.traceback,
                restartable=failed.restartable,
                cause=Cause.of(failed.cause, restartable=failed.restartable),
            )
        case events.Stopped() as stopped:
            _record_outcome(attempt, at, Attempt.Outcome(stopped.reason))
            if stopped.checkpoints_removed:
                Job.objects.filter(pk=attempt.job_id).update(checkpoints_removed=True)
        case events.Event():
            raise TypeError(f"no rule for {entry.event!r}")
        case unknown:
            assert_never(unknown)


def _without_secrets(attempt: Attempt, event: events.Event) -> events.Event:
    """What went wrong is told in words of the program, which may quote what it was given."""
    said = {name: getattr(event, name, "") for name in ("error", "traceback")}
    told = {name: job_secrets.hidden(attempt.job, text) for name, text in said.items() if text}
    return replace(event, **told) if told else event


def _record_restart_strategy(
    attempt: Attempt, at: datetime.datetime, planned: events.Planned
) -> None:
    """What the program says beats what it was submitted with, unless it cannot be used."""
    keys = planned.restart_strategy
    if keys is None:
        return
    try:
        restart_strategies.read(keys, settings.HEADRACE_PROPERTIES)
    except options.InvalidOption as error:
        _tell(attempt, at, f"the program's restart strategy is not used: {error}", {})
        return
    Job.objects.filter(pk=attempt.job_id).update(restart_strategy=restart_strategies.own(keys))


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
    """What the driver says about its end; the first word counts, and none once it was given up."""
    live = Attempt.objects.filter(pk=attempt.pk, outcome=Attempt.Outcome.NONE, ended_at=None)
    counts = live.update(outcome=outcome, outcome_at=timezone.now(), **fields)
    if outcome is not Attempt.Outcome.FAILED:  # failures are told when the process is gone
        _tell(attempt, at, f"attempt {attempt.number}: driver {outcome.label}", {})
    elif not counts and Attempt.objects.filter(pk=attempt.pk, abandoned=True).exists():
        error = fields.get("error")
        _tell(
            attempt, at, f"attempt {attempt.number}, given up before: its driver said {error}", {}
        )


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
    if any(checkpoint_id % checkpoint_rows.EVERY == 0 for checkpoint_id in rows):
        checkpoint_rows.thin_out(attempt.job_id, max(rows), settings.HEADRACE_CHECKPOINT_ROWS)
        attempts.prune_events(attempt.job_id, attempts.EVENTS)


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
        tasks=event.tasks,
    )


def _record_progress(attempt: Attempt, entries: Sequence[Entry]) -> None:
    """Where the job stands now, also while nothing comes in and no checkpoint is made."""
    for entry in reversed(entries):
        if isinstance(entry.event, events.CheckpointCompleted | events.Progressed):
            Job.objects.filter(pk=attempt.job_id).update(
                lag=entry.event.lag, progressed_at=_time(entry.at)
            )
            return


def _command_words(done: events.CommandDone) -> str:
    verb = done.command_id.partition("-")[0]
    return f"driver refused {verb}: {done.error}" if done.error else f"driver carries out {verb}"


def _tell(
    attempt: Attempt,
    at: datetime.datetime,
    message: str,
    detail: Mapping[str, object],
    kind: Event.Kind = Event.Kind.ATTEMPT,
) -> None:
    Event.objects.create(
        job_id=attempt.job_id,
        attempt=attempt,
        at=at,
        kind=kind,
        message=message,
        detail=detail,
    )


def _time(milliseconds: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC)
