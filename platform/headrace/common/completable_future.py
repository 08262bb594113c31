"""PyFlink's `pyflink.common.completable_future`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")


class CompletableFuture(Generic[T]):
    """What will be known later."""

    def __init__(self, future: Future[T] | None = None) -> None:
        self._future: Future[T] = future or Future()

    @staticmethod
    def of(value: U) -> CompletableFuture[U]:
        """Headrace's own: what is known already."""
        known: Future[U] = Future()
        known.set_result(value)
        return CompletableFuture(known)

    def cancel(self) -> bool:
        """Gives up waiting; what was asked for goes on."""
        return self._future.cancel()

    def cancelled(self) -> bool:
        return self._future.cancelled()

    def done(self) -> bool:
        return self._future.done()

    def result(self, timeout: float | None = None) -> T:
        """Waits, at most `timeout` seconds; raises what went wrong."""
        return self._future.result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        return self._future.exception(timeout)

    def add_done_callback(self, fn: Callable[[Future[T]], object]) -> None:
        self._future.add_done_callback(fn)

    def __str__(self) -> str:
        return str(self._future)
