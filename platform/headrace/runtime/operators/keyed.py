"""reduce and process on a keyed stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from headrace.datastream.functions import (
    Function,
    KeyedProcessFunction,
    RuntimeContext,
    TimerService,
)
from headrace.datastream.time_domain import TimeDomain
from headrace.runtime.frames import MAX_WATERMARK
from headrace.runtime.operators.operator import (
    KeyedContext,
    KeyedElement,
    KeyedOperator,
    emit_results,
    known_time,
    method,
)


class Reduce(KeyedOperator):
    """Emits the value reduced so far, for every element."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def open(self, context: RuntimeContext, keyed: KeyedContext) -> None:
        self._reduce: Callable[[Any, Any], Any] = method(self.function, "reduce")
        self._batch: object = None
        #: Key -> its states, of keys that the batch has met.
        self._known: dict[Any, dict[str, Any]] = {}
        if isinstance(self.function, Function):
            self.function.open(context)

    def close(self) -> None:
        if isinstance(self.function, Function):
            self.function.close()

    def for_batch(self) -> KeyedOperator:
        return FinalReduce(self.function)

    def process(self, value: Any, input_: int, context: KeyedContext) -> None:
        before = context.state("reduced")
        result = value if before is None else self._reduce(before, value)
        context.set_state("reduced", result)
        context.emit(result, context.timestamp)

    def process_many(
        self, records: Iterable[KeyedElement], input_: int, context: KeyedContext
    ) -> None:
        """A key that the batch has met before takes one look-up."""
        reduce, emit, known = self._reduce, context.emit, self._of_batch(context)
        for context.timestamp, key, value in records:
            context.value = value
            # exact types only: 1, 1.0 and True are three keys
            plain = type(key) is str or type(key) is int
            states = known.get(key) if plain else None
            before = states.get("reduced") if states else None
            if states is None or before is None:
                context.turn_to(key)
                self.process(value, input_, context)
                if plain:
                    known[key] = context.states()
            else:
                result = reduce(before, value)
                if result is None:
                    del states["reduced"]
                else:
                    states["reduced"] = result
                emit(result, context.timestamp)

    def _of_batch(self, context: KeyedContext) -> dict[Any, dict[str, Any]]:
        if self._batch is not context.batch:
            self._batch = context.batch
            self._known = {}
        return self._known


class FinalReduce(Reduce):
    """Emits the reduced value of each key once, when all input has been read."""

    process_many = KeyedOperator.process_many

    def process(self, value: Any, input_: int, context: KeyedContext) -> None:
        before = context.state("reduced")
        if before is None:
            context.register_timer(MAX_WATERMARK)
        context.set_state("reduced", value if before is None else self._reduce(before, value))

    def on_timer(self, timestamp: int, namespace: Any, context: KeyedContext) -> None:
        context.emit(context.state("reduced"), None)


class KeyedProcess(KeyedOperator):
    """A KeyedProcessFunction of the job's author."""

    def __init__(self, function: KeyedProcessFunction) -> None:
        self.function = function

    def open(self, context: RuntimeContext, keyed: KeyedContext) -> None:
        self._context = FunctionContext(keyed)
        self.function.open(context)

    def close(self) -> None:
        self.function.close()

    def process(self, value: Any, input_: int, context: KeyedContext) -> None:
        self._context.turn_to_element()
        results = self.function.process_element(value, self._context)
        emit_results(results, context, context.timestamp)

    def on_timer(self, timestamp: int, namespace: Any, context: KeyedContext) -> None:
        self._context.turn_to_timer(TimeDomain.EVENT_TIME, timestamp)
        emit_results(self.function.on_timer(timestamp, self._context), context, timestamp)

    def on_processing_timer(self, timestamp: int, namespace: Any, context: KeyedContext) -> None:
        self._context.turn_to_timer(TimeDomain.PROCESSING_TIME, timestamp)
        emit_results(self.function.on_timer(timestamp, self._context), context, None)


class KeyedTimers(TimerService):
    """Timers of the current key, without a namespace."""

    def __init__(self, keyed: KeyedContext) -> None:
        self._keyed = keyed

    def current_processing_time(self) -> int:
        return self._keyed.processing_time

    def current_watermark(self) -> int:
        return self._keyed.watermark

    def register_event_time_timer(self, timestamp: int) -> None:
        self._keyed.register_timer(timestamp)

    def delete_event_time_timer(self, timestamp: int) -> None:
        self._keyed.delete_timer(timestamp)

    def register_processing_time_timer(self, timestamp: int) -> None:
        self._keyed.register_processing_timer(timestamp)

    def delete_processing_time_timer(self, timestamp: int) -> None:
        self._keyed.delete_processing_timer(timestamp)


class FunctionContext(KeyedProcessFunction.OnTimerContext):
    """What the function sees: element time, key, timers."""

    def __init__(self, keyed: KeyedContext) -> None:
        self._keyed = keyed
        self._timers = KeyedTimers(keyed)
        self._domain = TimeDomain.EVENT_TIME
        self._fired: int | None = None

    def turn_to_timer(self, domain: TimeDomain, timestamp: int) -> None:
        self._domain, self._fired = domain, timestamp

    def turn_to_element(self) -> None:
        self._fired = None

    def timestamp(self) -> int:
        return known_time(self._keyed.timestamp if self._fired is None else self._fired)

    def time_domain(self) -> TimeDomain:
        return self._domain

    def get_current_key(self) -> Any:
        return self._keyed.key

    def timer_service(self) -> TimerService:
        return self._timers
