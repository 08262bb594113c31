"""map, flat_map, filter and process: one record at a time, no state."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from operator import length_hint
from typing import Any

from headrace.common.basic_types import basic
from headrace.common.typeinfo import TypeInformation
from headrace.datastream.co_functions import CoProcessFunction
from headrace.datastream.functions import Function, ProcessFunction, RuntimeContext, TimerService
from headrace.runtime.operators.operator import (
    Clock,
    Element,
    OperatorError,
    Output,
    StatelessOperator,
    known_time,
    method,
    side_or_main,
)

Send = Callable[[Element], None]


def checking(kind: TypeInformation | None) -> Callable[[Any], Any] | None:
    """What makes values of a declared type; None where every value is one."""
    return None if kind is None or kind == basic("PICKLED_BYTE_ARRAY") else kind.check


class _UserFunction(StatelessOperator):
    """A node that calls a function of the job's author."""

    call = ""

    def __init__(self, name: str, function: Any, output_type: TypeInformation | None) -> None:
        self.name = name
        self.function = function
        self.output_type = output_type

    def open(self, context: RuntimeContext) -> None:
        self._call = method(self.function, self.call)
        self._check = checking(self.output_type)
        if isinstance(self.function, Function):
            self.function.open(context)

    def close(self) -> None:
        if isinstance(self.function, Function):
            self.function.close()

    def process(self, elements: list[Element], output: Output) -> None:
        results: list[Element] = []
        taken = iter(elements)
        try:
            self._all(taken, results.append)
        except Exception as error:
            value = elements[len(elements) - length_hint(taken) - 1][1]
            raise OperatorError(self.name, value, traceback.format_exc()) from error
        output.emit(results)

    def _all(self, elements: Iterator[Element], send: Send) -> None:
        """Function by function a loop of its own: a call less for each record."""
        raise NotImplementedError


class Map(_UserFunction):
    call = "map"

    def _all(self, elements: Iterator[Element], send: Send) -> None:
        call, check = self._call, self._check
        if check is None:
            for timestamp, value in elements:
                send((timestamp, call(value)))
        else:
            for timestamp, value in elements:
                send((timestamp, check(call(value))))


class FlatMap(_UserFunction):
    call = "flat_map"

    def _all(self, elements: Iterator[Element], send: Send) -> None:
        call, check = self._call, self._check
        for timestamp, value in elements:
            results = call(value) or ()
            if not hasattr(results, "__iter__"):
                raise TypeError(
                    f"flat_map gives an iterable of values or None, not {results!r:.80}"
                )
            for result in results:
                send((timestamp, check(result) if check else result))


class Filter(_UserFunction):
    call = "filter"

    def _all(self, elements: Iterator[Element], send: Send) -> None:
        call = self._call
        for element in elements:
            if call(element[1]):
                send(element)


class Process(_UserFunction):
    """A ProcessFunction on a stream that is not keyed: side outputs, but no timers."""

    call = "process_element"

    def process(self, elements: list[Element], output: Output) -> None:
        value = None
        results: dict[str | None, list[Element]] = {None: []}
        context = UnkeyedContext(output)
        try:
            for context.element_time, value in elements:
                for result in self._call(value, context) or ():
                    tag, sent = side_or_main(result)
                    results.setdefault(tag, []).append((context.element_time, sent))
        except Exception as error:
            raise OperatorError(self.name, value, traceback.format_exc()) from error
        for tag, sent_elements in results.items():
            output.emit(sent_elements, tag)


class UnkeyedContext(ProcessFunction.Context, CoProcessFunction.Context, TimerService):
    """What process functions see where there is no key: times, but no timers."""

    element_time: int | None = None

    def __init__(self, output: Clock) -> None:
        self._output = output

    def timestamp(self) -> int:
        return known_time(self.element_time)

    def timer_service(self) -> TimerService:
        return self

    def current_processing_time(self) -> int:
        return self._output.processing_time

    def current_watermark(self) -> int:
        return self._output.watermark

    def register_processing_time_timer(self, timestamp: int) -> None:
        raise RuntimeError("timers need a keyed stream; call key_by before process")

    register_event_time_timer = delete_processing_time_timer = delete_event_time_timer = (
        register_processing_time_timer
    )
