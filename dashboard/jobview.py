"""What the pages of one job show. Each property is one query, made when a template asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from django.db.models import Avg, Count, Max, Min

from dashboard import graph, overview, recent, series, staleness, verbs
from jobs.models import Attempt, Checkpoint, Event, Job, Slot
from jobs.states import JobState, Wanted

#: Rows of one page of a history, and of the short list on the job's first page.
PAGE, SHORT = 50, 8
#: Bytes of a job file that the page shows.
SOURCE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition's place: `share` is its lag against the largest, in percent."""

    number: str
    offset: int | None
    lag: int | None
    share: int


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    lag: int | None
    partitions: list[Partition]


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


class JobView:
    """`before` is where a page of history begins: rows older than this id only."""

    def __init__(self, job: Job, now: datetime, before: int | None = None) -> None:
        self.job = job
        self.now = now
        self.before = before

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

    @cached_property
    def slots(self) -> list[Slot]:
        return list(self.job.slots.select_related("taskmanager"))

    @property
    def graph(self) -> graph.Graph:
        return graph.layout(self.job.plan or {})

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
    def checkpoints(self) -> list[Checkpoint]:
        rows = self.job.checkpoints.order_by("-checkpoint_id").defer("offsets", "phases")
        if self.before is not None:
            rows = rows.filter(checkpoint_id__lt=self.before)
        return _with_attempts(list(rows[:PAGE]), self.job)

    @property
    def latest_checkpoints(self) -> list[Checkpoint]:
        return self.checkpoints[:SHORT]

    @property
    def older_checkpoints(self) -> int | None:
        """Where the next page of checkpoints begins."""
        return self.checkpoints[-1].checkpoint_id if len(self.checkpoints) == PAGE else None

    @cached_property
    def checkpoint_summary(self) -> Mapping[str, Any]:
        """Over the rows that are kept: how many, and the spread of each figure."""
        figures = ("duration", "state_size", "records_in", "transactions")
        kinds = (("least", Min), ("mean", Avg), ("most", Max))
        asked = {f"{f}_{name}": function(f) for f in figures for name, function in kinds}
        found = self.job.checkpoints.order_by().aggregate(count=Count("pk"), **asked)
        spread = {f: {name: found[f"{f}_{name}"] for name, _ in kinds} for f in figures}
        return {"count": found["count"], **spread}

    @cached_property
    def failures(self) -> list[Event]:
        rows = self.job.events.filter(kind=Event.Kind.FAILURE)
        return list(rows.select_related("attempt").order_by("-at", "-id")[:PAGE])

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

    # --- where it reads --------------------------------------------------------------------

    @cached_property
    def topics(self) -> list[Topic]:
        """Topics and partitions with their place, from the last checkpoint."""
        last = self.job.checkpoints.order_by("-checkpoint_id").values("offsets", "lag").first()
        if last is None:
            return []
        offsets, lags = last["offsets"] or {}, last["lag"] or {}
        return [
            _topic(name, offsets.get(name, {}), lags.get(name, {}))
            for name in sorted({*offsets, *lags})
        ]

    # --- what it is ------------------------------------------------------------------------

    @property
    def source(self) -> str | None:
        """The job's Python file; None when it is not on this machine."""
        try:
            with Path(self.job.entry).open("rb") as file:
                return file.read(SOURCE_BYTES).decode("utf-8", errors="replace")
        except OSError:
            return None

    @property
    def ranges(self) -> list[str]:
        return list(series.RANGES)


def _with_attempts(rows: list[Checkpoint], job: Job) -> list[Checkpoint]:
    """Each row with the number of its attempt: one query for all of them."""
    attempts = job.attempts.filter(pk__in={row.attempt_id for row in rows})
    numbers = dict(attempts.values_list("pk", "number"))
    for row in rows:
        row.attempt_number = numbers.get(row.attempt_id)  # type: ignore[attr-defined]
    return rows


def phases(durations: Mapping[str, int]) -> list[Phase]:
    """The phases of a batch, longest first."""
    most = max(durations.values(), default=0) or 1
    ordered = sorted(durations.items(), key=lambda phase: -phase[1])
    return [Phase(name, ms, 100 * ms // most) for name, ms in ordered]


def _topic(name: str, offsets: Mapping[str, int], lags: Mapping[str, int]) -> Topic:
    most = max(lags.values(), default=0) or 1
    numbers = sorted({*offsets, *lags}, key=lambda number: (len(number), number))
    return Topic(
        name=name,
        lag=sum(lags.values()) if lags else None,
        partitions=[
            Partition(n, offsets.get(n), lags.get(n), 100 * lags.get(n, 0) // most) for n in numbers
        ],
    )


def _words(name: str) -> str:
    """dead_letters, dead-letters, deadLetters -> Dead letters."""
    spaced = "".join(f" {c.lower()}" if c.isupper() else c for c in name)
    return " ".join(spaced.replace("_", " ").replace("-", " ").split()).capitalize()


def _colour(name: str, value: int) -> str:
    told = ("dead", "late", "dropped", "rejected", "malformed", "failed")
    return "warn" if value and any(word in name.lower() for word in told) else ""
