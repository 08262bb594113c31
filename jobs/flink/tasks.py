"""A job's tasks: in which of Flink's states they are, since when, and where.

All subtasks of a job run in one driver, so they change their states together: a run of the job is
that of each of its subtasks. Runs are attempts; Flink counts them from 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from jobs.flink import times
from jobs.models import Attempt, Event, Job
from jobs.states import AttemptState, JobState

#: In the order of a task's life, then how it ends.
STATES = (
    *("CREATED", "SCHEDULED", "DEPLOYING", "INITIALIZING", "RUNNING", "FINISHED"),
    *("CANCELING", "CANCELED", "FAILED", "RECONCILING"),
)
_WAY = STATES[:5]

_OF_ATTEMPT = {
    AttemptState.CREATED: "SCHEDULED",
    AttemptState.DEPLOYING: "DEPLOYING",
    AttemptState.RUNNING: "RUNNING",
    AttemptState.FINISHED: "FINISHED",
    AttemptState.CANCELED: "CANCELED",
    AttemptState.SUSPENDED: "CANCELED",
    AttemptState.FAILED: "FAILED",
}
#: Of a job that has no attempt under way and will have none by itself.
_OF_ENDED = {
    JobState.FINISHED: "FINISHED",
    JobState.CANCELED: "CANCELED",
    JobState.SUSPENDED: "CANCELED",
    JobState.FAILED: "FAILED",
}
#: How events begin that tell when the driver was there, and when its query ran.
_BEGAN, _RUNS = "driver started", "attempt "
UNASSIGNED = "(unassigned)"


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of each subtask. Times are ms since 1970, of states that were not entered 0."""

    number: int
    state: str
    entered: Mapping[str, int]
    endpoint: str = UNASSIGNED
    taskmanager: str = UNASSIGNED

    @property
    def start(self) -> int:
        """When it was deployed; -1 = not yet."""
        return self.entered["DEPLOYING"] or times.NEVER

    @property
    def end(self) -> int:
        ended = max(self.entered[state] for state in ("FINISHED", "CANCELED", "FAILED"))
        return ended or times.NEVER

    def duration(self, now: int) -> int:
        """-1 before it was deployed."""
        return times.NEVER if self.start < 0 else max(0, self._until(now) - self.start)

    def status_durations(self, now: int) -> dict[str, int]:
        """Milliseconds in each state of its life so far; 0 in those it was not in."""
        reached = [(state, self.entered[state]) for state in _WAY if self.entered[state]]
        ends = [at for _, at in reached[1:]] + [self._until(now)]
        spent = {state: max(0, end - at) for (state, at), end in zip(reached, ends, strict=True)}
        return {state: spent.get(state, 0) for state in _WAY}

    def _until(self, now: int) -> int:
        return self.end if self.end > 0 else now


def current(job: Job) -> Run:
    """The latest; three queries at most."""
    attempt = job.attempts.select_related("taskmanager").order_by("-number").first()
    if attempt is None or _waits_for_another(job, attempt):
        return _waiting(job, 0 if attempt is None else attempt.number)
    return _of(job, attempt)


def find(job: Job, number: int) -> Run | None:
    """By Flink's number of it."""
    attempt = job.attempts.select_related("taskmanager").filter(number=number + 1).first()
    return None if attempt is None else _of(job, attempt)


def counts(state: str, number: int, *, lower: bool = False) -> dict[str, int]:
    """How many tasks are in which state: `number` in one, none in the others."""
    return {each.lower() if lower else each: number if each == state else 0 for each in STATES}


def state_of(job: Job, attempt_state: str | None) -> str:
    """Of a job's tasks, by the state of its attempt under way, if there is one."""
    if attempt_state is None:
        return _OF_ENDED.get(job.state_info, "CREATED")
    found = _OF_ATTEMPT[AttemptState(attempt_state)]
    if AttemptState(attempt_state).is_terminal:
        return found
    if job.state == JobState.CANCELLING:
        return "CANCELING"
    return "RECONCILING" if job.state == JobState.RECONCILING else found


def _waits_for_another(job: Job, last: Attempt) -> bool:
    """Its last attempt has ended, and the next one is not there yet."""
    begins = job.state in (JobState.CREATED, JobState.INITIALIZING)
    return begins and last.state_info.is_terminal and job.current_attempt != last.number


def _waiting(job: Job, number: int) -> Run:
    state = state_of(job, None)
    entered = dict.fromkeys(STATES, 0)
    entered["CREATED"] = int(job.timestamps.get("CREATED") or times.of(job.created_at))
    if state != "CREATED":
        entered[state] = times.of(job.ended_at, 0)
    return Run(number, state, entered)


def _of(job: Job, attempt: Attempt) -> Run:
    state = state_of(job, attempt.state)
    if state == "DEPLOYING" and attempt.journal_number:
        state = "INITIALIZING"  # the driver has said something
    entered = dict.fromkeys(STATES, 0)
    entered["CREATED"] = entered["SCHEDULED"] = times.of(attempt.created_at)
    entered["DEPLOYING"] = times.of(attempt.started_at, 0)
    entered |= _told(job, attempt)
    if attempt.state_info.is_terminal:
        entered[state] = times.of(attempt.ended_at, 0)
    elif state in ("CANCELING", "RECONCILING"):
        entered[state] = times.of(job.state_changed_at, 0)
    taskmanager = attempt.taskmanager
    return Run(
        number=attempt.number - 1,
        state=state,
        entered=entered,
        endpoint=attempt.host or (taskmanager.host if taskmanager else UNASSIGNED),
        taskmanager=taskmanager.name if taskmanager else UNASSIGNED,
    )


def _told(job: Job, attempt: Attempt) -> dict[str, int]:
    """When its driver was there, and when its query ran, as its events say. Old events are pruned:
    then the job's own time counts, if it is of this attempt."""
    begins = Q(message__startswith=_BEGAN) | Q(message__startswith=f"{_RUNS}{attempt.number} runs")
    rows = Event.objects.filter(begins, job=job, attempt=attempt, kind=Event.Kind.ATTEMPT)
    found: dict[str, Any] = {}
    for message, at in rows.order_by("-at").values_list("message", "at")[:10]:
        found["INITIALIZING" if message.startswith(_BEGAN) else "RUNNING"] = times.of(at)
    ran = attempt.state == AttemptState.RUNNING or bool(attempt.application_id)
    if "RUNNING" not in found and ran:
        since = int(job.timestamps.get("RUNNING") or 0)
        deployed = times.of(attempt.started_at, 0)
        found["RUNNING"] = since if since >= deployed else deployed
    return found
