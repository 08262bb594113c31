"""PyFlink's `pyflink.metrics.metricbase`.

Metrics travel with the micro-batch: each batch that is committed counts once, however often Spark
ran a task of it."""

from __future__ import annotations

import abc
from collections.abc import Callable


class Metric(abc.ABC):  # noqa: B024 - PyFlink's has no abstract method either
    """Base of all metrics."""


class Counter(Metric):
    """A number that a function counts up and down; shown on the job's page."""

    @abc.abstractmethod
    def inc(self, n: int = 1) -> None: ...

    @abc.abstractmethod
    def dec(self, n: int = 1) -> None: ...

    @abc.abstractmethod
    def get_count(self) -> int:
        """What this instance of the function has counted since it was opened."""


class Meter(Metric):
    """Counts events; how many come per second follows from the batches' times."""

    @abc.abstractmethod
    def mark_event(self, value: int = 1) -> None: ...

    @abc.abstractmethod
    def get_count(self) -> int: ...


class Distribution(Metric):
    """Number, sum, smallest and largest of the values."""

    @abc.abstractmethod
    def update(self, value: int | float) -> None: ...


class MetricGroup(abc.ABC):
    """Metrics of one function. The same name gives the same metric."""

    @abc.abstractmethod
    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        """A group whose metrics are named after it: `name.metric`, or `name.extra.metric`."""

    @abc.abstractmethod
    def counter(self, name: str) -> Counter: ...

    @abc.abstractmethod
    def gauge(self, name: str, obj: Callable[[], int | float]) -> None:
        """`obj` is called at the end of each batch that the function takes part in; what it
        gives has to be picklable."""

    @abc.abstractmethod
    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter: ...

    @abc.abstractmethod
    def distribution(self, name: str) -> Distribution: ...
