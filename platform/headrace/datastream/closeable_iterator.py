"""The values of a running job, as `execute_and_collect` gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Generic, Self, TypeVar

T = TypeVar("T")


class CloseableIterator(Generic[T]):
    """Iterates once. Closed at its end, by `close`, or at the end of a `with`."""

    def __init__(self, values: Iterator[T], on_close: Callable[[], None] = lambda: None) -> None:
        self._values = values
        self._on_close = on_close
        self._closed = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        if self._closed:
            raise StopIteration
        return next(self._values)

    def next(self) -> T:
        return self.__next__()

    def close(self) -> None:
        """The job is cancelled if it still runs."""
        if not self._closed:
            self._closed = True
            self._on_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
