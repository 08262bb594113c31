"""A sequence of numbers; PyFlink's `pyflink.datastream.connectors.number_seq`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from headrace.common.typeinfo import Types
from headrace.datastream.connectors.python_source import PythonSource, SourceContext, ranges

#: Numbers in one micro-batch.
MOST = 200_000


class NumberSequenceSource(PythonSource):
    """All whole numbers from `start` to `end`, both included. Bounded; in order where the
    parallelism is 1."""

    produced_type = Types.LONG()

    def __init__(self, start: int, end: int) -> None:
        if start > end:
            raise ValueError(f"'from' ({start}) must be <= 'to' ({end})")
        self._first = start
        self._last = end
        self._parallelism = 1

    @property
    def described(self) -> str:
        return f"sequence:{self._first}..{self._last}"

    def open(self, context: SourceContext) -> None:
        self._parallelism = context.parallelism

    def start(self) -> int:
        return self._first

    def latest(self, position: int) -> int:
        return min(self._last + 1, position + MOST)

    def pieces(self, start: int, end: int) -> Sequence[tuple[int, int]]:
        return ranges(start, end, self._parallelism)

    def read(self, piece: tuple[int, int]) -> Iterable[int]:
        return range(*piece)
