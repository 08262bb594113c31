"""Stateless operators in one pass: from a node's output to the exchanges and sinks behind it."""

from __future__ import annotations

from collections import Counter

from headrace.runtime.exchanges import Place
from headrace.runtime.frames import FrameWriter
from headrace.runtime.operators.operator import Element, KeyedOperator, StatelessOperator
from headrace.runtime.program import Node, Program, Target
from headrace.runtime.task_context import TaskContext


class Pipeline:
    """Follows the program's edges; whatever leaves the stage goes to the frame writer."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._subtasks = min(program.parallelism, program.max_parallelism)
        self._opened: set[int] = set()
        self.counters: Counter[str] = Counter()

    def begin(self, writer: FrameWriter) -> None:
        """Start a batch (of one key group or one source's task)."""
        self._writer = writer
        self.counters.clear()

    def count(self, counter: str, n: int = 1) -> None:
        self.counters[counter] += n

    def send(self, node: Node, tag: str | None, elements: list[Element]) -> None:
        """Elements of a node's output, to all that read it."""
        if not elements:
            return
        for target in node.outputs.get(tag, ()):
            self._deliver(target, elements)

    def _deliver(self, target: Target, elements: list[Element]) -> None:
        node = self._program.nodes[target.node]
        if target.selector is not None:
            self._writer.keyed(node.id, target.input, target.selector, elements)
        elif target.exchange is not None:
            place = Place(node.id, target.input, self._subtasks)
            target.exchange.send(self._writer, place, elements)
        elif isinstance(node.operator, StatelessOperator):
            self._open(node, node.operator)
            node.operator.process(elements, _NodeOutput(self, node))
        elif node.id in self._program.sinks:
            self._writer.to_sink(node.id, elements)
        else:
            assert not isinstance(node.operator, KeyedOperator), f"{node.name} needs a key"

    def _open(self, node: Node, operator: StatelessOperator) -> None:
        if node.id not in self._opened:
            self._opened.add(node.id)
            operator.open(TaskContext(node.name, self._program, self))


class _NodeOutput:
    def __init__(self, pipeline: Pipeline, node: Node) -> None:
        self._pipeline = pipeline
        self._node = node

    def emit(self, elements: list[Element], tag: str | None = None) -> None:
        self._pipeline.send(self._node, tag, elements)
