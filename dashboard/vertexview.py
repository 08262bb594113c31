"""What the pages show of one vertex: its subtasks' figures, and sums of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dashboard import holding, load, skew
from jobs.models import Slot, TaskManager
from jobs.vertices import SINK, SOURCE, Operator, Vertex, metric_name

#: Rows of one page of subtasks: a vertex may have thousands.
PAGE = 200

#: Columns of the table of subtasks: name of the figure, heading, filter that it is shown by.
COLUMNS = (
    ("numRecordsIn", "Records in", "number"),
    ("numRecordsInPerSecond", "In per second", "number"),
    ("numRecordsOut", "Records out", "number"),
    ("numRecordsOutPerSecond", "Out per second", "number"),
    ("numBytesIn", "Bytes in", "size"),
    ("numBytesOut", "Bytes out", "size"),
)


@dataclass(frozen=True, slots=True)
class Subtask:
    """One of a vertex; `slot` is where it runs, if that is known."""

    number: int
    figures: Mapping[str, float]
    slot: Slot | None

    @property
    def load(self) -> load.Load | None:
        return load.of(self.figures)

    @property
    def watermark(self) -> int | None:
        return holding.known(self.figures.get("currentInputWatermark"))

    @property
    def columns(self) -> list[tuple[float | None, str, str]]:
        """(value, how it is shown, heading)"""
        return [(self.figures.get(name), how, title) for name, title, how in COLUMNS]


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over all subtasks that report it."""

    name: str
    least: float
    mean: float
    most: float
    total: float


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """An operator of the chain with what it has counted, if it says so."""

    operator: Operator
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Seat:
    """A TaskManager with the subtasks that run there."""

    taskmanager: TaskManager | None
    subtasks: list[Subtask]

    def __getitem__(self, name: str) -> float:
        """The sum of a figure; templates write `seat.numRecordsIn`. Raises KeyError for what is
        none: the template then looks for an attribute."""
        return _found(total((each.figures for each in self.subtasks), name), name)

    @property
    def load(self) -> load.Load | None:
        return load.worst(each.load for each in self.subtasks)


def total(rows: Iterable[Mapping[str, float]], name: str) -> float | None:
    """The sum of a figure; None when no row has it."""
    values = [row[name] for row in rows if _is_number(row.get(name))]
    return sum(values) if values else None


class VertexView:
    """`before` and `after`: the vertices that it reads, and those that read it."""

    def __init__(
        self,
        vertex: Vertex,
        figures: Sequence[Mapping[str, float]],
        slots: Sequence[Slot] = (),
    ) -> None:
        self.vertex = vertex
        self.id = vertex.id
        self.name = vertex.name
        self.figures = list(figures)
        self._slots = slots

    @property
    def kind(self) -> str:
        if SOURCE in self.vertex.kinds:
            return "source"
        return "sink" if SINK in self.vertex.kinds else "operator"

    @cached_property
    def subtasks(self) -> list[Subtask]:
        count = max(self.vertex.parallelism, len(self.figures))
        known: list[Mapping[str, float]] = [*self.figures, *([{}] * (count - len(self.figures)))]
        return [Subtask(n, each, self._slot(n)) for n, each in enumerate(known)]

    def _slot(self, number: int) -> Slot | None:
        return self._slots[number % len(self._slots)] if self._slots else None

    # --- sums ------------------------------------------------------------------------------

    def total(self, name: str) -> float | None:
        return total(self.figures, name)

    def __getitem__(self, name: str) -> float:
        """As `total`; templates write `vertex.numRecordsIn`. Raises KeyError as that of `Seat`."""
        if name not in self._names:  # templates ask for attributes here, too: often
            raise KeyError(name)
        return _found(self.total(name), name)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(name for row in self.figures for name in row)

    @cached_property
    def load(self) -> load.Load | None:
        return load.worst(each.load for each in self.subtasks)

    @cached_property
    def watermark(self) -> int | None:
        found = holding.slowest([each.get("currentInputWatermark") for each in self.figures])
        return found[1] if found else None

    @cached_property
    def skew(self) -> float | None:
        """Of the records that came in (of a source: that went out)."""
        name = "numRecordsIn" if (self.total("numRecordsIn") or 0) > 0 else "numRecordsOut"
        return skew.percent([each[name] for each in self.figures if name in each])

    @property
    def skew_colour(self) -> str:
        return skew.colour(self.skew)

    @property
    def spreads(self) -> list[Spread]:
        """Every figure of its subtasks, by name."""
        return spreads(self.figures)

    @property
    def aggregates(self) -> list[tuple[str, list[tuple[float | None, str]]]]:
        """Rows below the table of subtasks: (least, mean, most, sum) x COLUMNS."""
        by_name = {each.name: each for each in spreads(self.figures)}
        rows = (("Minimum", "least"), ("Mean", "mean"), ("Maximum", "most"), ("Sum", "total"))
        return [
            (title, [(getattr(by_name.get(name), part, None), how) for name, _, how in COLUMNS])
            for title, part in rows
        ]

    @property
    def seats(self) -> list[Seat]:
        """Its subtasks by the TaskManager that they run on."""
        found: dict[int | None, list[Subtask]] = {}
        for each in self.subtasks:
            found.setdefault(each.slot.taskmanager_id if each.slot else None, []).append(each)
        return [
            Seat(rows[0].slot.taskmanager if rows[0].slot else None, rows)
            for rows in found.values()
        ]

    @property
    def label(self) -> str:
        """What a screen reader says of its box in the graph."""
        parts = [self.name, f"parallelism {self.vertex.parallelism}"]
        if self.load is not None:
            parts.append(self.load.words)
        return ", ".join(parts)


def operator_row(operator: Operator, rows: Sequence[Mapping[str, float]]) -> OperatorRow:
    """Sums of what the operator's subtasks have counted, from `figures.of_operators`."""
    prefix = f"{metric_name(operator.name)}."
    own = [
        {name.removeprefix(prefix): value for name, value in row.items() if name.startswith(prefix)}
        for row in rows
    ]
    return OperatorRow(operator, {each.name: each.total for each in spreads(own)})


def spreads(rows: Sequence[Mapping[str, float]]) -> list[Spread]:
    """Each figure that is a number over the rows that have it, by name."""
    columns: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            if _is_number(value):
                columns.setdefault(name, []).append(value)
    return [
        Spread(name, min(values), sum(values) / len(values), max(values), sum(values))
        for name, values in sorted(columns.items())
    ]


def _found(value: float | None, name: str) -> float:
    if value is None:
        raise KeyError(name)
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
