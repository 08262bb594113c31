"""What functions measure and add up within a batch, until it goes into the batch's report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from headrace import metrics as api
from headrace.common.accumulators import Accumulator
from headrace.runtime.frames import dumps
from headrace.runtime.metrics import BatchMetrics

Number = int | float


class Measures:
    """Of all functions of one stage and subtask."""

    def __init__(self) -> None:
        self.counters: Counter[str] = Counter()
        #: name -> [number, sum, smallest, largest]
        self.distributions: dict[str, list[Number]] = {}
        self._gauges: dict[str, Callable[[], Number]] = {}
        self._told: dict[str, Number] = {}
        self._accumulators: list[_Registered] = []

    def begin(self) -> None:
        """Another key group or task: what was counted before is reported, or void."""
        self.counters.clear()
        self.distributions.clear()
        for registered in self._accumulators:
            registered.accumulator.reset_local()

    def gauge(self, name: str, read: Callable[[], Number]) -> None:
        self._gauges[name] = read

    def accumulate(self, name: str, accumulator: Accumulator[Any, Any]) -> None:
        self._accumulators.append(_Registered(name, accumulator))

    def update(self, name: str, value: Number) -> None:
        known = self.distributions.setdefault(name, [0, 0, value, value])
        known[:] = [known[0] + 1, known[1] + value, min(known[2], value), max(known[3], value)]

    def take(self, report: BatchMetrics) -> bool:
        """Put all there is to say into a report; False when there is nothing."""
        report.counters = dict(self.counters)
        report.distributions = {name: list(v) for name, v in self.distributions.items()}
        gauges = {name: read() for name, read in self._gauges.items()}
        if gauges != self._told:
            self._told = report.gauges = gauges
        for registered in self._accumulators:
            registered.take(report)
        return bool(report.counters or report.distributions or report.gauges or report.accumulators)


class _Registered:
    """An accumulator, and what it looks like when nothing was added."""

    def __init__(self, name: str, accumulator: Accumulator[Any, Any]) -> None:
        accumulator.reset_local()
        self.accumulator = accumulator
        self._name = name
        self._empty = dumps(accumulator)
        self._told = False

    def take(self, report: BatchMetrics) -> None:
        if self._told and dumps(self.accumulator) == self._empty:
            return
        self._told = True
        report.add_accumulator(self._name, self.accumulator.clone())


class Group(api.MetricGroup):
    """`prefix` is that of its metrics' names."""

    def __init__(self, measures: Measures, prefix: str = "") -> None:
        self._measures = measures
        self._prefix = prefix

    def add_group(self, name: str, extra: str | None = None) -> api.MetricGroup:
        inner = name if extra is None else f"{name}.{extra}"
        return Group(self._measures, f"{self._prefix}{inner}.")

    def counter(self, name: str) -> api.Counter:
        return _Counter(self._measures, self._prefix + name)

    def gauge(self, name: str, obj: Callable[[], Number]) -> None:
        self._measures.gauge(self._prefix + name, obj)

    def meter(self, name: str, time_span_in_seconds: int = 60) -> api.Meter:
        return _Meter(self._measures, self._prefix + name)

    def distribution(self, name: str) -> api.Distribution:
        return _Distribution(self._measures, self._prefix + name)


class _Counter(api.Counter):
    def __init__(self, measures: Measures, name: str) -> None:
        self._measures = measures
        self._name = name
        self._count = 0

    def inc(self, n: int = 1) -> None:
        self._count += n
        self._measures.counters[self._name] += n

    def dec(self, n: int = 1) -> None:
        self.inc(-n)

    def get_count(self) -> int:
        return self._count


class _Meter(api.Meter):
    def __init__(self, measures: Measures, name: str) -> None:
        self._events = _Counter(measures, name)

    def mark_event(self, value: int = 1) -> None:
        self._events.inc(value)

    def get_count(self) -> int:
        return self._events.get_count()


class _Distribution(api.Distribution):
    def __init__(self, measures: Measures, name: str) -> None:
        self._measures = measures
        self._name = name

    def update(self, value: Number) -> None:
        self._measures.update(self._name, value)
