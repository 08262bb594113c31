"""A job's checkpoints as its page lists them: filtered, summed up, and those that failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django.db.models import QuerySet

from dashboard.quantiles import Spread, spread
from jobs import masking
from jobs.flink import checkpoint_statistics
from jobs.models import Checkpoint, Event, Job
from jobs.models.job import CLUSTER_KEYS

#: Rows of one page of the history, and of those that the summary is made over.
PAGE, SUMMED = 50, 1_000
#: What the history shows: word in the address -> label.
SHOWN = {"": "Completed", "failed": "Failed"}
_MAX = 2**62


@dataclass(frozen=True, slots=True)
class Filter:
    """`slower`: only those that took longer, in milliseconds; `attempt`: only of this one;
    `before`: only older ones."""

    show: str = ""
    slower: int | None = None
    attempt: int | None = None
    before: int | None = None
    #: Of a flame graph: which kind of samples, and the frame that fills it.
    type: str = ""
    at: str = ""
    #: Of a timeline: the vertex whose subtasks are shown.
    vertex: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Filter:
        """From an address; what cannot be read counts as not given."""
        show = query.get("show", "")
        return cls(
            show if show in SHOWN else "",
            slower=number(query.get("slower")),
            attempt=number(query.get("attempt")),
            before=number(query.get("before")),
            type=query.get("type", ""),
            at=query.get("at", "")[:1_000],
            vertex=query.get("vertex", "")[:32],
        )

    @property
    def is_live(self) -> bool:
        """Whether the newest rows, unfiltered, are shown."""
        return self == Filter()

    @property
    def is_filtered(self) -> bool:
        return self.slower is not None or self.attempt is not None

    def but(self, **changes: object) -> str:
        """The address of the same list with other values."""
        values = {"show": self.show, "slower": self.slower, "attempt": self.attempt} | changes
        return "?" + urlencode({name: value for name, value in values.items() if value})


def number(text: str | None) -> int | None:
    """A number in an address, if it is one that a column can hold."""
    digits = bool(text) and str(text).isascii() and str(text).isdigit()
    return int(str(text)) if digits and len(str(text)) < 19 and int(str(text)) < _MAX else None


@dataclass(frozen=True, slots=True)
class Summary:
    """Figure -> its spread over the newest `count` rows."""

    count: int
    rows: list[tuple[str, str, Spread]]


class Checkpoints:
    """Each property is one query, made when a template asks for it."""

    def __init__(self, job: Job, chosen: Filter) -> None:
        self.job = job
        self.chosen = chosen
        self.shown = [(name, label, chosen.but(show=name)) for name, label in SHOWN.items()]

    @cached_property
    def rows(self) -> list[Checkpoint]:
        rows = self._filtered().order_by("-checkpoint_id").defer("offsets", "phases", "tasks")
        if self.chosen.before is not None:
            rows = rows.filter(checkpoint_id__lt=self.chosen.before)
        return with_attempts(list(rows[:PAGE]), self.job)

    def _filtered(self) -> QuerySet[Checkpoint]:
        rows = self.job.checkpoints.all()
        if self.chosen.slower is not None:
            rows = rows.filter(duration__gt=self.chosen.slower)
        if self.chosen.attempt is not None:
            rows = rows.filter(attempt__number=self.chosen.attempt)
        return rows

    @property
    def older(self) -> str:
        """The address of the next page; empty when there is none."""
        if self.chosen.show == "failed":
            return self.chosen.but(before=self.failed[-1].pk) if len(self.failed) == PAGE else ""
        full = len(self.rows) == PAGE
        return self.chosen.but(before=self.rows[-1].checkpoint_id) if full else ""

    @cached_property
    def failed(self) -> list[Event]:
        """Micro-batches that took longer than they may."""
        rows = self.job.events.filter(kind=Event.Kind.CHECKPOINT).select_related("attempt")
        if self.chosen.before is not None:
            rows = rows.filter(pk__lt=self.chosen.before)
        return list(rows.order_by("-id")[:PAGE])

    @cached_property
    def counts(self) -> dict[str, int]:
        """As Flink counts them: those that were thinned out, too."""
        return checkpoint_statistics.counts(self.job)

    @cached_property
    def kept(self) -> int:
        return self.job.checkpoints.count()

    @property
    def settings(self) -> dict[str, str]:
        """What configuration, cluster and program say about checkpoints; no values of secrets."""
        known = masking.masked(self.job.checkpointing)
        return {key: known[key] for key in sorted(known) if key.startswith(CLUSTER_KEYS)}

    @cached_property
    def summary(self) -> Summary:
        names = ("duration", "state_size", "records_in", "transactions")
        newest = self.job.checkpoints.order_by("-checkpoint_id").values_list(*names)[:SUMMED]
        columns = list(zip(*newest, strict=True)) or [()] * len(names)
        titles = ("Duration", "State size", "Records in", "Transactions")
        shown = ("duration", "size", "number", "number")
        spreads = [spread(column) for column in columns]
        rows = zip(titles, shown, spreads, strict=True)
        return Summary(len(columns[0]), [(t, how, s) for t, how, s in rows if s is not None])


def with_attempts(rows: list[Checkpoint], job: Job) -> list[Checkpoint]:
    """Each row with the number of its attempt: one query for all of them."""
    attempts = job.attempts.filter(pk__in={row.attempt_id for row in rows})
    numbers = dict(attempts.values_list("pk", "number"))
    for row in rows:
        row.attempt_number = numbers.get(row.attempt_id)  # type: ignore[attr-defined]
    return rows
