"""Stateless operators in one pass: from a node's output to the exchanges and sinks behind it."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

from headrace.common.typeinfo import TypeInformation, TypeMismatch
from headrace.datastream.function import Function, RuntimeContext
from headrace.runtime.exchanges import Place
from headrace.runtime.frames import MIN_WATERMARK, FrameWriter
from headrace.runtime.measures import Measures
from headrace.runtime.measuring.counts import OUT, Counts
from headrace.runtime.metrics import BatchMetrics
from headrace.runtime.operators.operator import (
    Clock,
    Element,
    KeyedOperator,
    OperatorError,
    StatelessOperator,
)
from headrace.runtime.program import Node, Program, Target
from headrace.runtime.task_context import TaskContext


class Pipeline:
    """Follows the program's edges; whatever leaves the stage goes to the frame writer.

    `program` is its own copy, as the functions in it are those of one subtask. `clock` is that of
    the keyed operators in front, if any, of the level `stage`."""

    def __init__(
        self, program: Program, subtask: int = 0, clock: Clock | None = None, stage: int = 0
    ) -> None:
        self.program = program
        self.measures = Measures()
        self.counts = Counts(stage, subtask)
        self._subtask = subtask
        self._clock = clock
        self._outputs: dict[int, _NodeOutput] = {}
        self._selectors = _functions_of_exchanges(program)
        self._open_selectors: list[Function] = []

    def begin(self, writer: FrameWriter) -> None:
        """Start a batch (of one key group or one source's task)."""
        self._writer = writer
        writer.subtask = self._subtask
        self.measures.begin()
        self.counts.begin()
        for operator, _ in self._opened():
            operator.begin()

    def count(self, node: int, counter: str, n: int = 1) -> None:
        """For an operator, and for the job."""
        self.measures.counters[counter] += n
        self.counts.count(node, counter, n)

    def report(self, report: BatchMetrics, watermarks: dict[str, int]) -> bool:
        """Put what was counted since `begin` into a report; False when there is nothing."""
        user = self.measures.take(report)
        part = self.counts.take(self._writer.sent, watermarks, user)
        if part is not None:
            report.add_part(part)
        return part is not None or bool(report.counters)

    @property
    def processing_time(self) -> int:
        return self._writer.time

    @property
    def watermark(self) -> int:
        return MIN_WATERMARK if self._clock is None else self._clock.watermark

    def send(self, node: Node, tag: str | None, elements: list[Element]) -> None:
        """Elements of a node's output, to all that read it."""
        if not elements:
            return
        if node.checked is not None and tag is None:
            elements = checked(node, node.checked, elements)
        targets = node.outputs.get(tag)
        if not targets:
            return
        self.counts.of(node.id)[OUT] += len(elements)
        for target in targets:
            self._deliver(target, elements)

    def finish(self) -> None:
        """Nothing more comes in this batch: operators send what they have held back."""
        for number, operator, output in self._in_use():
            if type(operator).finish is not StatelessOperator.finish:
                self.counts.enter(number)
                operator.finish(output)
                self.counts.leave()

    def close(self) -> None:
        """Close the functions that were opened. One that fails does not keep the others from it;
        its error is raised behind them."""
        with ExitStack() as closes:
            for function in self._open_selectors:
                closes.callback(function.close)
            for operator, _ in self._opened():
                closes.callback(operator.close)
            self._outputs, self._open_selectors = {}, []

    def context(self, node: Node) -> TaskContext:
        return TaskContext(node, self.program, self.measures, self._subtask)

    def _deliver(self, target: Target, elements: list[Element]) -> None:
        node = self.program.nodes[target.node]
        if self._selectors and id(target) in self._selectors:
            self._open_exchange(target, node)
        if target.selector is not None:
            self._writer.keyed(node.id, target.input, target.selector, elements)
        elif target.exchange is not None:
            place = Place(node.id, target.input, self.program.subtasks)
            target.exchange.send(self._writer, place, elements)
        elif isinstance(node.operator, StatelessOperator):
            output = self._outputs.get(node.id) or self._open(node, node.operator)
            self.counts.enter(node.id, len(elements))
            node.operator.process_from(target.input, elements, output)
            self.counts.leave()
        elif node.id in self.program.sinks:
            self._writer.to_sink(node.id, elements)
        else:
            assert not isinstance(node.operator, KeyedOperator), f"{node.name} needs a key"

    def _opened(self) -> Iterator[tuple[StatelessOperator, _NodeOutput]]:
        for _, operator, output in self._in_use():
            yield operator, output

    def _in_use(self) -> Iterator[tuple[int, StatelessOperator, _NodeOutput]]:
        """In the order of the graph; also those that what came before has opened."""
        for number in sorted(self.program.nodes):
            if number in self._outputs:
                operator = self.program.nodes[number].operator
                assert isinstance(operator, StatelessOperator)
                yield number, operator, self._outputs[number]

    def _open(self, node: Node, operator: StatelessOperator) -> _NodeOutput:
        output = self._outputs[node.id] = _NodeOutput(self, node)
        opening(node.name, operator.open, self.context(node))
        return output

    def _open_exchange(self, target: Target, node: Node) -> None:
        for function in self._selectors.pop(id(target)):
            self._open_selectors.append(function)
            opening(f"exchange before {node.name}", function.open, self.context(node))


class _NodeOutput:
    def __init__(self, pipeline: Pipeline, node: Node) -> None:
        self._pipeline = pipeline
        self._node = node

    @property
    def processing_time(self) -> int:
        return self._pipeline.processing_time

    @property
    def watermark(self) -> int:
        return self._pipeline.watermark

    def emit(self, elements: list[Element], tag: str | None = None) -> None:
        self._pipeline.send(self._node, tag, elements)


def checked(node: Node, kind: TypeInformation, elements: list[Element]) -> list[Element]:
    """The elements as the declared type holds them."""
    check = kind.check
    try:
        return [(timestamp, check(value)) for timestamp, value in elements]
    except TypeMismatch as error:
        value = next(value for _, value in elements if not fits(kind, value))
        trace = "".join(traceback.format_exception_only(error))
        raise OperatorError(node.name, value, trace) from None


def fits(kind: TypeInformation, value: Any) -> bool:
    try:
        kind.check(value)
    except TypeMismatch:
        return False
    return True


def opening(operator: str, open_: Callable[..., None], *arguments: RuntimeContext | Any) -> None:
    """Raises OperatorError with the operator's name when its `open` raises."""
    try:
        open_(*arguments)
    except OperatorError:
        raise
    except Exception as error:
        raise OperatorError(operator, "open", traceback.format_exc()) from error


def _functions_of_exchanges(program: Program) -> dict[int, list[Function]]:
    """By the identity of a target: key selectors and partitioners that are objects to open."""
    found: dict[int, list[Function]] = {}
    for node in program.nodes.values():
        for targets in node.outputs.values():
            for target in targets:
                exchange = target.exchange
                calls = (
                    target.selector,
                    getattr(exchange, "partition", None),
                    getattr(exchange, "selector", None),
                )
                owners = [getattr(call, "__self__", None) for call in calls]
                functions = [owner for owner in owners if isinstance(owner, Function)]
                if functions:
                    found[id(target)] = functions
    return found
