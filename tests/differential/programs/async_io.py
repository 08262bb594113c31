"""Async I/O: ordered, unordered, several results, with retries."""

import asyncio

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment
from pyflink.datastream.async_retry_predicates import (
    empty_result_predicate,
    has_exception_predicate,
)
from pyflink.datastream.functions import AsyncRetryStrategy


class Slow(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(0.05 / value)
        return [value * 10, value]

    def timeout(self, value):
        return [-value]


class Never(AsyncFunction):
    async def async_invoke(self, value):
        if value % 2:
            await asyncio.sleep(600)
        return [value]

    def timeout(self, value):
        return [-value, -value]


class Second(AsyncFunction):
    """Fails, or gives nothing, the first time."""

    def open(self, runtime_context):
        self.asked = {}

    async def async_invoke(self, value):
        self.asked[value] = self.asked.get(value, 0) + 1
        if self.asked[value] == 1:
            if value % 2:
                raise OSError("not yet")
            return []
        return [(value, self.asked[value])]


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_collection([1, 2, 3, 4, 5], Types.INT())
    AsyncDataStream.ordered_wait(numbers, Slow(), Time.seconds(60), 2, Types.INT()).print("ordered")
    AsyncDataStream.unordered_wait(numbers, Slow(), Time.seconds(60), 100, Types.INT()).print(
        "unordered"
    )
    AsyncDataStream.unordered_wait(numbers, Slow(), Time.seconds(60)).print("untyped")
    AsyncDataStream.ordered_wait(numbers, Never(), Time.milliseconds(300), 10, Types.INT()).print(
        "timeout"
    )
    retry = AsyncRetryStrategy.fixed_delay(3, 10, empty_result_predicate, has_exception_predicate)
    AsyncDataStream.unordered_wait_with_retry(numbers, Second(), Time.seconds(60), retry).print(
        "retried"
    )
    env.execute()


if __name__ == "__main__":
    main()
