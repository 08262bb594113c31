"""Functions that wait for other systems; `headrace.datastream.functions` has them, too."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from headrace.datastream.function import Function

IN = TypeVar("IN")
OUT = TypeVar("OUT")

ResultPredicate = Callable[[list[Any]], bool]
ExceptionPredicate = Callable[[Exception], bool]


class AsyncRetryPredicate(abc.ABC, Generic[OUT]):
    """Which results and exceptions are worth another attempt."""

    @abc.abstractmethod
    def result_predicate(self) -> ResultPredicate | None: ...

    @abc.abstractmethod
    def exception_predicate(self) -> ExceptionPredicate | None: ...


class AsyncRetryStrategy(abc.ABC, Generic[OUT]):
    """How often, and how long after the one before. Attempts count from 1."""

    @abc.abstractmethod
    def can_retry(self, current_attempts: int) -> bool: ...

    @abc.abstractmethod
    def get_backoff_time_millis(self, current_attempts: int) -> int: ...

    @abc.abstractmethod
    def get_retry_predicate(self) -> AsyncRetryPredicate[Any]: ...

    @staticmethod
    def no_restart() -> AsyncRetryStrategy[Any]:
        from headrace.datastream.async_retry_strategies import NO_RETRY_STRATEGY

        return NO_RETRY_STRATEGY

    @staticmethod
    def fixed_delay(
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: ResultPredicate | None,
        exception_predicate: ExceptionPredicate | None,
    ) -> AsyncRetryStrategy[Any]:
        from headrace.datastream.async_retry_strategies import FixedDelayRetryStrategy

        return FixedDelayRetryStrategy(
            max_attempts, backoff_time_millis, result_predicate, exception_predicate
        )

    @staticmethod
    def exponential_backoff(
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: ResultPredicate | None,
        exception_predicate: ExceptionPredicate | None,
    ) -> AsyncRetryStrategy[Any]:
        from headrace.datastream.async_retry_strategies import ExponentialBackoffDelayRetryStrategy

        return ExponentialBackoffDelayRetryStrategy(
            max_attempts,
            initial_delay,
            max_retry_delay,
            multiplier,
            result_predicate,
            exception_predicate,
        )


class AsyncFunction(Function, Generic[IN, OUT]):
    """Many requests under way at once, in one asyncio loop per worker process.

    A micro-batch that is run again makes its requests again: they have to be such that this does
    no harm."""

    @abc.abstractmethod
    async def async_invoke(self, value: Any) -> Iterable[Any]:
        """Declared with `async def`; gives any number of outputs. Raising fails the attempt,
        unless a retry strategy says otherwise. Cancelled at the timeout."""

    def timeout(self, value: Any) -> Iterable[Any]:
        """Called instead of a result when the timeout of `value`, attempts and delays included,
        is over. Gives outputs, or raises, as it does unless overridden."""
        raise TimeoutError(f"Async function call has timed out for input: {value}")
