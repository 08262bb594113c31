"""What the overview shows, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.conf import settings
from django.db.models import Count, Prefetch, QuerySet

from dashboard import recent, staleness
from dashboard.scope import ALL, Scope
from jobs import leases, taskmanagers
from jobs.models import Alert, Event, Job, Lease, Slot, TaskManager
from jobs.states import AlertState, JobState, TaskManagerState

#: Rows of each table on the overview; the jobs page has all.
ACTIVE, ENDED, EVENTS, ALERTS = 50, 15, 7, 5

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
class Seat:
    """One slot; `job` is the one that holds it, None when it is free or the job is another
    team's."""

    slot: Slot
    job: Job | None


@dataclass(frozen=True, slots=True)
class Seats:
    """One TaskManager with its slots in order; `late` when its heartbeat is."""

    taskmanager: TaskManager
    slots: list[Seat]
    late: bool

    @property
    def usable(self) -> bool:
        return self.taskmanager.state == TaskManagerState.REGISTERED

    @property
    def free(self) -> int:
        return sum(seat.slot.job_id is None for seat in self.slots)

    @property
    def taken(self) -> int:
        return len(self.slots) - self.free

    @property
    def drivers(self) -> int:
        """Jobs that hold slots here: each has one driver."""
        return len({seat.slot.job_id for seat in self.slots if seat.slot.job_id})


@dataclass(frozen=True, slots=True)
class Counted:
    state: JobState
    jobs: int


class Overview:
    """Read once per rendering; each property is one or two queries, made when it is asked for."""

    def __init__(self, now: datetime, scope: Scope = ALL) -> None:
        self.now = now
        self.scope = scope

    @cached_property
    def seats(self) -> list[Seats]:
        known = TaskManager.objects.exclude(state=TaskManagerState.LEFT)
        return seats(known, self.scope, self.now)

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
        """Those that a job may get: a drained TaskManager gives none."""
        offering = [seats for seats in self._registered if not seats.taskmanager.drained_at]
        return sum(seats.free for seats in offering)

    @cached_property
    def counts(self) -> list[Counted]:
        """Jobs by state, in the order of a job's life."""
        listed = self.scope.jobs.filter(archived_at=None).order_by()
        found = dict(listed.values_list("state").annotate(Count("pk")))
        return counted(found)

    @cached_property
    def active(self) -> list[Row]:
        jobs = self.scope.jobs.exclude(state__in=_ENDED).order_by("-created_at")
        return rows(jobs[:ACTIVE], self.now)

    @property
    def active_total(self) -> int:
        return sum(one.jobs for one in self.counts if one.state not in _ENDED)

    @cached_property
    def ended(self) -> list[Row]:
        jobs = self.scope.jobs.filter(state__in=_ENDED, archived_at=None).order_by("-ended_at")
        return [Row(job, None, None) for job in jobs[:ENDED]]

    @property
    def ended_total(self) -> int:
        return sum(one.jobs for one in self.counts if one.state in _ENDED)

    @cached_property
    def events(self) -> list[Event]:
        """The newest of those that belong to no job. A schedule's say what a team runs and when:
        they are for who sees all teams."""
        rows = Event.objects.filter(job=None)
        if self.scope.teams is not None:
            rows = rows.exclude(kind=Event.Kind.SCHEDULE)
        return list(rows.order_by("-at", "-id")[:EVENTS])

    @cached_property
    def alerts(self) -> list[Alert]:
        """The newest that fire."""
        firing = self.scope.rows(Alert.objects.filter(state=AlertState.FIRING), "job__team")
        return list(firing.select_related("rule", "job").order_by("-since")[:ALERTS])

    @cached_property
    def lease(self) -> Lease | None:
        return Lease.objects.filter(name=leases.JOBMANAGER).first()

    @property
    def leader(self) -> str:
        """The JobManager that leads; "" when none does."""
        lease = self.lease
        return lease.holder if lease is not None and lease.expires_at >= self.now else ""

    @property
    def leaderless_since(self) -> datetime | None:
        """Since when no JobManager leads: waiting jobs don't start, actions aren't carried out."""
        lease = self.lease
        return lease.expires_at if lease is not None and lease.expires_at < self.now else None


def counted(found: Mapping[str, int]) -> list[Counted]:
    """Jobs by state, in the order of a job's life; those always counted are there if none is."""
    return [
        Counted(state, found.get(state, 0))
        for state in _ORDER
        if state in ALWAYS_COUNTED or state in found
    ]


def seats(of: QuerySet[TaskManager], scope: Scope, now: datetime) -> list[Seats]:
    """TaskManagers with their slots and who holds them: three queries."""
    slots = taskmanagers.slots().select_related("job").order_by("index")
    interval = settings.HEADRACE_HEARTBEAT_INTERVAL
    return [
        Seats(
            each,
            [Seat(slot, _shown(slot.job, scope)) for slot in each.slot_set.all()],
            late=staleness.heartbeat(each.last_heartbeat, now, interval),
        )
        for each in of.prefetch_related(Prefetch("slot_set", slots))
    ]


def _shown(job: Job | None, scope: Scope) -> Job | None:
    return job if job is not None and scope.has(job) else None


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
