"""What the pages of one job show. Each property is one query, made when a template asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Q

from dashboard import (
    checkpoints,
    lag,
    overview,
    recent,
    series,
    staleness,
    subtaskbars,
    timeline,
    verbs,
)
from dashboard.checkpoints import Checkpoints
from dashboard.failures import Cause, causes
from dashboard.measured import Measured
from jobs import artifacts
from jobs.models import (
    Alert,
    AlertRule,
    Attempt,
    Beginning,
    Checkpoint,
    Event,
    Savepoint,
    Upgrade,
)
from jobs.states import AlertState, AttemptState, JobState, Wanted

#: Rows of one page of a history, and of the short list on the job's first page.
PAGE, SHORT = 50, 8
#: Characters of a program that the page shows.
SHOWN = 256 * 1024


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of a batch: `share` is its part of the longest, in percent."""

    name: str
    ms: int
    share: int


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter of the job. `colour` is "warn" for records that went another way."""

    name: str
    value: int
    colour: str


class JobView(Measured):
    """With its histories and what it is."""

    # --- what it does ----------------------------------------------------------------------

    @cached_property
    def recent(self) -> recent.Recent | None:
        return recent.of([self.job], self.now).get(self.job.pk)

    @property
    def overdue(self) -> staleness.Overdue | None:
        return overview.overdue(self.job, self.recent, self.now)

    @property
    def runs(self) -> bool:
        return self.job.state_info is JobState.RUNNING

    @property
    def verbs(self) -> list[verbs.Verb]:
        return verbs.offered(self.job)

    @property
    def heading_elsewhere(self) -> str:
        """What is wanted of the job, while that is not what it is yet."""
        wanted, state = Wanted(self.job.wanted), self.job.state_info
        if wanted is Wanted.RUNNING or state.is_terminal:
            return ""
        return wanted.label.lower()

    @property
    def newest(self) -> int:
        """Of the charts' data: when this changes there are new points to ask for."""
        return self.recent.checkpoint_id if self.recent else 0

    @property
    def counters(self) -> list[Counter]:
        counted = self.recent.counters if self.recent else {}
        return [
            Counter(_words(name), value, _colour(name, value)) for name, value in counted.items()
        ]

    # --- histories -------------------------------------------------------------------------

    @cached_property
    def attempts(self) -> list[Attempt]:
        return list(self.job.attempts.select_related("taskmanager").order_by("-number")[:PAGE])

    @property
    def attempt(self) -> Attempt | None:
        return self.attempts[0] if self.attempts else None

    @cached_property
    def checkpoints(self) -> Checkpoints:
        return Checkpoints(self.job, self.chosen)

    @property
    def latest_checkpoints(self) -> list[Checkpoint]:
        rows = self.job.checkpoints.order_by("-checkpoint_id").defer("offsets", "phases", "tasks")
        return checkpoints.with_attempts(list(rows[:SHORT]), self.job)

    @cached_property
    def timeline(self) -> timeline.Timeline:
        return timeline.of(self.job, self.now)

    @cached_property
    def subtask_bars(self) -> subtaskbars.Bars | None:
        """Of the vertex that was chosen on the timeline."""
        chosen = self.vertices.get(self.chosen.vertex)
        return subtaskbars.of(self.job, chosen.vertex) if chosen is not None else None

    @cached_property
    def failures(self) -> list[Event]:
        rows = self.job.events.filter(kind=Event.Kind.FAILURE)
        rows = rows.select_related("attempt__taskmanager")
        if self.before is not None:
            rows = rows.filter(pk__lt=self.before)
        return list(rows.order_by("-at", "-id")[:PAGE])

    @property
    def causes(self) -> list[Cause]:
        return causes(self.failures)

    @property
    def older_failures(self) -> int | None:
        return self.failures[-1].pk if len(self.failures) == PAGE else None

    @property
    def last_failure(self) -> Event | None:
        """The newest failure, while the job has not come through behind it."""
        if not self.failures:
            return None
        failure = self.failures[0]
        recovered = self.runs and self.recent and self.recent.completed_at > failure.at
        return None if recovered or self.job.state_info is JobState.FINISHED else failure

    @cached_property
    def events(self) -> list[Event]:
        rows = self.job.events.order_by("-id")
        if self.before is not None:
            rows = rows.filter(pk__lt=self.before)
        return list(rows[:PAGE])

    @property
    def older_events(self) -> int | None:
        return self.events[-1].pk if len(self.events) == PAGE else None

    @cached_property
    def savepoints(self) -> list[Savepoint]:
        return list(self.job.savepoints.order_by("-created_at")[:PAGE])

    @property
    def beginning(self) -> Beginning | None:
        return Beginning.objects.filter(job=self.job).first()

    @cached_property
    def upgrades(self) -> list[Upgrade]:
        return list(self.job.upgrades.select_related("before", "after", "savepoint")[:SHORT])

    @cached_property
    def alerts(self) -> list[Alert]:
        return list(self.job.alerts.select_related("rule").order_by("-id")[:PAGE])

    @cached_property
    def firing(self) -> list[Alert]:
        rows = self.job.alerts.filter(state=AlertState.FIRING).select_related("rule")
        return list(rows.order_by("-id")[:3])

    @cached_property
    def rules(self) -> list[AlertRule]:
        """That watch this job, or all of them."""
        return list(AlertRule.objects.filter(Q(job=self.job) | Q(job=None))[:PAGE])

    @cached_property
    def restarted(self) -> list[Attempt]:
        """The newest attempts that failed."""
        rows = self.job.attempts.filter(state=AttemptState.FAILED).order_by("-number")
        return list(rows.only("number", "ended_at", "cause", "verdict", "job_id")[:SHORT])

    # --- where it reads --------------------------------------------------------------------

    @cached_property
    def topics(self) -> list[lag.Topic]:
        """Topics and partitions with their place, from the last checkpoint."""
        return lag.topics(self.job)

    # --- what it is ------------------------------------------------------------------------

    @property
    def source(self) -> str | None:
        """The job's program, or what is in its archive; None when it is not on this machine."""
        try:
            return "".join(artifacts.lines(self.job.entry))[:SHOWN]
        except OSError:
            return None

    @property
    def ranges(self) -> list[str]:
        return list(series.RANGES)


def phases(durations: Mapping[str, int]) -> list[Phase]:
    """The phases of a batch, longest first."""
    most = max(durations.values(), default=0) or 1
    ordered = sorted(durations.items(), key=lambda phase: -phase[1])
    return [Phase(name, ms, 100 * ms // most) for name, ms in ordered]


def _words(name: str) -> str:
    """dead_letters, dead-letters, deadLetters -> Dead letters."""
    spaced = "".join(f" {c.lower()}" if c.isupper() else c for c in name)
    return " ".join(spaced.replace("_", " ").replace("-", " ").split()).capitalize()


def _colour(name: str, value: int) -> str:
    told = ("dead", "late", "dropped", "rejected", "malformed", "failed")
    return "warn" if value and any(word in name.lower() for word in told) else ""
