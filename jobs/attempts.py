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
from django.db.models import F
from django.utils import timezone

from headrace.wire.failures import Cause
from jobs import checkpoint_requests, placement, savepoints, signals
from jobs.models import Attempt, Event, Job, Slot, TaskManager
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

#: What a driver says about its end.
_SAID = ("outcome", "error", "traceback", "cause", "restartable")

#: Events kept per job: some two hundred restarts; and of those that are of no job.
EVENTS = 2000
EVENTS_OF_NO_JOB = 10_000


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
        began = {"current_attempt": number, "waiting_for": "", "queued_at": None}
        if not waiting.update(**began, restart_of=None):
            raise SlotTaken(f"job {job.pk} no longer waits for slots")
        # 2.
        free_slots(job, keep=slots)
        hold(job, slots)
        # 3.
        taskmanager = TaskManager.objects.get(pk=taskmanager_id)
        return Attempt.objects.create(
            job=job,
            number=number,
            version=job.version,
            taskmanager=taskmanager,
            host=taskmanager.host,
            storage=taskmanager.storage,
            run_dir=str(settings.HEADRACE_RUNS / job.pk / str(number)),
        )


def queue(job: Job) -> None:
    """It gets no slots now: its place in the queue counts from here, and what it held before is of
    use to others."""
    job.queued_at = job.state_changed_at
    Job.objects.filter(pk=job.pk, state=job.state, queued_at=None).update(queued_at=job.queued_at)
    free_slots(job)


def tell_timeout(job: Job, reason: str) -> None:
    """A failure without an attempt: it waited for slots for too long."""
    Event.objects.create(
        job=job,
        kind=Event.Kind.FAILURE,
        message=f"it got no slots within {placement.TIMEOUT} "
        f"({job.placement.timeout_ms / 1000:g} s): {reason}"[:1000],
        detail={"traceback": "", "restartable": True, "log": ""},
    )
    prune_events(job.pk, EVENTS)


def hold(job: Job, slots: Sequence[int]) -> None:
    """Keep the slots for `job`, beside those that it holds; all or nothing. Raises SlotTaken."""
    with transaction.atomic():
        Slot.objects.filter(pk__in=slots, job=None).update(job=job, allocated_at=timezone.now())
        if job.slots.filter(pk__in=slots).count() != len(slots):
            raise SlotTaken(f"a slot that job {job.pk} was to get is taken")


def free_slots(job: Job, keep: Sequence[int] = ()) -> None:
    """Take the job's slots away, and those rows that its TaskManager no longer offers."""
    freed = job.slots.exclude(pk__in=keep)
    freed.filter(index__gte=F("taskmanager__slots")).delete()
    freed.update(job=None, allocated_at=None)


def free_kept(job: Job) -> None:
    """Take away what was kept for a move of the job: later than the slots in which it runs."""
    slots = job.slots.order_by("allocated_at").values_list("pk", flat=True)
    free_slots(job, keep=list(slots[: job.slots_wanted]))


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


def give_up(attempt: Attempt, error: str, cause: Cause) -> None:
    """The control plane decides that the attempt failed; its processes are killed next."""
    Attempt.objects.filter(pk=attempt.pk, outcome=Attempt.Outcome.NONE).update(
        outcome=Attempt.Outcome.FAILED,
        outcome_at=timezone.now(),
        error=error,
        cause=cause,
        restartable=cause.restartable,
    )
    attempt.refresh_from_db()


def end(attempt: Attempt, exit_code: int | None = None, log_tail: str = "") -> bool:
    """No process of it is left and its journal is recorded: write down how it ended.

    False when that was written down already."""
    state = _how_it_ended(attempt)
    error = attempt.error
    if state is AttemptState.FAILED and not error:
        error = _unexplained(attempt, exit_code)
    cause = attempt.cause or (Cause.DIED if state is AttemptState.FAILED else "")
    with transaction.atomic():
        if not change_state(attempt, state, exit_code=exit_code, error=error, cause=cause):
            return False
        savepoints.fail_of(attempt)
        checkpoint_requests.fail_of(attempt)
        if state is AttemptState.FAILED:
            _record_failure(attempt, log_tail)
        elif attempt.outcome == Attempt.Outcome.NONE:
            _record_killed(attempt)
        prune_events(attempt.job_id, EVENTS)
        signals.nudge()
    return True


def abandon(attempt: Attempt, target: AttemptState) -> bool:
    """Count the driver of an attempt as gone, unseen: CANCELED when it was asked to end, FAILED
    when its job goes on elsewhere, or as it said before that it ends. False, and nothing changed,
    when its TaskManager is back."""
    with transaction.atomic():
        if not _as_read(attempt.taskmanager):
            return False
        attempt.refresh_from_db(fields=_SAID)
        fields = {} if attempt.outcome else _unseen(target)
        end = _how_it_ended(attempt) if attempt.outcome else target
        if not change_state(attempt, end, ("outcome",), abandoned=True, **fields):
            return False
        savepoints.fail_of(attempt)
        checkpoint_requests.fail_of(attempt)
        if attempt.outcome in (Attempt.Outcome.NONE, Attempt.Outcome.FAILED):
            _record_failure(attempt, "")
    return True


def _unseen(target: AttemptState) -> dict[str, str]:
    lost = target is AttemptState.FAILED
    until_then = (
        "it can commit nothing once the next driver has taken the job over"
        if lost
        else "what it commits until then stands"
    )
    error = (
        "its TaskManager stayed away, so nobody saw the driver end; if it still runs it is "
        f"killed when the TaskManager comes back, and {until_then}"
    )
    return {"error": error, "cause": Cause.LOST if lost else ""}


def _as_read(taskmanager: TaskManager | None) -> bool:
    """Whether it is still the process, and in the state, that it was; so it is until the commit."""
    if taskmanager is None:
        return True
    seen = {"state": taskmanager.state, "started_at": taskmanager.started_at}
    rows = TaskManager.objects.filter(pk=taskmanager.pk, **seen)
    return bool(rows.update(state=taskmanager.state))  # an update locks the row


def judge(attempt: Attempt, verdict: str) -> None:
    """What the restart strategy made of its failure."""
    Attempt.objects.filter(pk=attempt.pk).update(verdict=verdict[:300])


def prune_events(job_id: str | None, keep: int) -> int:
    """Delete all but the newest `keep` events of a job, or of none; how many went."""
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
            "cause": attempt.cause,
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
