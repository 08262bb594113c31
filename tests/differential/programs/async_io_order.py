"""Ordered async I/O keeps the order; without a retry or time-out the job fails."""

# runs: whole 1
# order: all
import asyncio

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment


class Slow(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(0.3 / value)
        return [value]


class Late(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(600)
        return [value]


class Fails(AsyncFunction):
    async def async_invoke(self, value):
        raise KeyError(value)


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_collection([1, 2, 3, 4, 5], Types.INT())
    AsyncDataStream.ordered_wait(numbers, Slow(), Time.seconds(60), 10, Types.INT()).print()
    env.execute()
    for function in (Late(), Fails()):
        numbers = env.from_collection([1, 2], Types.INT())
        AsyncDataStream.ordered_wait(numbers, function, Time.milliseconds(200)).print()
        try:
            env.execute()
            print("no error")
        except Exception:
            print("the job failed")


if __name__ == "__main__":
    main()
