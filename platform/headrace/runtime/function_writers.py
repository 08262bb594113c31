"""Calls the sink functions of a job's author."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from headrace.datastream.function import Function
from headrace.datastream.sink_function import SinkContext, SinkFunction
from headrace.runtime import closing
from headrace.runtime.frames import Record
from headrace.runtime.measures import Measures
from headrace.runtime.operators.operator import OperatorError
from headrace.runtime.pipeline import opening
from headrace.runtime.program import Program
from headrace.runtime.sinks import FunctionSink
from headrace.runtime.task_context import TaskContext

Invoke = Callable[[Any, SinkContext], object]


class OpenFunctions:
    """The sink functions of a program, opened once each, and what they measure."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.measures = Measures()
        self._open: dict[int, Function] = {}

    def function(self, op: int) -> Any:
        sink = self.program.sinks[op]
        assert isinstance(sink, FunctionSink)
        if isinstance(sink.function, Function) and op not in self._open:
            node = self.program.nodes[op]
            opening(node.name, sink.function.open, TaskContext(node, self.program, self.measures))
            self._open[op] = sink.function
        return sink.function

    def close(self) -> None:
        with ExitStack() as closes:
            while self._open:
                closes.callback(self._open.popitem()[1].close)


#: Of this worker process: it serves one program at a time, and runs one task at a time.
_of_worker: list[OpenFunctions] = []


def of_worker(program: Program) -> OpenFunctions:
    """They are closed when the process ends in order."""
    if not _of_worker or _of_worker[0].program is not program:
        _of_worker[:] = [OpenFunctions(program)]
        closing.at_end(_of_worker[0].close)
    return _of_worker[0]


class FunctionWriters:
    """The sink functions of one task in one micro-batch."""

    def __init__(self, functions: OpenFunctions) -> None:
        self._functions = functions
        self._used: dict[int, SinkFunction] = {}
        self.measures = functions.measures
        self.measures.begin()

    def write(self, op: int, records: list[Record], time: int) -> None:
        invoke = self._invoke(op)
        value = None
        try:
            for timestamp, _, value in records:
                invoke(value, SinkContext(time, timestamp))
        except Exception as error:
            name = self._functions.program.nodes[op].name
            raise OperatorError(name, value, traceback.format_exc()) from error

    def finish(self) -> None:
        """Behind the last record."""
        for function in self._used.values():
            function.finish_batch()

    def _invoke(self, op: int) -> Invoke:
        function = self._functions.function(op)
        if isinstance(function, SinkFunction):
            self._used[op] = function
            return function.invoke
        return lambda value, _: function(value)
