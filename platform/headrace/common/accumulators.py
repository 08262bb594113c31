"""Values that functions add to and the job's result gives; Java's
`org.apache.flink.api.common.accumulators`, with Python's names."""

from __future__ import annotations

import abc
import copy
from typing import Any, Generic, Self, TypeVar

V = TypeVar("V")
R = TypeVar("R")
N = TypeVar("N", int, float)


class Accumulator(abc.ABC, Generic[V, R]):
    """Each subtask adds to its own; `merge` brings them together when a batch is committed."""

    @abc.abstractmethod
    def add(self, value: V) -> None: ...

    @abc.abstractmethod
    def get_local_value(self) -> R: ...

    @abc.abstractmethod
    def reset_local(self) -> None:
        """As if nothing had been added."""

    @abc.abstractmethod
    def merge(self, other: Any) -> None:
        """Take in what an accumulator of the same kind holds."""

    def clone(self) -> Self:
        return copy.deepcopy(self)


class _Sum(Accumulator[N, N]):
    zero: Any = 0

    def __init__(self, value: N | None = None) -> None:
        self.value: N = self.zero if value is None else value

    def add(self, value: N) -> None:
        self.value += value

    def get_local_value(self) -> N:
        return self.value

    def reset_local(self) -> None:
        self.value = self.zero

    def merge(self, other: Any) -> None:
        self.value += other.value


class IntCounter(_Sum[int]):
    """A sum of whole numbers."""


class LongCounter(_Sum[int]):
    """A sum of whole numbers."""


class DoubleCounter(_Sum[float]):
    """A sum of numbers."""

    zero = 0.0


class _Extreme(Accumulator[N, Any]):
    """None before the first value."""

    def __init__(self) -> None:
        self.value: Any = None

    def add(self, value: Any) -> None:
        if value is not None and (self.value is None or self._before(value, self.value)):
            self.value = value

    def get_local_value(self) -> Any:
        return self.value

    def reset_local(self) -> None:
        self.value = None

    def merge(self, other: Any) -> None:
        self.add(other.value)

    def _before(self, one: Any, other: Any) -> bool:
        raise NotImplementedError


class Minimum(_Extreme[float]):
    """The smallest value."""

    def _before(self, one: Any, other: Any) -> bool:
        return bool(one < other)


class Maximum(_Extreme[float]):
    """The largest value."""

    def _before(self, one: Any, other: Any) -> bool:
        return bool(one > other)


IntMinimum = LongMinimum = DoubleMinimum = Minimum
IntMaximum = LongMaximum = DoubleMaximum = Maximum


class AverageAccumulator(Accumulator[float, float]):
    """The mean, 0.0 without a value."""

    def __init__(self) -> None:
        self.count, self.sum = 0, 0.0

    def add(self, value: float) -> None:
        self.count += 1
        self.sum += value

    def get_local_value(self) -> float:
        return self.sum / self.count if self.count else 0.0

    def reset_local(self) -> None:
        self.count, self.sum = 0, 0.0

    def merge(self, other: Any) -> None:
        self.count += other.count
        self.sum += other.sum


class Histogram(Accumulator[int, dict[int, int]]):
    """How often each value came, in the order of the values."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}

    def add(self, value: int) -> None:
        self.counts[value] = self.counts.get(value, 0) + 1

    def get_local_value(self) -> dict[int, int]:
        return dict(sorted(self.counts.items()))

    def reset_local(self) -> None:
        self.counts = {}

    def merge(self, other: Any) -> None:
        for value, count in other.counts.items():
            self.counts[value] = self.counts.get(value, 0) + count


class ListAccumulator(Accumulator[Any, list[Any]]):
    """All values; the order between subtasks is not said."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def add(self, value: Any) -> None:
        self.values.append(value)

    def get_local_value(self) -> list[Any]:
        return list(self.values)

    def reset_local(self) -> None:
        self.values = []

    def merge(self, other: Any) -> None:
        self.values += other.values
