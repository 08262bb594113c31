"""Calls the sink functions of a job's author."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from headrace.datastream.functions import Function
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

#: Opened functions of this process, by program and sink.
_opened: dict[tuple[int, int], Program] = {}
#: What they count: a process runs one task at a time.
_measures = Measures()


class FunctionWriters:
    """The sink functions of one task in one micro-batch."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._used: dict[int, SinkFunction] = {}
        self.measures = _measures
        self.measures.begin()

    def write(self, op: int, records: list[Record], time: int) -> None:
        sink = self._program.sinks[op]
        invoke = self._open(op, sink)
        value = None
        try:
            for timestamp, _, value in records:
                invoke(value, SinkContext(time, timestamp))
        except Exception as error:
            name = self._program.nodes[op].name
            raise OperatorError(name, value, traceback.format_exc()) from error

    def finish(self) -> None:
        """Behind the last record."""
        for function in self._used.values():
            function.finish_batch()

    def _open(self, op: int, sink: FunctionSink) -> Invoke:
        function = sink.function
        key = id(self._program), op
        if isinstance(function, Function) and _opened.get(key) is not self._program:
            _opened[key] = self._program  # kept, so that its id stays its own
            name = self._program.nodes[op].name
            opening(name, function.open, TaskContext(name, self._program, self.measures))
            closing.at_end(function.close)
        if isinstance(function, SinkFunction):
            self._used[op] = function
            return function.invoke
        return lambda value, _: function(value)
