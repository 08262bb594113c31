"""Generated records, as Flink's DataGeneratorSource gives them to Java."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.common.typeinfo import TypeInformation
from headrace.datastream.connectors.number_seq import MOST
from headrace.datastream.connectors.python_source import PythonSource, SourceContext, ranges

#: Flink's `Long.MAX_VALUE`: no end.
FOR_EVER = (1 << 63) - 1
#: How long a bounded source waits for its next record, at a time.
_WAIT_SECONDS = 0.01


@dataclass(frozen=True)
class RateLimiterStrategy:
    """How fast records come; `per_second` counts over all subtasks. One limit per checkpoint is
    one per micro-batch."""

    records_per_second: float | None = None
    records_per_batch: int | None = None

    @staticmethod
    def per_second(records_per_second: float) -> RateLimiterStrategy:
        if records_per_second <= 0:
            raise ValueError(f"the rate must be positive, not {records_per_second}")
        return RateLimiterStrategy(records_per_second=records_per_second)

    @staticmethod
    def per_checkpoint(records_per_checkpoint: int) -> RateLimiterStrategy:
        if records_per_checkpoint < 1:
            raise ValueError(f"the number must be positive, not {records_per_checkpoint}")
        return RateLimiterStrategy(records_per_batch=records_per_checkpoint)

    @staticmethod
    def no_op() -> RateLimiterStrategy:
        return RateLimiterStrategy()


class DataGeneratorSource(PythonSource):
    """`generator(index)` for each index from 0 to `count` - 1. It must give the same value for the
    same index: a micro-batch may be read again.

    `generator` is a function, or an object with a method `map`, as Flink's GeneratorFunction."""

    def __init__(
        self,
        generator: Callable[[int], Any] | Any,
        count: int = FOR_EVER,
        rate_limiter_strategy: RateLimiterStrategy | None = None,
        type_info: TypeInformation | None = None,
    ) -> None:
        if count < 0:
            raise ValueError(f"count cannot be negative: {count}")
        self._generate: Callable[[int], Any] = getattr(generator, "map", generator)
        self._count = count
        self._limit = rate_limiter_strategy or RateLimiterStrategy.no_op()
        self._parallelism = 1
        #: The clock's time at which record 0 would have come.
        self._origin: float | None = None
        self.bounded = count < FOR_EVER
        self.produced_type = type_info

    @property
    def described(self) -> str:
        return f"generator:{self._count if self.bounded else 'unbounded'}"

    def open(self, context: SourceContext) -> None:
        self._parallelism = context.parallelism

    def start(self) -> int:
        return 0

    def latest(self, position: int) -> int:
        """A bounded source that is limited waits for its next record: none would mean its end."""
        end = self._allowed(position)
        while self.bounded and end == position < self._count:
            time.sleep(_WAIT_SECONDS)
            end = self._allowed(position)
        return end

    def _allowed(self, position: int) -> int:
        most = min(self._limit.records_per_batch or MOST, MOST)
        end = min(self._count, position + most)
        rate = self._limit.records_per_second
        if rate is not None:
            now = time.monotonic()
            if self._origin is None:
                self._origin = now - position / rate
            end = min(end, max(position, int((now - self._origin) * rate)))
        return end

    def pieces(self, start: int, end: int) -> Sequence[tuple[int, int]]:
        return ranges(start, end, self._parallelism)

    def read(self, piece: tuple[int, int]) -> Iterable[Any]:
        return map(self._generate, range(*piece))
