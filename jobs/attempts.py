"""Attempts from their creation to their end, and the slots they run in.

CREATED    the JobManager gave the job its slots         `begin`
DEPLOYING  its TaskManager launches the driver           `deploy`
RUNNING    the driver says that its query runs           `jobs.recording`
an end     no process of the driver is left              `end`
"""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from jobs import signals
from jobs.models import Attempt, Event, Job, Slot
from jobs.states import AttemptState, JobState, Wanted, change_state

_ENDS = {
    Attempt.Outcome.FINISHED: AttemptState.FINISHED,
    Attempt.Outcome.CANCELED: AttemptState.CANCELED,
    Attempt.Outcome.SUSPENDED: AttemptState.SUSPENDED,
    Attempt.Outcome.FAILED: AttemptState.FAILED,
}
#: How an attempt ends that was asked to, said nothing more, and is gone.
_ENDS_WHEN_ASKED = {
    Attempt.Command.CANCEL: AttemptState.CANCELED,
    Attempt.Command.SUSPEND: AttemptState.SUSPENDED,
}


#: Events kept per job: some two hundred restarts.
EVENTS = 2000


class SlotTaken(Exception):
    """A slot was given to another job meanwhile; nothing was changed."""


def begin(job: Job, taskmanager_id: int, slots: Sequence[int]) -> Attempt:
    """Give `job` the slots and create its next attempt, all or nothing. Raises SlotTaken.

    1. The job still waits, with no attempt under way.
    2. It holds exactly these slots afterwards.
    3. The attempt has the next number.
    """
    with transaction.atomic():
        last = job.attempts.order_by("-number").values_list("number", flat=True).first() or 0
        number = last + 1
        # 1.
        waiting = Job.objects.filter(
            pk=job.pk, state=JobState.CREATED, wanted=Wanted.RUNNING, current_attempt=None
        )
        if not waiting.update(current_attempt=number, waiting_for="", restart_of=None):
            raise SlotTaken(f"job {job.pk} no longer waits for slots")
        # 2.
        free_slots(job, keep=slots)
        mine_or_free = Slot.objects.filter(pk__in=slots, job=None) | Slot.objects.filter(
            pk__in=slots, job=job
        )
        if mine_or_free.update(job=job, allocated_at=timezone.now()) != len(slots):
            raise SlotTaken(f"a slot that job {job.pk} was to get is taken")
        # 3.
        return Attempt.objects.create(
            job=job,
            number=number,
            taskmanager_id=taskmanager_id,
            run_dir=str(settings.HEADRACE_RUNS / job.pk / str(number)),
        )


def free_slots(job: Job, keep: Sequence[int] = ()) -> None:
    """Take the job's slots away, and those rows that its TaskManager no longer offers."""
    job.slots.exclude(pk__in=keep).update(job=None, allocated_at=None)


def ask(attempt: Attempt, command: Attempt.Command) -> bool:
    """Want the driver to end; its TaskManager carries it there. Asked once, cancel over suspend."""
    return bool(
        Attempt.objects.filter(pk=attempt.pk, state=attempt.state, command=attempt.command).update(
            command=command, command_at=timezone.now()
        )
    )


def deploy(attempt: Attempt) -> bool:
    """The driver is about to be launched; False when somebody else does it or did it."""
    return change_state(attempt, AttemptState.DEPLOYING, started_at=timezone.now())


def identify(attempt: Attempt, pid: int, started_at: float) -> None:
    """Which process the driver is, as the run directory says."""
    Attempt.objects.filter(pk=attempt.pk).update(pid=pid, process_started_at=started_at)
    attempt.pid, attempt.process_started_at = pid, started_at


def give_up(attempt: Attempt, error: str, *, restartable: bool = True) -> None:
    """The control plane decides that the attempt failed; its processes are killed next."""
    Attempt.objects.filter(pk=attempt.pk, outcome=Attempt.Outcome.NONE).update(
        outcome=Attempt.Outcome.FAILED,
        outcome_at=timezone.now(),
        error=error,
        restartable=restartable,
    )
    attempt.refresh_from_db()


def end(attempt: Attempt, exit_code: int | None = None, log_tail: str = "") -> bool:
    """No process of it is left and its journal is recorded: write down how it ended.

    False when that was written down already."""
    state = _how_it_ended(attempt)
    error = attempt.error
    if state is AttemptState.FAILED and not error:
        error = _unexplained(attempt, exit_code)
    with transaction.atomic():
        if not change_state(attempt, state, exit_code=exit_code, error=error):
            return False
        if state is AttemptState.FAILED:
            _record_failure(attempt, log_tail)
        elif attempt.outcome == Attempt.Outcome.NONE:
            _record_killed(attempt)
        prune_events(attempt.job_id, EVENTS)
        signals.nudge()
    return True


def abandon(attempt: Attempt) -> bool:
    """Count the driver of an attempt that was asked to end as gone, unseen."""
    error = (
        "its TaskManager stayed away, so nobody saw the driver end; if it still runs it is "
        "killed when the TaskManager comes back, and what it commits until then stands"
    )
    with transaction.atomic():
        if not change_state(attempt, AttemptState.CANCELED, error=error):
            return False
        _record_failure(attempt, "")
    return True


def prune_events(job_id: str, keep: int) -> int:
    """Delete all but the job's newest `keep` events; how many went."""
    times = Event.objects.filter(job=job_id).order_by("-at", "-id").values_list("at", flat=True)
    oldest = times[keep : keep + 1].first()
    if oldest is None:
        return 0
    return Event.objects.filter(job=job_id, at__lte=oldest).delete()[0]


def _how_it_ended(attempt: Attempt) -> AttemptState:
    if attempt.outcome:
        return _ENDS[Attempt.Outcome(attempt.outcome)]
    if attempt.command:
        return _ENDS_WHEN_ASKED[Attempt.Command(attempt.command)]
    return AttemptState.FAILED


def _unexplained(attempt: Attempt, exit_code: int | None) -> str:
    how = {None: "", 0: " (exit code 0)"}.get(exit_code)
    if how is None and exit_code is not None:
        how = f" (signal {-exit_code})" if exit_code < 0 else f" (exit code {exit_code})"
    return (
        f"the driver, process {attempt.pid or 'unknown'}, ended without a word{how}; "
        "what it had not committed is processed again from the last checkpoint"
    )


def _record_failure(attempt: Attempt, log_tail: str) -> None:
    Event.objects.create(
        job_id=attempt.job_id,
        attempt=attempt,
        kind=Event.Kind.FAILURE,
        message=attempt.error,
        detail={
            "attempt": attempt.number,
            "traceback": attempt.traceback,
            "restartable": attempt.restartable,
            "exit_code": attempt.exit_code,
            "log": log_tail,
        },
    )


def _record_killed(attempt: Attempt) -> None:
    Event.objects.create(
        job_id=attempt.job_id,
        attempt=attempt,
        kind=Event.Kind.ATTEMPT,
        message=f"attempt {attempt.number} was asked to {attempt.command} and ended without "
        "confirming it; what it had not committed is processed again if the job goes on",
        detail={"attempt": attempt.number, "command": attempt.command},
    )
