"""What the overview shows, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.conf import settings
from django.db.models import Count, Prefetch, QuerySet

from dashboard import recent, staleness
from jobs import taskmanagers
from jobs.models import Event, Job, Lease, Slot, TaskManager
from jobs.states import JobState, TaskManagerState

#: Rows of each table on the overview; the jobs page has all.
ACTIVE, ENDED, EVENTS = 50, 15, 7

#: States the overview always counts, whether there are such jobs or not.
ALWAYS_COUNTED = (JobState.RUNNING, JobState.FINISHED, JobState.CANCELED, JobState.FAILED)
_ENDED = (JobState.FINISHED, JobState.CANCELED, JobState.FAILED)
_ORDER = (
    *(JobState.RUNNING, JobState.INITIALIZING, JobState.CREATED, JobState.RESTARTING),
    *(JobState.RECONCILING, JobState.FAILING, JobState.CANCELLING, JobState.SUSPENDED),
    *_ENDED,
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table of jobs. `recent` is None for a job without a checkpoint."""

    job: Job
    recent: recent.Recent | None
    overdue: staleness.Overdue | None


@dataclass(frozen=True, slots=True)
class Seats:
    """One TaskManager with its slots in order; `late` when its heartbeat is."""

    taskmanager: TaskManager
    slots: list[Slot]
    late: bool

    @property
    def usable(self) -> bool:
        return self.taskmanager.state == TaskManagerState.REGISTERED

    @property
    def free(self) -> int:
        return sum(slot.job_id is None for slot in self.slots)


@dataclass(frozen=True, slots=True)
class Counted:
    state: JobState
    jobs: int


class Overview:
    """Read once per rendering; each property is one or two queries, made when it is asked for."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    @cached_property
    def seats(self) -> list[Seats]:
        known = TaskManager.objects.exclude(state=TaskManagerState.LEFT).prefetch_related(
            Prefetch("slot_set", taskmanagers.slots().select_related("job").order_by("index"))
        )
        return [Seats(one, list(one.slot_set.all()), late=self._is_late(one)) for one in known]

    def _is_late(self, taskmanager: TaskManager) -> bool:
        interval = settings.HEADRACE_HEARTBEAT_INTERVAL
        return staleness.heartbeat(taskmanager.last_heartbeat, self.now, interval)

    @property
    def _registered(self) -> list[Seats]:
        return [seats for seats in self.seats if seats.usable]

    @property
    def taskmanagers(self) -> int:
        return len(self._registered)

    @property
    def slots(self) -> int:
        return sum(len(seats.slots) for seats in self._registered)

    @property
    def free_slots(self) -> int:
        return sum(seats.free for seats in self._registered)

    @cached_property
    def counts(self) -> list[Counted]:
        """Jobs by state, in the order of a job's life."""
        found = dict(Job.objects.order_by().values_list("state").annotate(Count("pk")))
        return [
            Counted(state, found.get(state, 0))
            for state in _ORDER
            if state in ALWAYS_COUNTED or state in found
        ]

    @cached_property
    def active(self) -> list[Row]:
        jobs = Job.objects.exclude(state__in=_ENDED).order_by("-created_at")
        return rows(jobs[: ACTIVE + 1], self.now)[:ACTIVE]

    @property
    def active_total(self) -> int:
        return sum(one.jobs for one in self.counts if one.state not in _ENDED)

    @cached_property
    def ended(self) -> list[Row]:
        jobs = Job.objects.filter(state__in=_ENDED, archived_at=None).order_by("-ended_at")
        return [Row(job, None, None) for job in jobs[:ENDED]]

    @property
    def ended_total(self) -> int:
        return sum(one.jobs for one in self.counts if one.state in _ENDED)

    @cached_property
    def events(self) -> list[Event]:
        """The newest of those that belong to no job."""
        return list(Event.objects.filter(job=None).order_by("-at", "-id")[:EVENTS])

    @cached_property
    def leaderless_since(self) -> datetime | None:
        """Since when no JobManager leads: waiting jobs don't start, actions aren't carried out."""
        leases = list(Lease.objects.all()[:1])
        lapsed = [lease.expires_at for lease in leases if lease.expires_at < self.now]
        return lapsed[0] if lapsed else None


def rows(jobs: Iterable[Job] | QuerySet[Job], now: datetime) -> list[Row]:
    """Jobs with what they do now: two queries beyond that of the jobs."""
    listed = list(jobs)
    doing = recent.of(listed, now)
    return [Row(job, doing.get(job.pk), overdue(job, doing.get(job.pk), now)) for job in listed]


def overdue(job: Job, doing: recent.Recent | None, now: datetime) -> staleness.Overdue | None:
    """Whether the job's next checkpoint is late; one that has nothing left to read is not."""
    if doing is not None and doing.lag == 0:
        return None
    runs = job.state_info is JobState.RUNNING
    return staleness.checkpoint(
        running_since=job.state_changed_at if runs else None,
        last_completed=doing.completed_at if doing else None,
        interval=job.checkpoint_interval,
        last_duration=doing.duration if doing else 0,
        now=now,
    )
