"""Checkpoints that users ask for: carried to the driver by its TaskManager, answered by an event.

Each belongs to the attempt that runs when it is asked for, and fails with it.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from headrace.wire import events
from headrace.wire.commands import CheckpointOptions, Command
from jobs import savepoints, signals
from jobs.models import Attempt, CheckpointRequest, Event, Job, TaskManager
from jobs.states import AttemptState

_COMMAND = "checkpoint-"
#: Answers that a job keeps; callers ask for theirs within seconds.
KEPT = 100


def trigger(job: Job, user: User | None = None, trigger_id: str = "") -> CheckpointRequest:
    """Want a checkpoint of a running job, though nothing may have come since the last one. One of
    a job that does not run has failed from the start, with the reason. A second request with the
    same trigger id answers the first."""
    known = job.checkpoint_requests.filter(trigger_id=trigger_id).first() if trigger_id else None
    if known is not None:
        return known
    job.refresh_from_db()
    number = job.current_attempt or 0
    attempt = job.attempts.filter(number=number, state=AttemptState.RUNNING).first()
    row = CheckpointRequest(job=job, attempt=attempt)
    row.trigger_id = trigger_id or row.trigger_id
    if attempt is None:
        row.answered_at = row.created_at
        state = job.state_info.label.lower()
        row.failure = f"the job is {state}, and checkpoints are taken of jobs that run"
    try:
        with transaction.atomic():
            row.save(force_insert=True)
            _prune(job)
            by = user.get_username() if user is not None else savepoints.PLATFORM
            Event.objects.create(
                job=job,
                attempt=attempt,
                kind=Event.Kind.ACTION,
                message=f"checkpoint by {by}",
                detail={"by": by},
            )
            signals.nudge()
    except IntegrityError:  # the same request at the same moment
        return CheckpointRequest.objects.get(job=job, trigger_id=row.trigger_id)
    return row


def waiting(taskmanager: TaskManager) -> list[CheckpointRequest]:
    """Those that it is to carry to drivers."""
    rows = CheckpointRequest.objects.filter(
        sent_at=None,
        answered_at=None,
        attempt__taskmanager=taskmanager,
        attempt__state=AttemptState.RUNNING,
    )
    return list(rows.select_related("attempt", "job").order_by())


def command(row: CheckpointRequest) -> Command:
    timeout = savepoints.timeout_ms(row.job)
    options = {"timeout_ms": CheckpointOptions(timeout).timeout_ms}
    return Command(f"{_COMMAND}{row.trigger_id}", "checkpoint", options)


def sent(row: CheckpointRequest) -> None:
    CheckpointRequest.objects.filter(pk=row.pk, sent_at=None).update(sent_at=timezone.now())


def answered(attempt: Attempt, done: events.CommandDone) -> None:
    """By its driver, if the command was one of these."""
    if not done.command_id.startswith(_COMMAND):
        return
    checkpoint = done.result.get("checkpoint_id")
    failure = done.error or ("" if checkpoint is not None else "its driver made none")
    _open(attempt).filter(trigger_id=done.command_id.removeprefix(_COMMAND)).update(
        answered_at=timezone.now(), checkpoint_id=checkpoint, failure=failure[:1000]
    )


def fail_of(attempt: Attempt) -> None:
    """The attempt has ended: what it did not make, nobody makes."""
    _open(attempt).update(
        answered_at=timezone.now(),
        failure="its driver ended, or was lost, before it was complete",
    )


def _prune(job: Job) -> None:
    """All but the newest go, unless they are still to be answered."""
    times = job.checkpoint_requests.order_by("-created_at").values_list("created_at", flat=True)
    oldest = times[KEPT : KEPT + 1].first()
    if oldest is not None:
        old = job.checkpoint_requests.filter(created_at__lte=oldest)
        old.exclude(answered_at=None).delete()


def _open(attempt: Attempt):  # type: ignore[no-untyped-def]
    return CheckpointRequest.objects.filter(attempt=attempt, answered_at=None)
