"""Runs the operators of one level for one key group and micro-batch, in plain Python.

The order within a batch is fixed, so that a batch run again does the same:

1. data, by sender and sequence number;
2. control rows: what the sources say of their watermarks, and that input has ended;
3. per operator, in the order of the graph: its watermark moves, due timers fire in order of time;
4. what was sent goes out in frames, control rows go on to the next level.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from typing import Any

from headrace.runtime import frames, metrics
from headrace.runtime.frames import MIN_WATERMARK, Control, Frame, FrameWriter, Record
from headrace.runtime.operators.operator import KeyedOperator, OperatorError
from headrace.runtime.pipeline import Pipeline
from headrace.runtime.program import Node, Program
from headrace.runtime.state import Entries, Store
from headrace.runtime.task_context import TaskContext
from headrace.runtime.timers import Timers
from headrace.runtime.watermarks import SplitWatermarks


class Head:
    """What a key group keeps for the host itself, from batch to batch."""

    def __init__(self) -> None:
        self.splits = SplitWatermarks()
        self.watermarks: dict[str, int] = {}
        self.timer_pages: set[int] = set()
        self.time = 0


class LevelHost:
    """The operators of one level, opened once per worker process."""

    def __init__(self, program: Program, level: int) -> None:
        self._program = program
        self._level = level
        self._nodes = {node.id: node for node in program.keyed_nodes(level)}
        self._pipeline = Pipeline(program)
        self.current = CurrentKey()
        for node in self._nodes.values():
            task = TaskContext(node.name, program, self.current)
            _keyed(node).open(task, self.current)

    def run(self, group: int, received: Iterable[Frame], store: Store) -> Iterator[Frame]:
        """The frames of one key group, in any order, to the frames that leave it."""
        stored = store.head()
        head: Head = frames.loads(stored) if stored else Head()
        rows = sorted(received, key=lambda f: (f.kind, f.src, f.seq))
        head.time = max([head.time, *(f.time for f in rows)])
        writer = FrameWriter(f"L{self._level}-{group}", self._program.max_parallelism)
        writer.time = head.time
        self._pipeline.begin(writer)
        self.current.begin(head, store, self._pipeline)

        passed_on = [f for f in rows if f.op not in self._nodes and f.kind != frames.CONTROL]
        self._run_data([f for f in rows if f.kind == frames.DATA and f.op in self._nodes])
        controls = [f for f in rows if f.kind == frames.CONTROL]
        self._take_controls(head, controls)
        self._advance(head)

        self.current.flush()
        store.set_head(frames.dumps(head))
        yield from writer.frames()
        yield from passed_on
        if self._level < self._program.levels:
            yield from controls
        if self._pipeline.counters or (group == 0 and controls):
            yield writer.metrics(self._report(head, group))

    def _run_data(self, rows: list[Frame]) -> None:
        current = self.current
        for frame in rows:
            node = self._nodes[frame.op]
            operator = _keyed(node)
            current.enter(node)
            records: list[Record] = frames.loads(frame.frame)
            value = None
            try:
                for current.timestamp, current.key, value in records:
                    operator.process(value, frame.input, current)
            except Exception as error:
                raise OperatorError(node.name, value, traceback.format_exc()) from error

    def _take_controls(self, head: Head, rows: list[Frame]) -> None:
        for frame in rows:
            control: Control = Control(*frames.loads(frame.frame))
            head.splits.advance(control.watermarks, frame.time)
            if control.ended:
                head.splits.end(self._program.generators.values())

    def _advance(self, head: Head) -> None:
        for node in self._nodes.values():
            generators = [self._program.generators[name] for name in node.generators]
            before = head.watermarks.get(node.uid, MIN_WATERMARK)
            watermark = max(before, head.splits.of(generators, head.time))
            head.watermarks[node.uid] = watermark
            if watermark > before:
                self._fire_timers(node, watermark)

    def _fire_timers(self, node: Node, watermark: int) -> None:
        operator = _keyed(node)
        current = self.current
        current.enter(node)
        while (due := current.timers.pop_due(node.uid, watermark)) is not None:
            timestamp, (_, current.key, namespace) = due
            current.timestamp = timestamp
            try:
                operator.on_timer(timestamp, namespace, current)
            except Exception as error:
                where = f"timer at {timestamp} of key {current.key!r}"
                raise OperatorError(node.name, where, traceback.format_exc()) from error

    def _report(self, head: Head, group: int) -> dict[str, Any]:
        report = metrics.BatchMetrics(counters=dict(self._pipeline.counters))
        if group == 0:
            marks = [head.watermarks[node.uid] for node in self._nodes.values() if node.generators]
            if marks:
                report.watermarks = {self._level: min(marks)}
        return report.to_dict()


def _keyed(node: Node) -> KeyedOperator:
    assert isinstance(node.operator, KeyedOperator)
    return node.operator


class CurrentKey:
    """The KeyedContext of all operators of a level: one object, moved from key to key."""

    key: Any = None
    timestamp: int | None = None
    watermark = MIN_WATERMARK
    processing_time = 0

    def begin(self, head: Head, store: Store, pipeline: Pipeline) -> None:
        """Turn to another key group."""
        self._head = head
        self._entries = Entries(store)
        self.timers = Timers(store, head.timer_pages)
        self._pipeline = pipeline
        self.processing_time = head.time

    def enter(self, node: Node) -> None:
        """Turn to another operator; what the one before sent goes on its way."""
        self._node = node
        self._uid = node.uid
        self.watermark = self._head.watermarks.get(node.uid, MIN_WATERMARK)

    def flush(self) -> None:
        self._entries.flush()
        self.timers.flush()

    def emit(self, value: Any, timestamp: int | None) -> None:
        self._pipeline.send(self._node, None, [(timestamp, value)])

    def emit_to(self, tag: str, value: Any, timestamp: int | None) -> None:
        self._pipeline.send(self._node, tag, [(timestamp, value)])

    def count(self, counter: str, n: int = 1) -> None:
        self._pipeline.count(counter, n)

    def state(self, name: str, namespace: Any = None) -> Any:
        return self._entries.get(self._uid, self.key, namespace, name)

    def set_state(self, name: str, value: Any, namespace: Any = None) -> None:
        self._entries.set(self._uid, self.key, namespace, name, value)

    def register_timer(self, timestamp: int, namespace: Any = None) -> None:
        self.timers.register(timestamp, (self._uid, self.key, namespace))

    def delete_timer(self, timestamp: int, namespace: Any = None) -> None:
        self.timers.delete(timestamp, (self._uid, self.key, namespace))
