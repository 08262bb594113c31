"""What functions measure and add up within a batch, until it goes into the batch's report."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from headrace import metrics as api
from headrace.common.accumulators import Accumulator
from headrace.runtime.frames import dumps
from headrace.runtime.measuring.counts import Measured
from headrace.runtime.metrics import BatchMetrics

Number = int | float

log = logging.getLogger(__name__)

#: How many names of metrics the functions of a stage and subtask may have; more are left out.
MOST_NAMES = 500
#: Counter: how often a name was asked for that is left out.
LEFT_OUT = "metricsLeftOut"

#: (operator's number, name)
Name = tuple[int, str]
#: Larger whole numbers travel as floating ones: not every database and receiver takes them.
_WHOLE = 1 << 63


class Measures:
    """Of all functions of one stage and subtask."""

    def __init__(self) -> None:
        #: What the platform counts of itself, by name.
        self.counters: Counter[str] = Counter()
        self._cells: dict[Name, Cell] = {}
        self._gauges: dict[Name, Callable[[], Number]] = {}
        self._told: dict[Name, Number] = {}
        self._failing: set[Name] = set()
        self._accumulators: list[_Registered] = []
        self._left_out = 0

    def begin(self) -> None:
        """Another key group or task: what was counted before is reported, or void."""
        self.counters.clear()
        for cell in self._cells.values():
            cell.numbers = []
        for registered in self._accumulators:
            registered.accumulator.reset_local()

    def cell(self, name: Name, kind: str) -> Cell:
        """Where a counter, meter or distribution counts; the same for the same name."""
        found = self._cells.get(name)
        if found is None:
            found = Cell(kind)
            if len(self._cells) < MOST_NAMES:
                self._cells[name] = found
            else:
                self._left_out += 1
        return found

    def gauge(self, name: Name, read: Callable[[], Number]) -> None:
        if name in self._gauges or len(self._gauges) < MOST_NAMES:
            self._gauges[name] = read
        else:
            self._left_out += 1

    def accumulate(self, name: str, accumulator: Accumulator[Any, Any], node: int = 0) -> None:
        self._accumulators.append(_Registered(name, accumulator, node))

    def take(self, report: BatchMetrics) -> dict[Name, Measured]:
        """Put all there is to say of the job into a report; the same by operator."""
        if self._left_out:
            self.counters[LEFT_OUT] += self._left_out
            self._left_out = 0
        told = {
            name: Measured(cell.kind, numbers)
            for name, cell in self._cells.items()
            if (numbers := _plain(cell.numbers))
        }
        report.counters = _counters(self.counters, told)
        report.distributions = _distributions(told)
        read = {name: self._read(name, of) for name, of in self._gauges.items()}
        gauges = {name: numbers[0] for name, numbers in read.items() if numbers}
        if gauges != self._told:
            self._told = gauges
            report.gauges = {name: value for (_, name), value in gauges.items()}
            told |= {name: Measured("gauge", [value]) for name, value in gauges.items()}
        for registered in self._accumulators:
            if registered.take(report):
                told[registered.node, registered.name] = Measured("accumulator", [])
        return told

    def _read(self, name: Name, gauge: Callable[[], Number]) -> list[Number]:
        """What a gauge shows, if that is a number: no record is lost because it cannot say."""
        try:
            return _plain([gauge()])
        except Exception:
            if name not in self._failing:
                self._failing.add(name)
                log.exception("gauge %r cannot be read; the job goes on without", name[1])
            return []


class Cell:
    """What a metric has counted since the stage began: see `Measured`; empty for nothing."""

    __slots__ = ("kind", "numbers")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.numbers: list[Number] = []

    def add(self, n: Number) -> None:
        if self.numbers:
            self.numbers[0] += n
        else:
            self.numbers = [n]

    def update(self, value: Number) -> None:
        if self.numbers:
            n, total, least, most = self.numbers
            self.numbers = [n + 1, total + value, min(least, value), max(most, value)]
        else:
            self.numbers = [1, value, value, value]


def _plain(numbers: Iterable[object]) -> list[Number]:
    """Python's own numbers, which can be written anywhere, of any others; empty if one of them is
    none or not finite."""
    found: list[Number] = []
    for number in numbers:
        try:
            plain = number if type(number) in (int, float) else _python(number)
            if not isinstance(plain, int) or not -_WHOLE <= plain < _WHOLE:
                plain = float(plain)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            return []
        if not math.isfinite(plain):
            return []
        found.append(plain)
    return found


def _python(number: Any) -> Number:
    return int(number) if hasattr(number, "__index__") else float(number)


def _counters(own: Counter[str], told: dict[Name, Measured]) -> dict[str, int]:
    counters = dict(own)
    for (_, name), (kind, numbers) in told.items():
        if kind in ("counter", "meter"):
            counters[name] = counters.get(name, 0) + numbers[0]  # type: ignore[assignment]
    return counters


def _distributions(told: dict[Name, Measured]) -> dict[str, list[float]]:
    merged: dict[str, Measured] = {}
    for (_, name), measured in told.items():
        if measured.kind == "distribution":
            merged[name] = merged[name].merged(measured) if name in merged else measured
    return {name: list(measured.numbers) for name, measured in merged.items()}


class _Registered:
    """An accumulator, and what it looks like when nothing was added."""

    def __init__(self, name: str, accumulator: Accumulator[Any, Any], node: int) -> None:
        accumulator.reset_local()
        self.accumulator = accumulator
        self.name = name
        self.node = node
        self._empty = dumps(accumulator)
        self._told = False

    def take(self, report: BatchMetrics) -> bool:
        """Whether there is something to say."""
        if self._told and dumps(self.accumulator) == self._empty:
            return False
        self._told = True
        report.add_accumulator(self.name, self.accumulator.clone())
        return True


class Group(api.MetricGroup):
    """Of one operator; `prefix` is that of its metrics' names."""

    def __init__(self, measures: Measures, node: int = 0, prefix: str = "") -> None:
        self._measures = measures
        self._node = node
        self._prefix = prefix

    def add_group(self, name: str, extra: str | None = None) -> api.MetricGroup:
        inner = name if extra is None else f"{name}.{extra}"
        return Group(self._measures, self._node, f"{self._prefix}{inner}.")

    def counter(self, name: str) -> api.Counter:
        return _Counter(self._cell(name, "counter"))

    def gauge(self, name: str, obj: Callable[[], Number]) -> None:
        self._measures.gauge((self._node, self._prefix + name), obj)

    def meter(self, name: str, time_span_in_seconds: int = 60) -> api.Meter:
        return _Meter(self._cell(name, "meter"))

    def distribution(self, name: str) -> api.Distribution:
        return _Distribution(self._cell(name, "distribution"))

    def _cell(self, name: str, kind: str) -> Cell:
        return self._measures.cell((self._node, self._prefix + name), kind)


class _Counter(api.Counter):
    def __init__(self, cell: Cell) -> None:
        self._cell = cell
        self._count = 0

    def inc(self, n: int = 1) -> None:
        self._count += n
        self._cell.add(n)

    def dec(self, n: int = 1) -> None:
        self.inc(-n)

    def get_count(self) -> int:
        return self._count


class _Meter(api.Meter):
    def __init__(self, cell: Cell) -> None:
        self._events = _Counter(cell)

    def mark_event(self, value: int = 1) -> None:
        self._events.inc(value)

    def get_count(self) -> int:
        return self._events.get_count()


class _Distribution(api.Distribution):
    def __init__(self, cell: Cell) -> None:
        self._cell = cell

    def update(self, value: Number) -> None:
        self._cell.update(value)
