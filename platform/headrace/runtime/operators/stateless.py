"""map, flat_map, filter and process: one record at a time, no state."""

from __future__ import annotations

import traceback
from typing import Any

from headrace.common.typeinfo import TypeInformation
from headrace.datastream.co_functions import CoProcessFunction
from headrace.datastream.functions import Function, ProcessFunction, RuntimeContext, TimerService
from headrace.runtime.operators.operator import (
    Clock,
    Element,
    OperatorError,
    Output,
    StatelessOperator,
    method,
    side_or_main,
)


class _UserFunction(StatelessOperator):
    """A node that calls a function of the job's author."""

    call = ""

    def __init__(self, name: str, function: Any, output_type: TypeInformation | None) -> None:
        self.name = name
        self.function = function
        self.output_type = output_type

    def open(self, context: RuntimeContext) -> None:
        self._call = method(self.function, self.call)
        self._check = self.output_type.check if self.output_type else None
        if isinstance(self.function, Function):
            self.function.open(context)

    def close(self) -> None:
        if isinstance(self.function, Function):
            self.function.close()

    def process(self, elements: list[Element], output: Output) -> None:
        value = None
        results: list[Element] = []
        try:
            for timestamp, value in elements:
                self._each(timestamp, value, results)
        except Exception as error:
            raise OperatorError(self.name, value, traceback.format_exc()) from error
        output.emit(results)

    def _each(self, timestamp: int | None, value: Any, results: list[Element]) -> None:
        raise NotImplementedError


class Map(_UserFunction):
    call = "map"

    def _each(self, timestamp: int | None, value: Any, results: list[Element]) -> None:
        result = self._call(value)
        results.append((timestamp, self._check(result) if self._check else result))


class FlatMap(_UserFunction):
    call = "flat_map"

    def _each(self, timestamp: int | None, value: Any, results: list[Element]) -> None:
        check = self._check
        for result in self._call(value) or ():
            results.append((timestamp, check(result) if check else result))


class Filter(_UserFunction):
    call = "filter"

    def _each(self, timestamp: int | None, value: Any, results: list[Element]) -> None:
        if self._call(value):
            results.append((timestamp, value))


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

    def timestamp(self) -> int | None:
        return self.element_time

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
