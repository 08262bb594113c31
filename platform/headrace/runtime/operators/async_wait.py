"""Requests to other systems, many under way at once."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Iterable
from typing import Any

from headrace.common.typeinfo import TypeInformation
from headrace.datastream.async_functions import AsyncFunction, AsyncRetryStrategy
from headrace.datastream.function import RuntimeContext
from headrace.runtime.operators.operator import Element, OperatorError, Output, StatelessOperator

#: Elements are taken together up to this many times the capacity, so that the slowest request of
#: each lot holds up few others.
LOTS = 10


class AsyncWait(StatelessOperator):
    """Holds elements back until there are enough for a lot, or nothing more comes in the batch.
    Results leave in the order of the elements."""

    name = "async wait operator"

    def __init__(
        self,
        function: AsyncFunction[Any, Any],
        timeout: int,
        capacity: int,
        retry: AsyncRetryStrategy[Any],
        output_type: TypeInformation | None,
    ) -> None:
        self.function = function
        self.timeout = timeout
        self.capacity = capacity
        self.retry = retry
        self.output_type = output_type

    def open(self, context: RuntimeContext) -> None:
        self.name = context.get_task_name()
        self._waiting: list[Element] = []
        self._loop = asyncio.new_event_loop()
        predicate = self.retry.get_retry_predicate()
        self._retry_result = predicate.result_predicate() or (lambda result: False)
        self._retry_exception = predicate.exception_predicate() or (lambda exception: False)
        self.function.open(context)

    def close(self) -> None:
        self.function.close()
        self._loop.close()

    def begin(self) -> None:
        """What a batch that failed has left is of no use to the next one."""
        self._waiting = []

    def process(self, elements: list[Element], output: Output) -> None:
        self._waiting += elements
        if len(self._waiting) >= LOTS * self.capacity:
            self.finish(output)

    def finish(self, output: Output) -> None:
        lot, self._waiting = self._waiting, []
        if lot:
            output.emit(self._loop.run_until_complete(self._all(lot)))

    async def _all(self, lot: list[Element]) -> list[Element]:
        places = asyncio.Semaphore(self.capacity)
        requests = [asyncio.ensure_future(self._one(value, places)) for _, value in lot]
        try:
            results = await asyncio.gather(*requests)
        except BaseException:
            for request in requests:
                request.cancel()
            await asyncio.gather(*requests, return_exceptions=True)
            raise
        return [
            (timestamp, result)
            for (timestamp, _), outputs in zip(lot, results, strict=True)
            for result in outputs
        ]

    async def _one(self, value: Any, places: asyncio.Semaphore) -> list[Any]:
        async with places:
            try:
                return self._checked(await self._within_timeout(value))
            except Exception as error:
                raise OperatorError(self.name, value, traceback.format_exc()) from error

    async def _within_timeout(self, value: Any) -> Iterable[Any]:
        if self.timeout <= 0:
            return await self._attempts(value)
        attempts = asyncio.ensure_future(self._attempts(value))
        done, _ = await asyncio.wait([attempts], timeout=self.timeout / 1000)
        if done:
            return attempts.result()
        attempts.cancel()
        await asyncio.gather(attempts, return_exceptions=True)
        return self.function.timeout(value)

    async def _attempts(self, value: Any) -> Iterable[Any]:
        attempt = 0
        while True:
            attempt += 1
            try:
                result = await self.function.async_invoke(value)
                if not self._retry_result(result) or not self.retry.can_retry(attempt):  # type: ignore[arg-type]
                    return result
            except Exception as error:
                if not self._retry_exception(error) or not self.retry.can_retry(attempt):
                    raise
            await asyncio.sleep(self.retry.get_backoff_time_millis(attempt) / 1000)

    def _checked(self, results: Any) -> list[Any]:
        if not isinstance(results, Iterable) or isinstance(results, str | bytes):
            raise TypeError(
                "The result of AsyncFunction should be of list type, also of its timeout, not "
                f"{type(results).__name__}: {results!r:.80}"
            )
        check = self.output_type.check if self.output_type else None
        return [check(result) if check else result for result in results]
