"""PyFlink's `pyflink.datastream.async_data_stream`."""

from __future__ import annotations

import inspect
from typing import Any

from headrace.common.time import Duration, Time, to_millis
from headrace.common.typeinfo import TypeInformation
from headrace.datastream.async_functions import AsyncFunction, AsyncRetryStrategy
from headrace.datastream.async_retry_strategies import NO_RETRY_STRATEGY
from headrace.datastream.streams.keyed import KeyedStream
from headrace.datastream.streams.refusals import refuse, refuse_keyed_state
from headrace.datastream.streams.stream import DataStream
from headrace.runtime.operators.async_wait import AsyncWait
from headrace.runtime.transformations import AsyncTransformation, Edge

Span = Time | Duration | int


class AsyncDataStream:
    """Applies AsyncFunctions to streams: up to `capacity` requests at once in each task.

    A micro-batch ends when its requests have. As it is as slow as its slowest request in any case,
    and has to give the same records in the same order when it is run again, results come in the
    order of the values also where Flink promises no order."""

    @staticmethod
    def unordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Span,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        return _wait(data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type)

    @staticmethod
    def unordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Span,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        return _wait(
            data_stream, async_function, timeout, async_retry_strategy, capacity, output_type
        )

    @staticmethod
    def ordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Span,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        return _wait(data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type)

    @staticmethod
    def ordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Span,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        return _wait(
            data_stream, async_function, timeout, async_retry_strategy, capacity, output_type
        )


def _wait(
    stream: DataStream,
    function: AsyncFunction[Any, Any],
    timeout: Span,
    retry: AsyncRetryStrategy[Any],
    capacity: int,
    output_type: TypeInformation | None,
) -> DataStream:
    kind = type(function).__name__
    if not inspect.iscoroutinefunction(function.async_invoke):
        refuse(f"async_invoke of {kind} has to be declared with 'async def'")
    if capacity < 1:
        refuse(f"the capacity of {kind} must be positive, not {capacity}")
    if isinstance(stream, KeyedStream):
        stream = DataStream(stream._environment, stream._edges)
    refuse_keyed_state(function, "async functions have none")
    node = AsyncTransformation(
        name="async wait operator",
        inputs=stream._edges,
        operator=AsyncWait(function, to_millis(timeout), capacity, retry, output_type),
        output_type=output_type,
    )
    return DataStream(stream._environment, [Edge(node)])
