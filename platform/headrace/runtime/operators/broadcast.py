"""Operators with broadcast state: input 1 is broadcast, and handled before the other."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from typing import Any

from headrace.common.typeinfo import TypeInformation
from headrace.datastream.broadcast_functions import (
    BaseBroadcastProcessFunction,
    BroadcastProcessFunction,
    KeyedBroadcastProcessFunction,
)
from headrace.datastream.function import RuntimeContext
from headrace.datastream.state import MapStateDescriptor, StateDescriptor
from headrace.datastream.time_domain import TimeDomain
from headrace.datastream.timerservice import TimerService
from headrace.runtime import keys
from headrace.runtime.bound_state import bind, bind_broadcast, bind_broadcast_read_only
from headrace.runtime.operators.keyed import FunctionContext
from headrace.runtime.operators.operator import (
    KeyedContext,
    KeyedOperator,
    emit_results,
    known_time,
    side_or_main,
)

BROADCAST_INPUT = 1
#: Entries that the index of a key group's keys is spread over.
_PAGES = 64


class _Broadcast(KeyedOperator):
    _writing: _Writing

    def __init__(
        self,
        function: Any,
        states: list[str],
        output_type: TypeInformation | None,
    ) -> None:
        self.function = function
        self.states = states
        self.output_type = output_type

    def close(self) -> None:
        self.function.close()

    def _take_broadcast(self, value: Any, context: KeyedContext) -> None:
        """Each key group has to keep the state; what is emitted is emitted once per subtask, but
        what comes of all keys' states by every key group."""
        results = list(self.function.process_broadcast_element(value, self._writing) or ())
        if context.leads or self._writing.used_all_keys:
            self._emit(results, context, context.timestamp)

    def _emit(
        self, results: Iterable[Any] | None, context: KeyedContext, timestamp: int | None
    ) -> None:
        check = self.output_type.check if self.output_type else None
        for result in results or ():
            is_main = side_or_main(result)[0] is None
            emit_results((check(result) if check and is_main else result,), context, timestamp)


class BroadcastProcess(_Broadcast):
    """With a stream that is not keyed."""

    def open(self, context: RuntimeContext, keyed: KeyedContext) -> None:
        self._writing = _Writing(keyed, self.states)
        self._reading = _Reading(keyed, self.states)
        self.function.open(context)

    def process(self, value: Any, input_: int, context: KeyedContext) -> None:
        if input_ == BROADCAST_INPUT:
            self._take_broadcast(value, context)
        else:
            results = self.function.process_element(value, self._reading)
            self._emit(results, context, context.timestamp)


class KeyedBroadcastProcess(_Broadcast):
    """With a keyed stream."""

    def open(self, context: RuntimeContext, keyed: KeyedContext) -> None:
        index = _KeyIndex(keyed) if _uses_all_keys(self.function) else None
        self._index = index
        self._writing = _KeyedWriting(keyed, self.states, index)
        self._reading = _KeyedReading(keyed, self.states)
        self.function.open(context)

    def process(self, value: Any, input_: int, context: KeyedContext) -> None:
        if input_ == BROADCAST_INPUT:
            self._writing.used_all_keys = False
            self._take_broadcast(value, context)
            return
        if self._index is not None:
            self._index.add(context.key)
        self._reading.function_context.turn_to_element()
        results = self.function.process_element(value, self._reading)
        self._emit(results, context, context.timestamp)

    def on_timer(self, timestamp: int, namespace: Any, context: KeyedContext) -> None:
        self._fire(TimeDomain.EVENT_TIME, timestamp, context, timestamp)

    def on_processing_timer(self, timestamp: int, namespace: Any, context: KeyedContext) -> None:
        self._fire(TimeDomain.PROCESSING_TIME, timestamp, context, None)

    def _fire(
        self, domain: TimeDomain, timestamp: int, context: KeyedContext, emitted_at: int | None
    ) -> None:
        self._reading.function_context.turn_to_timer(domain, timestamp)
        self._emit(self.function.on_timer(timestamp, self._reading), context, emitted_at)


class _Times(BaseBroadcastProcessFunction.BaseContext):
    def __init__(self, keyed: KeyedContext, states: list[str]) -> None:
        self._keyed = keyed
        self._states = states

    def timestamp(self) -> int:
        return known_time(self._keyed.timestamp)

    def current_processing_time(self) -> int:
        return self._keyed.processing_time

    def current_watermark(self) -> int:
        return self._keyed.watermark

    def _known(self, descriptor: MapStateDescriptor) -> MapStateDescriptor:
        if descriptor.name not in self._states:
            raise ValueError(
                f"broadcast() was not given the state {descriptor.name!r}, only {self._states}"
            )
        return descriptor


class _Writing(_Times, BroadcastProcessFunction.Context):
    used_all_keys = False

    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> Any:
        return bind_broadcast(self._known(state_descriptor), self._keyed)


class _Reading(_Times, BroadcastProcessFunction.ReadOnlyContext):
    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> Any:
        return bind_broadcast_read_only(self._known(state_descriptor), self._keyed)


class _KeyedReading(_Reading, KeyedBroadcastProcessFunction.OnTimerContext):
    def __init__(self, keyed: KeyedContext, states: list[str]) -> None:
        super().__init__(keyed, states)
        self.function_context = FunctionContext(keyed)

    def timestamp(self) -> int:
        return self.function_context.timestamp()

    def timer_service(self) -> TimerService:
        return self.function_context.timer_service()

    def get_current_key(self) -> Any:
        return self._keyed.key

    def time_domain(self) -> TimeDomain:
        return self.function_context.time_domain()


class _KeyedWriting(_Writing, KeyedBroadcastProcessFunction.Context):
    def __init__(self, keyed: KeyedContext, states: list[str], index: _KeyIndex | None) -> None:
        super().__init__(keyed, states)
        self._index = index

    def apply_to_keyed_state(
        self, state_descriptor: StateDescriptor, function: Callable[[Any, Any], object]
    ) -> None:
        if self._index is None:
            raise RuntimeError(
                "apply_to_keyed_state has to be called from a method of the function's own class, "
                "so that its keys are indexed from the start"
            )
        self.used_all_keys = True
        state = bind(state_descriptor, self._keyed)
        for key in self._index.all():
            self._keyed.turn_to(key)
            if state.slot.read() is not None:
                function(key, state)
        self._keyed.turn_to(None)


class _KeyIndex:
    """The keys that a key group has seen, spread over pages by their bytes."""

    def __init__(self, keyed: KeyedContext) -> None:
        self._keyed = keyed

    def add(self, key: Any) -> None:
        identity = keys.encode(key)
        name = _page(zlib.crc32(identity) % _PAGES)
        page = self._keyed.group_state(name) or {}
        if identity not in page:
            page[identity] = key
            self._keyed.set_group_state(name, page)

    def all(self) -> list[Any]:
        pages = [self._keyed.group_state(_page(number)) or {} for number in range(_PAGES)]
        return [key for page in pages for key in page.values()]


def _page(number: int) -> str:
    return f"keys.{number}"


def _uses_all_keys(function: object) -> bool:
    """Whether a method of its class mentions `apply_to_keyed_state`."""
    methods = [each for kind in type(function).__mro__ for each in vars(kind).values()]
    codes = [getattr(each, "__code__", None) for each in methods]
    return any(code and "apply_to_keyed_state" in code.co_names for code in codes)
