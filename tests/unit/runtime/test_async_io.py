"""Async I/O: order, capacity, time-outs, retries, errors."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest

from headrace.common import Time, Types
from headrace.datastream import AsyncDataStream, AsyncFunction, AsyncRetryStrategy, DataStream
from headrace.datastream.async_retry_predicates import (
    empty_result_predicate,
    exception_type_predicate,
    has_exception_predicate,
)
from headrace.datastream.functions import RuntimeContext
from headrace.runtime.operators.operator import OperatorError
from headrace.runtime.transformations import GraphError
from tests.unit.runtime.local_jobs import LocalJob

SECOND = Time.seconds(1)


class Lookup(AsyncFunction):
    """Waits the longer the smaller the value is; knows how many wait at once."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.under_way = self.most = 0

    async def async_invoke(self, value: int) -> list[Any]:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(max(0.0, 0.05 - value / 100))
        self.under_way -= 1
        return [value, self.most] if value % 2 else []


def job(function: AsyncFunction, **options: Any) -> LocalJob:
    def build(stream: DataStream) -> DataStream:
        return AsyncDataStream.unordered_wait(stream, function, SECOND, **options)

    return LocalJob(build, out_of_orderness=None)


def test_requests_wait_together_and_results_keep_their_order() -> None:
    assert job(Lookup()).only(s0=[1, 2, 3, 4, 5]) == [1, 5, 3, 5, 5, 5]


def test_no_more_than_the_capacity_wait_at_once() -> None:
    results = job(Lookup(), capacity=2).only(s0=[1] * 50)
    assert results[0::2] == [1] * 50
    assert max(results[1::2]) == 2


def test_ordered_waits_the_same_way_and_types_are_checked() -> None:
    def build(stream: DataStream) -> DataStream:
        return AsyncDataStream.ordered_wait(stream, Lookup(), SECOND, 10, Types.INT())

    local = LocalJob(build, out_of_orderness=None)
    assert local.only(s0=[3, 1]) == [3, 2, 1, 2]


class Slow(AsyncFunction):
    async def async_invoke(self, value: int) -> list[Any]:
        await asyncio.sleep(10)
        return []


class Forgiving(Slow):
    def timeout(self, value: int) -> list[Any]:
        return [-value]


def test_a_timeout_fails_or_gives_what_the_function_says() -> None:
    def build(function: AsyncFunction) -> LocalJob:
        return LocalJob(
            lambda s: AsyncDataStream.unordered_wait(s, function, Time.milliseconds(20)),
            out_of_orderness=None,
        )

    assert build(Forgiving()).only(s0=[1, 2]) == [-1, -2]
    with pytest.raises(OperatorError, match=r"'async wait operator' failed on 7") as caught:
        build(Slow()).only(s0=[7])
    assert "TimeoutError: Async function call has timed out for input: 7" in str(caught.value)


class Flaky(AsyncFunction):
    """Fails, or gives nothing, as often as the value says."""

    def __init__(self, empty: bool = False) -> None:
        self.empty = empty
        self.attempts: dict[int, int] = {}

    async def async_invoke(self, value: int) -> list[Any]:
        attempt = self.attempts[value] = self.attempts.get(value, 0) + 1
        if attempt <= value:
            if self.empty:
                return []
            raise ConnectionError("not now")
        return [(value, attempt)]


def retrying(function: AsyncFunction, strategy: AsyncRetryStrategy) -> LocalJob:
    def build(stream: DataStream) -> DataStream:
        return AsyncDataStream.ordered_wait_with_retry(stream, function, SECOND, strategy)

    return LocalJob(build, out_of_orderness=None)


def test_what_fails_or_is_empty_is_tried_again() -> None:
    on_error = AsyncRetryStrategy.fixed_delay(2, 1, None, has_exception_predicate)
    assert retrying(Flaky(), on_error).only(s0=[2, 0, 1]) == [(2, 3), (0, 1), (1, 2)]
    with pytest.raises(OperatorError, match="failed on 3"):
        retrying(Flaky(), on_error).only(s0=[3])
    on_empty = AsyncRetryStrategy.exponential_backoff(2, 1, 3, 2.0, empty_result_predicate, None)
    assert retrying(Flaky(empty=True), on_empty).only(s0=[2, 3]) == [(2, 3)]
    other = AsyncRetryStrategy.fixed_delay(
        2, 1, None, partial(exception_type_predicate, expected_error_type=ValueError)
    )
    with pytest.raises(OperatorError, match="failed on 1"):
        retrying(Flaky(), other).only(s0=[1])


def test_delays_grow_to_their_limit() -> None:
    strategy = AsyncRetryStrategy.exponential_backoff(5, 10, 35, 2.0, None, None)
    assert [strategy.get_backoff_time_millis(n) for n in (1, 2, 3, 4)] == [10, 20, 35, 35]
    assert not AsyncRetryStrategy.no_restart().can_retry(1)
    with pytest.raises(ValueError, match="max_attempts"):
        AsyncRetryStrategy.fixed_delay(0, 1, None, None)


def test_after_a_failure_nothing_of_the_batch_is_left() -> None:
    class FailsOnce(AsyncFunction):
        failed = False

        async def async_invoke(self, value: int) -> list[Any]:
            if value == 2 and not self.failed:
                self.failed = True
                raise ConnectionError("down")
            await asyncio.sleep(0.01)
            return [value]

    local = job(FailsOnce())
    with pytest.raises(OperatorError, match="failed on 2"):
        local.only(s0=[1, 2, 3])
    assert local.only(s0=[1, 2, 3]) == [1, 2, 3]


def test_behind_a_keyed_operator_the_batch_waits_for_its_requests() -> None:
    class Double(AsyncFunction):
        async def async_invoke(self, value: tuple[str, int]) -> Iterable[Any]:
            await asyncio.sleep(0.001)
            return [(value[0], value[1] * 2)]

    def build(stream: DataStream) -> DataStream:
        summed = stream.key_by(0).sum(1)
        return AsyncDataStream.unordered_wait(summed, Double(), SECOND).key_by(0).max(1)

    local = LocalJob(build, out_of_orderness=None)
    assert sorted(local.only(s0=[("a", 1), ("b", 2), ("a", 3)])) == [("a", 2), ("a", 8), ("b", 4)]


def test_what_is_no_coroutine_is_refused() -> None:
    class Plain(AsyncFunction):
        def async_invoke(self, value: int) -> list[Any]:  # type: ignore[override]
            return [value]

    with pytest.raises(GraphError, match=r"Plain has to be declared with 'async def'.*\.py:\d"):
        job(Plain())

    class One(AsyncFunction):
        async def async_invoke(self, value: int) -> Any:
            return value

    with pytest.raises(
        OperatorError, match="should be of list type, also of its timeout, not int: 1"
    ):
        job(One()).only(s0=[1])
