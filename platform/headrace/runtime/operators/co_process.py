"""Two connected streams in one operator."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from typing import Any

from headrace.common.typeinfo import TypeInformation
from headrace.datastream.co_functions import (
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedCoProcessFunction,
)
from headrace.datastream.function import RuntimeContext
from headrace.datastream.time_domain import TimeDomain
from headrace.runtime.operators.keyed import FunctionContext
from headrace.runtime.operators.operator import (
    Element,
    KeyedContext,
    KeyedOperator,
    OperatorError,
    Output,
    StatelessOperator,
    emit_results,
    side_or_main,
)
from headrace.runtime.operators.stateless import UnkeyedContext

CoFunction = CoMapFunction | CoFlatMapFunction | CoProcessFunction | KeyedCoProcessFunction
Call = Callable[[Any, Any], Iterable[Any] | None]


def calls(function: CoFunction, output_type: TypeInformation | None) -> list[Call]:
    """By input: the function's methods in the form of `process_element`."""
    if isinstance(function, CoMapFunction):
        both = [_mapped(function.map1), _mapped(function.map2)]
    elif isinstance(function, CoFlatMapFunction):
        both = [_flat_mapped(function.flat_map1), _flat_mapped(function.flat_map2)]
    else:
        both = [function.process_element1, function.process_element2]
    return both if output_type is None else [_checked(call, output_type) for call in both]


def _mapped(call: Callable[[Any], Any]) -> Call:
    def process(value: Any, context: Any) -> Iterable[Any]:
        result = call(value)
        return () if result is None else (result,)

    return process


def _flat_mapped(call: Callable[[Any], Iterable[Any] | None]) -> Call:
    return lambda value, context: call(value)


def _checked(call: Call, output_type: TypeInformation) -> Call:
    def process(value: Any, context: Any) -> Iterable[Any]:
        for result in call(value, context) or ():
            is_main = side_or_main(result)[0] is None
            yield output_type.check(result) if is_main else result

    return process


class CoProcess(StatelessOperator):
    """Streams that are not keyed."""

    def __init__(
        self, name: str, function: CoFunction, output_type: TypeInformation | None
    ) -> None:
        self.name = name
        self.function = function
        self.output_type = output_type

    def open(self, context: RuntimeContext) -> None:
        self._calls = calls(self.function, self.output_type)
        self.function.open(context)

    def close(self) -> None:
        self.function.close()

    def process(self, elements: list[Element], output: Output) -> None:
        self.process_from(0, elements, output)

    def process_from(self, input_: int, elements: list[Element], output: Output) -> None:
        value = None
        call = self._calls[input_]
        results: dict[str | None, list[Element]] = {None: []}
        context = UnkeyedContext(output)
        try:
            for context.element_time, value in elements:
                for result in call(value, context) or ():
                    tag, sent = side_or_main(result)
                    results.setdefault(tag, []).append((context.element_time, sent))
        except Exception as error:
            raise OperatorError(self.name, value, traceback.format_exc()) from error
        for tag, sent_elements in results.items():
            output.emit(sent_elements, tag)


class KeyedCoProcess(KeyedOperator):
    """Keyed streams: with state, and timers where the function has `on_timer`."""

    def __init__(self, function: CoFunction, output_type: TypeInformation | None) -> None:
        self.function = function
        self.output_type = output_type

    def open(self, context: RuntimeContext, keyed: KeyedContext) -> None:
        self._context = FunctionContext(keyed)
        self._calls = calls(self.function, self.output_type)
        self._on_timer: Call = getattr(self.function, "on_timer", lambda timestamp, context: None)
        self.function.open(context)

    def close(self) -> None:
        self.function.close()

    def process(self, value: Any, input_: int, context: KeyedContext) -> None:
        self._context.turn_to_element()
        emit_results(self._calls[input_](value, self._context), context, context.timestamp)

    def on_timer(self, timestamp: int, namespace: Any, context: KeyedContext) -> None:
        self._context.turn_to_timer(TimeDomain.EVENT_TIME, timestamp)
        emit_results(self._on_timer(timestamp, self._context), context, timestamp)

    def on_processing_timer(self, timestamp: int, namespace: Any, context: KeyedContext) -> None:
        self._context.turn_to_timer(TimeDomain.PROCESSING_TIME, timestamp)
        emit_results(self._on_timer(timestamp, self._context), context, None)
