"""The JobManager: moves what is towards what is wanted, one step at a time.

Any number may run; the one that holds the lease acts. A step is decided from the tables alone
(`workers.decisions`) and written in a transaction that is committed only while the lease is held,
so it can be killed, paused or replaced between any two of its instructions.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog
from django import db
from django.conf import settings
from django.db import close_old_connections, transaction
from django.db.models import F, Q
from django.utils import timezone

from jobs import attempts, leases, taskmanagers
from jobs.models import Attempt, Event, Job, Slot, TaskManager
from jobs.states import AttemptState, JobState, TaskManagerState, Wanted, change_state
from workers import decisions, nudges, restarts, slots, tasks

log = structlog.get_logger(__name__)

TICK_SECONDS = 0.5
#: Steps in a row for one job within a tick; a job needs three at most (FAILING, FAILED, wait).
STEPS_AT_ONCE = 5
RENEW_SECONDS = 2.0
LAUNCH_AGAIN_SECONDS = 5.0


class JobManager:
    """One process; `run` until `stop`."""

    def __init__(self, name: str | None = None) -> None:
        self.name = name or f"{socket.gethostname()}:{os.getpid()}"
        self._held: leases.Held | None = None
        self._renewed = 0.0
        self._told: dict[int, float] = {}
        self._stopped = threading.Event()

    def run(self) -> None:
        ear = nudges.Ear(nudges.line(), settings.REDIS_URL)
        while not self._stopped.is_set():
            try:
                self.tick()
            except db.Error:
                log.exception("the database does not answer; trying again")
            close_old_connections()
            ear.wait(TICK_SECONDS, self._stopped)
        if self._held is not None:
            leases.give_up(self._held)

    def stop(self) -> None:
        """End after the current tick; safe to call from a signal handler."""
        self._stopped.set()

    @property
    def leads(self) -> bool:
        return self._held is not None

    def tick(self) -> None:
        """Lead if possible, then take every step that is due."""
        try:
            if self._lead():
                self._notice_lost_taskmanagers()
                self._step_all()
        except leases.Deposed as error:
            log.warning("deposed", error=str(error))
            self._held = None

    def _lead(self) -> bool:
        if self._held is None:
            self._held = leases.take(leases.JOBMANAGER, self.name)
            if self._held is not None:
                self._renewed = time.monotonic()
                log.info("leads", name=self.name, epoch=self._held.epoch)
        elif time.monotonic() - self._renewed > RENEW_SECONDS:
            leases.renew(self._held)
            self._renewed = time.monotonic()
        return self._held is not None

    def _notice_lost_taskmanagers(self) -> None:
        deadline = timezone.now() - timedelta(seconds=settings.HEADRACE_HEARTBEAT_TIMEOUT)
        for row in taskmanagers.silent_since(deadline):
            with leases.guard(self._lease()):
                taskmanagers.lose(row, deadline)

    def _lease(self) -> leases.Held:
        if self._held is None:
            raise leases.Deposed(f"{self.name} does not lead")
        return self._held

    # --- steps ---

    def _step_all(self) -> None:
        unsettled = Q(state__in=JobState.live()) | (
            Q(state=JobState.SUSPENDED) & ~Q(wanted=Wanted.SUSPENDED)
        )
        rows = list(Job.objects.filter(unsettled).defer("plan").order_by("created_at"))
        current = Attempt.objects.filter(
            job__in=[job for job in rows if job.current_attempt is not None],
            number=F("job__current_attempt"),
        ).select_related("taskmanager")
        under_way = {attempt.job_id: attempt for attempt in current}
        for job in rows:
            try:
                self._step(job, under_way.get(job.pk))
            except leases.Deposed:
                raise
            except Exception:
                # One job's trouble does not keep the others from their steps.
                log.exception("no step taken", job=job.pk)

    def _step(self, job: Job, attempt: Attempt | None) -> None:
        """Take the job's steps until it waits for something."""
        for _ in range(STEPS_AT_ONCE):
            step = decisions.next_step(view(job, attempt, timezone.now()))
            if not self._take(job, attempt, step):
                return
            job.refresh_from_db()
            attempt = _current_attempt(job)

    def _take(self, job: Job, attempt: Attempt | None, step: decisions.Step) -> bool:
        """Whether something changed, so that there may be another step at once."""
        match step:
            case decisions.Wait(reason):
                self._say(job, reason)
                return False
            case decisions.Change():
                return self._change(job, attempt, step)
            case decisions.Again():
                return self._again(job, attempt, step)
            case decisions.Begin():
                return self._begin(job)
            case decisions.Launch() if attempt is not None:
                self._tell_taskmanager(attempt)
                return False
            case decisions.Ask(command) if attempt is not None:
                with leases.guard(self._lease()):
                    asked = attempts.ask(attempt, Attempt.Command(command))
                self._tell_taskmanager(attempt, at_once=True)
                return asked
            case decisions.Abandon() if attempt is not None:
                with leases.guard(self._lease()):
                    return attempts.abandon(attempt)
            case _:
                raise ValueError(f"{step} without an attempt (job {job.pk})")

    def _change(self, job: Job, attempt: Attempt | None, step: decisions.Change) -> bool:
        closing = {"current_attempt": None, "restart_of": None} if step.closes else {}
        with leases.guard(self._lease()):
            if not change_state(job, step.target, **closing):
                return False
            if step.target.is_terminal:
                attempts.free_slots(job)
            if step.reason:
                _explain(job, attempt, step)
        return True

    def _again(self, job: Job, attempt: Attempt | None, step: decisions.Again) -> bool:
        due = timezone.now() + timedelta(milliseconds=step.delay_ms)
        counts = (
            {"restarts": job.restarts + 1, "restarts_in_a_row": job.restarts_in_a_row + 1}
            if step.counts
            else {}
        )
        with leases.guard(self._lease()):
            return change_state(
                job,
                JobState.RESTARTING,
                current_attempt=None,
                restart_of=None,
                restart_at=due,
                **counts,
            )

    def _begin(self, job: Job) -> bool:
        """Give the job its slots and launch it, or say what it waits for."""
        together = not settings.SPARK_MASTER
        on_offer = offers(job)
        last = job.attempts.order_by("-number").first()
        previous = last.taskmanager_id if last else None
        grant = slots.choose(job.parallelism, on_offer, together=together, previous=previous)
        if grant is None:
            if job.slots.exists():
                # What it held before, and cannot use, is of use to others while it waits.
                with leases.guard(self._lease()):
                    attempts.free_slots(job)
            self._say(job, slots.why_not(job.parallelism, on_offer, together=together))
            return False
        try:
            with leases.guard(self._lease()):
                attempt = attempts.begin(job, grant.taskmanager, grant.slots)
        except attempts.SlotTaken as error:
            log.info("slots not given", job=job.pk, error=str(error))
            return False
        self._tell_taskmanager(attempt)
        return False

    def _say(self, job: Job, reason: str) -> None:
        if job.waiting_for != reason:
            with leases.guard(self._lease()):
                Job.objects.filter(pk=job.pk, state=job.state).update(waiting_for=reason)
            job.waiting_for = reason

    def _tell_taskmanager(self, attempt: Attempt, *, at_once: bool = False) -> None:
        """Word after the commit, and again now and then; its own tick finds the work anyway."""
        now = time.monotonic()
        if not at_once and now - self._told.get(attempt.pk, -1e9) < LAUNCH_AGAIN_SECONDS:
            return
        self._told = {pk: at for pk, at in self._told.items() if now - at < LAUNCH_AGAIN_SECONDS}
        self._told[attempt.pk] = now
        if attempt.taskmanager is not None:
            queue = attempt.taskmanager.queue
            transaction.on_commit(lambda: tasks.send_look(queue))


def _current_attempt(job: Job) -> Attempt | None:
    if job.current_attempt is None:
        return None
    rows = job.attempts.filter(number=job.current_attempt)
    return rows.select_related("taskmanager").first()


def _explain(job: Job, attempt: Attempt | None, step: decisions.Change) -> None:
    Event.objects.create(
        job=job,
        attempt=attempt,
        kind=Event.Kind.ATTEMPT,
        message=f"not restarted: {step.reason}" if step.target is JobState.FAILING else step.reason,
    )


def offers(job: Job) -> Sequence[slots.Offer]:
    """What registered TaskManagers have for `job`: free slots and those it holds already."""
    rows = Slot.objects.filter(
        taskmanager__state=TaskManagerState.REGISTERED, index__lt=F("taskmanager__slots")
    ).filter(Q(job=None) | Q(job=job))
    free: dict[int, list[int]] = {}
    for row in rows.order_by("taskmanager", "index"):
        free.setdefault(row.taskmanager_id, []).append(row.pk)
    registered = TaskManager.objects.filter(state=TaskManagerState.REGISTERED).order_by("pk")
    return [slots.Offer(tm.pk, tm.name, tm.slots, tuple(free.get(tm.pk, ()))) for tm in registered]


def view(job: Job, attempt: Attempt | None, now: datetime) -> decisions.JobView:
    """The rows as the decision sees them."""
    return decisions.JobView(
        state=JobState(job.state),
        wanted=Wanted(job.wanted),
        attempt=_attempt_view(attempt, now) if attempt is not None else None,
        restart_of=job.restart_of,
        restart_due=job.restart_at is None or job.restart_at <= now,
        restarts_in_a_row=job.restarts_in_a_row,
        strategy=restarts.FixedDelay(job.restart_attempts, job.restart_delay_ms),
    )


def _attempt_view(attempt: Attempt, now: datetime) -> decisions.AttemptView:
    taskmanager = attempt.taskmanager
    out_of_reach: float | None = None
    if taskmanager is None:
        out_of_reach = (now - attempt.created_at).total_seconds()
    elif taskmanager.state != TaskManagerState.REGISTERED:
        out_of_reach = (now - taskmanager.last_heartbeat).total_seconds()
    return decisions.AttemptView(
        number=attempt.number,
        state=AttemptState(attempt.state),
        command=attempt.command,
        restartable=attempt.restartable,
        out_of_reach=out_of_reach,
    )
