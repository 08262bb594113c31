"""PyFlink's `pyflink.datastream.async_retry_strategies`."""

from __future__ import annotations

from typing import Any, Generic

from headrace.datastream.async_functions import (
    OUT,
    AsyncRetryPredicate,
    AsyncRetryStrategy,
    ExceptionPredicate,
    ResultPredicate,
)


class RetryPredicate(AsyncRetryPredicate[Any], Generic[OUT]):
    """The two predicates as they are given."""

    def __init__(
        self,
        result_predicate: ResultPredicate | None,
        exception_predicate: ExceptionPredicate | None,
    ) -> None:
        self._result_predicate = result_predicate
        self._exception_predicate = exception_predicate

    def result_predicate(self) -> ResultPredicate | None:
        return self._result_predicate

    def exception_predicate(self) -> ExceptionPredicate | None:
        return self._exception_predicate


class NoRetryStrategy(AsyncRetryStrategy[Any], Generic[OUT]):
    """One attempt."""

    def can_retry(self, current_attempts: int) -> bool:
        return False

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        return -1

    def get_retry_predicate(self) -> AsyncRetryPredicate[Any]:
        return RetryPredicate(None, None)


class FixedDelayRetryStrategy(AsyncRetryStrategy[Any], Generic[OUT]):
    """`max_attempts` retries behind the first attempt, the same time apart."""

    def __init__(
        self,
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: ResultPredicate | None,
        exception_predicate: ExceptionPredicate | None,
    ) -> None:
        _positive(max_attempts=max_attempts, backoff_time_millis=backoff_time_millis)
        self._max_attempts = max_attempts
        self._backoff_time_millis = backoff_time_millis
        self._predicate = RetryPredicate[Any](result_predicate, exception_predicate)

    def can_retry(self, current_attempts: int) -> bool:
        return current_attempts <= self._max_attempts

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        return self._backoff_time_millis

    def get_retry_predicate(self) -> AsyncRetryPredicate[Any]:
        return self._predicate


class ExponentialBackoffDelayRetryStrategy(AsyncRetryStrategy[Any], Generic[OUT]):
    """`max_attempts` retries behind the first attempt, each delay `multiplier` times the one
    before, up to `max_retry_delay`."""

    def __init__(
        self,
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: ResultPredicate | None,
        exception_predicate: ExceptionPredicate | None,
    ) -> None:
        _positive(
            max_attempts=max_attempts,
            initial_delay=initial_delay,
            max_retry_delay=max_retry_delay,
            multiplier=multiplier,
        )
        self._max_attempts = max_attempts
        self._initial_delay = initial_delay
        self._max_retry_delay = max_retry_delay
        self._multiplier = multiplier
        self._predicate = RetryPredicate[Any](result_predicate, exception_predicate)

    def can_retry(self, current_attempts: int) -> bool:
        return current_attempts <= self._max_attempts

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        if current_attempts <= 1:
            return self._initial_delay
        # of the attempt alone: PyFlink's strategy remembers the delay of whichever record asked
        grown = self._initial_delay * self._multiplier ** (current_attempts - 1)
        return int(min(grown, self._max_retry_delay))

    def get_retry_predicate(self) -> AsyncRetryPredicate[Any]:
        return self._predicate


def _positive(**numbers: float) -> None:
    for name, number in numbers.items():
        if number <= 0:
            raise ValueError(f"{name} should be greater than zero, not {number}")


NO_RETRY_STRATEGY: NoRetryStrategy[Any] = NoRetryStrategy()
