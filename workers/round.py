"""One round of the leading JobManager over all jobs that are to go on: the next steps of each, then
slots for those that wait, all at once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import structlog
from django.db.models import Q
from django.utils import timezone

from jobs import actions, attempts, leases, moves, savepoints, upgrades
from jobs.models import Attempt, Event, Job, Upgrade
from jobs.states import Ends, JobState, Wanted, change_state
from workers import allocation, current, decisions, slots, upgrading, views
from workers.word import Word

log = structlog.get_logger(__name__)

#: Steps in a row for one job; a job needs three at most (FAILING, FAILED, wait).
STEPS_AT_ONCE = 5
#: What users change of a job, some of it without a change of its state. A step decided from other
#: values is not taken: the wish counts, and the next look at the job sees it.
_WISHES = ("wanted", "restart_of", "current_attempt", "restarts_in_a_row", "restart_at")


class Round:
    """`guard`: a transaction that is committed only while the lease is held; `renew`: holds it for
    longer, if need be. Both raise Deposed, and so does `run`."""

    def __init__(
        self,
        guard: Callable[[], AbstractContextManager[None]],
        renew: Callable[[], None],
        word: Word,
    ) -> None:
        self._guard = guard
        self._renew = renew
        self._word = word
        #: Those on the way to another version, by job.
        self._upgrades: dict[str, Upgrade] = {}
        #: Jobs that are to get slots, and those that are to get others.
        self._waiting: list[Job] = []
        self._moving: list[Job] = []
        #: Those that have waited for too long and ask again soon: they keep their place.
        self._pausing: list[Job] = []
        #: Those that hold all their slots where they may stay, and those with a new reason to wait.
        self._with_room: set[str] = set()
        #: Those that hold slots where they may not stay.
        self._to_leave: set[str] = set()
        #: Attempts of those, of which no savepoint could be made.
        self._unsaved: set[int] = set()
        self._told_why: list[Job] = []

    def run(self) -> None:
        unsettled = Q(state__in=JobState.live()) | (
            Q(state=JobState.SUSPENDED) & ~Q(wanted=Wanted.SUSPENDED)
        )
        unused = "plan", "lag", "arguments"
        rows = list(Job.objects.filter(unsettled).defer(*unused).order_by("created_at"))
        under_way = current.attempts_of(rows)
        # Behind the attempts: who sees the end of one sees the savepoint that it ended with.
        self._upgrades = upgrades.under_way(rows)
        self._to_leave = allocation.to_leave(rows)
        self._with_room = allocation.with_room(
            [job for job in rows if job.pk in self._to_leave or _pauses(job)]
        )
        self._unsaved = moves.unsaved(
            [attempt for job, attempt in under_way.items() if job in self._to_leave]
        )
        for job in rows:
            with self._on_its_own(job):
                self._step(job, under_way.get(job.pk))
        self._allocate()
        self._write_reasons()

    @contextlib.contextmanager
    def _on_its_own(self, job: Job) -> Iterator[None]:
        """One job's trouble does not keep the others from their steps; nor is the lease lost over
        all the steps of a tick."""
        self._renew()
        try:
            yield
        except leases.Deposed:
            raise
        except (actions.Conflict, savepoints.Conflict) as error:  # a user was first
            log.debug("no step taken", job=job.pk, error=str(error))
        except Exception:
            log.exception("no step taken", job=job.pk)

    def _step(self, job: Job, attempt: Attempt | None) -> None:
        """Take the job's steps until it waits for something."""
        for _ in range(STEPS_AT_ONCE):
            if not self._take(job, attempt, self._next_step(job, attempt)):
                return
            job.refresh_from_db()
            attempt = current.attempt_of(job)

    def _next_step(self, job: Job, attempt: Attempt | None) -> decisions.Step | upgrading.Turn:
        now = timezone.now()
        upgrade = self._upgrades.get(job.pk)
        view = views.of(
            job,
            attempt,
            now,
            to_leave=job.pk in self._to_leave,
            has_room=job.pk in self._with_room,
            unsaved=attempt is not None and attempt.pk in self._unsaved,
            upgrading=upgrade is not None,
        )
        if upgrade is not None:
            step = upgrading.next_step(views.of_upgrade(upgrade, job, now), view)
            if step is not None:
                return step
        return decisions.next_step(view)

    def _take(
        self, job: Job, attempt: Attempt | None, step: decisions.Step | upgrading.Turn
    ) -> bool:
        """Whether something changed, so that there may be another step at once."""
        match step:
            case upgrading.Turn(target, reason):
                self._with_room.discard(job.pk)  # what was kept for it may be of no use now
                with self._guard():
                    return upgrades.turn(self._upgrades[job.pk], job, target, reason)
            case decisions.Wait(reason):
                if _pauses(job):
                    self._pausing.append(job)
                self._say(job, reason)
                return False
            case decisions.Change():
                return self._change(job, attempt, step)
            case decisions.Again():
                return self._again(job, attempt, step)
            case decisions.Begin():
                self._waiting.append(job)
                return False
            case decisions.Move():
                self._moving.append(job)
                return False
            case decisions.Leave() if attempt is not None:
                self._leave(job, attempt)
                return False
            case decisions.Launch() if attempt is not None:
                self._word.send(attempt)
                return False
            case decisions.Ask(command) if attempt is not None:
                with self._guard():
                    asked = attempts.ask(attempt, Attempt.Command(command))
                self._word.send(attempt, at_once=True)
                return asked
            case decisions.Abandon(target) if attempt is not None:
                with self._guard():
                    return attempts.abandon(attempt, target)
            case _:
                raise ValueError(f"{step} without an attempt (job {job.pk})")

    def _change(self, job: Job, attempt: Attempt | None, step: decisions.Change) -> bool:
        closing: dict[str, Any] = (
            {"current_attempt": None, "restart_of": None} if step.closes else {}
        )
        with self._guard():
            if not change_state(job, step.target, _WISHES, **closing):
                return False
            if step.target.is_terminal:
                attempts.free_slots(job)
            if step.target.ends is Ends.FOR_GOOD:
                upgrades.close(job, f"the job is {step.target.label.lower()}")
            if step.target is JobState.FAILING and attempt is not None:
                attempts.judge(attempt, f"not restarted: {step.reason}")
            if step.reason:
                _explain(job, attempt, step)
        return True

    def _again(self, job: Job, attempt: Attempt | None, step: decisions.Again) -> bool:
        due = timezone.now() + timedelta(milliseconds=step.delay_ms)
        counts: dict[str, Any] = {}
        if step.verdict is not None:
            counts = {
                "restarts": job.restarts + 1,
                "restarts_in_a_row": step.verdict.after.restarts,
                "failure_times": list(step.verdict.after.failures),
            }
        with self._guard():
            changed = change_state(
                job,
                JobState.RESTARTING,
                _WISHES,
                current_attempt=None,
                restart_of=None,
                restart_at=due,
                **counts,
            )
            if changed and step.verdict is not None and attempt is not None:
                attempts.judge(attempt, step.verdict.words)
        return changed

    def _allocate(self) -> None:
        """Slots for the jobs that wait or are to move, all at once: in the order of the queue."""
        waiting, moving, pausing = self._waiting, self._moving, self._pausing
        answers = allocation.allocate([*waiting, *moving, *pausing])
        for job in waiting:
            with self._on_its_own(job):
                self._begin(job, answers[job.pk])
        for job in pausing:
            with self._on_its_own(job):
                self._hold(job, answers[job.pk])
        for job in moving:
            with self._on_its_own(job):
                self._move(job, answers[job.pk])

    def _begin(self, job: Job, answer: slots.Grant | slots.Refusal) -> None:
        """Give the job its slots and launch it, or say what it waits for."""
        if isinstance(answer, slots.Refusal):
            self._keep_waiting(job, answer.reason)
            return
        try:
            with self._guard():
                attempt = attempts.begin(job, answer.taskmanager, answer.slots)
        except attempts.SlotTaken as error:
            log.info("slots not given", job=job.pk, error=str(error))
            return
        self._word.send(attempt)

    def _keep_waiting(self, job: Job, reason: str) -> None:
        if job.queued_at is None:
            with self._guard():
                attempts.queue(job)
        now = timezone.now()
        if not allocation.overdue(job, now):
            self._say(job, reason)
            return
        upgrade = self._upgrades.get(job.pk)
        if upgrade is not None:
            turn = upgrading.out_of_slots(views.of_upgrade(upgrade, job, now), reason)
            if turn is not None:
                self._take(job, None, turn)
                return
        step = decisions.after_waiting(views.of(job, None, now), views.milliseconds(now))
        with self._guard():
            attempts.tell_timeout(job, reason)
        self._take(job, None, step)

    def _move(self, job: Job, answer: slots.Grant | slots.Refusal) -> None:
        """Keep slots elsewhere for a job that holds some where it cannot stay, then have it leave;
        those that are but lent to its driver elsewhere, for a Spark cluster, are exchanged."""
        if isinstance(answer, slots.Refusal):
            self._say(job, f"is to leave a TaskManager which is drained: {answer.reason}")
            return
        # Both or neither: slots kept for a move that is not asked for would be kept for ever.
        with self._guard():
            attempt = current.attempt_of(job)
            unsaved = attempt is not None and attempt.pk in self._unsaved
            still = bool(allocation.to_leave([job]))
            now = timezone.now()
            view = views.of(job, attempt, now, to_leave=still, has_room=True, unsaved=unsaved)
            step = decisions.next_step(view)
            if attempt is not None and isinstance(step, decisions.Ask | decisions.Leave):
                self._hold(job, answer)
                if answer.taskmanager == attempt.taskmanager_id:
                    attempts.free_slots(job, keep=answer.slots)
                else:
                    self._take(job, attempt, step)

    def _leave(self, job: Job, attempt: Attempt) -> None:
        """Through a savepoint; from its checkpoint where there can be none."""
        with self._guard():
            if not moves.ask(job, attempt):
                self._take(job, attempt, decisions.Ask("suspend"))

    def _hold(self, job: Job, answer: slots.Grant | slots.Refusal) -> None:
        if isinstance(answer, slots.Grant) and job.pk not in self._with_room:
            with self._guard():
                attempts.hold(job, answer.slots)

    def _say(self, job: Job, reason: str) -> None:
        if job.waiting_for != reason[:300]:
            job.waiting_for = reason[:300]
            self._told_why.append(job)

    def _write_reasons(self) -> None:
        """All at once: when a queue moves, each that waits has another place in it."""
        for state in {job.state for job in self._told_why}:
            told = [job for job in self._told_why if job.state == state]
            with self._guard():
                Job.objects.filter(state=state).bulk_update(told, ["waiting_for"])


def _pauses(job: Job) -> bool:
    """Whether it has waited for too long, and keeps its place until it asks again."""
    return job.state == JobState.RESTARTING and job.queued_at is not None


def _explain(job: Job, attempt: Attempt | None, step: decisions.Change) -> None:
    Event.objects.create(
        job=job,
        attempt=attempt,
        kind=Event.Kind.ATTEMPT,
        message=f"not restarted: {step.reason}" if step.target is JobState.FAILING else step.reason,
    )
