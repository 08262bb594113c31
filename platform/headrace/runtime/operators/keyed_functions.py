"""map, flat_map and filter on keyed streams, whose functions may hold the key's state."""

from __future__ import annotations

from typing import Any

from headrace.common.typeinfo import TypeInformation
from headrace.datastream.functions import Function, RuntimeContext
from headrace.runtime.operators.operator import KeyedContext, KeyedOperator
from headrace.runtime.operators.stateless import checking


class _KeyedFunction(KeyedOperator):
    def __init__(self, function: Function, output_type: TypeInformation | None = None) -> None:
        self.function: Any = function
        self.output_type = output_type

    def open(self, context: RuntimeContext, keyed: KeyedContext) -> None:
        self._check = checking(self.output_type)
        self.function.open(context)

    def close(self) -> None:
        self.function.close()

    def _emit(self, result: Any, context: KeyedContext) -> None:
        context.emit(self._check(result) if self._check else result, context.timestamp)


class KeyedMap(_KeyedFunction):
    def process(self, value: Any, input_: int, context: KeyedContext) -> None:
        self._emit(self.function.map(value), context)


class KeyedFlatMap(_KeyedFunction):
    def process(self, value: Any, input_: int, context: KeyedContext) -> None:
        for result in self.function.flat_map(value) or ():
            self._emit(result, context)


class KeyedFilter(_KeyedFunction):
    def process(self, value: Any, input_: int, context: KeyedContext) -> None:
        if self.function.filter(value):
            self._emit(value, context)
