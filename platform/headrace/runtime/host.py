"""Runs the operators of one level for one key group and micro-batch, in plain Python.

The order within a batch is fixed, so that a batch run again does the same:

1. processing-time timers of before the batch's time, per operator and in order of time;
2. broadcast elements, then other data, each by sender and sequence number;
3. control rows: what the sources say of their watermarks, and that input has ended;
4. per operator, in the order of the graph: its watermark moves, due event-time timers fire in
   order of time;
5. processing-time timers up to the batch's time: the records of this time came first, as they
   belong to windows that end with it;
6. what was sent goes out in frames, control rows go on to the next level.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

from headrace.runtime import frames, metrics
from headrace.runtime.current_key import CurrentKey
from headrace.runtime.frames import MIN_WATERMARK, Control, Frame, FrameWriter
from headrace.runtime.measuring.counts import BYTES_IN, TIMERS
from headrace.runtime.operators.loop import Loop
from headrace.runtime.operators.operator import KeyedOperator, OperatorError
from headrace.runtime.operators.pass_on import PassOn
from headrace.runtime.operators.timestamps import taken_watermarks
from headrace.runtime.pipeline import Pipeline, opening
from headrace.runtime.program import Node, Program
from headrace.runtime.state import Store
from headrace.runtime.task_context import TaskContext
from headrace.runtime.watermarks import SplitWatermarks


class Head:
    """What a key group keeps for the host itself, from batch to batch."""

    def __init__(self) -> None:
        self.splits = SplitWatermarks()
        self.watermarks: dict[str, int] = {}
        self.timer_pages: set[int] = set()
        self.processing_timer_pages: set[int] = set()
        self.expiry_pages: set[int] = set()
        self.time = 0
        #: The attempt whose clocks of idle splits these are.
        self.attempt = 0

    def __setstate__(self, state: dict[str, Any]) -> None:
        Head.__init__(self)  # what a head of an earlier version did not keep yet
        self.__dict__.update(state)


class LevelHost:
    """The operators of one level, opened once per worker process and subtask. `program` is its own
    copy, as the functions in it are those of one subtask."""

    def __init__(self, program: Program, level: int, subtask: int = 0) -> None:
        self._program = program
        self._level = level
        self._nodes = {node.id: node for node in program.keyed_nodes(level)}
        self._assigners = program.assigners(level)
        self._finishing = [
            node
            for node in self._nodes.values()
            if type(_keyed(node)).finish is not KeyedOperator.finish
        ]
        self.current = CurrentKey()
        self._pipeline = Pipeline(program, subtask, self.current, level)
        for node in self._nodes.values():
            measures = self._pipeline.measures
            task = TaskContext(node, program, measures, subtask, self.current)
            opening(node.name, _keyed(node).open, task, self.current)

    def close(self) -> None:
        """Close the functions, as a pipeline does; the host is not used any more."""
        with ExitStack() as closes:
            for node in self._nodes.values():
                closes.callback(_keyed(node).close)
            closes.callback(self._pipeline.close)

    def run(
        self, group: int, received: Iterable[Frame], store: Store, *, again: bool = False
    ) -> Iterator[Frame]:
        """The frames of one key group, in any order, to the frames that leave it. `again`: an
        earlier attempt has run this batch, or a part of it."""
        stored = store.head()
        head: Head = frames.loads(stored) if stored else Head()
        rows = sorted(received, key=lambda f: (f.kind, f.src, f.seq))
        head.time = max([head.time, *(f.time for f in rows)])
        if head.attempt != self._program.attempt and not again:
            # after a pause nobody is idle yet; not within a batch that must do as it did before
            head.attempt = self._program.attempt
            head.splits.restart_clocks(head.time)
        writer = FrameWriter(f"L{self._level}-{group}", self._program.max_parallelism)
        writer.time = head.time
        self._pipeline.begin(writer)
        for assigner in self._assigners.values():
            assigner.start(head.time)
        self.current.begin(head, store, self._pipeline)
        self.current.leads = self._program.leads(group)

        self.current.drop_expired(self._nodes.values())
        self._fire_processing_timers(head.time - 1)
        passed_on = [f for f in rows if f.op not in self._nodes and f.kind != frames.CONTROL]
        self._run_data([f for f in rows if f.kind <= frames.DATA and f.op in self._nodes])
        controls = [f for f in rows if f.kind == frames.CONTROL]
        ended = self._take_controls(head, controls)
        self._settle(writer, ended)
        self._advance(head)
        self._fire_processing_timers(head.time)
        self._settle(writer, ended)

        for node in self._finishing:
            self.current.enter(node)
            _keyed(node).finish(self.current)
        due = self._next_due(head)
        self.current.flush()
        store.set_head(frames.dumps(head))
        yield from writer.frames()
        yield from passed_on
        watermarks = taken_watermarks(self._assigners)
        if self._level < self._program.levels:
            yield from controls
            if watermarks:
                yield from writer.control(Control(watermarks, ended=False))
        report = self._report(head, group, due)
        measured = self._pipeline.report(report, watermarks)
        if measured or due is not None or (group == 0 and controls):
            yield writer.metrics(report.to_dict())

    def _run_data(self, rows: list[Frame]) -> None:
        current, counts = self.current, self._pipeline.counts
        for frame in rows:
            node = self._nodes[frame.op]
            operator = _keyed(node)
            current.enter(node)
            columns = frames.columns(frame.frame)
            records = zip(*columns, strict=True)
            counts.enter(node.id, len(columns[0]))
            counts.of(node.id)[BYTES_IN] += len(frame.frame)
            if isinstance(operator, PassOn):
                self._pipeline.send(node, None, [(ts, value) for ts, _, value in records])
                counts.leave()
                continue
            current.value = None
            try:
                operator.process_many(records, frame.input, current)
            except OperatorError:
                raise  # of a function behind this operator, which it names
            except Exception as error:
                raise OperatorError(node.name, current.value, traceback.format_exc()) from error
            current.deliver()
            counts.leave()

    def _settle(self, writer: FrameWriter, ended: bool) -> None:
        """Nothing more comes for now: what operators have held back is sent, and loops go round
        until nothing comes back, or until they have had enough for one batch."""
        self._pipeline.finish()
        while any(self._go_round(node, writer, ended) for node in self._nodes.values()):
            self._pipeline.finish()

    def _go_round(self, node: Node, writer: FrameWriter, ended: bool) -> bool:
        loop = node.operator
        if not isinstance(loop, Loop):
            return False
        self.current.enter(node)
        self.current.turn_to(None)
        try:
            went = loop.go_round(self.current, writer.take_loop(node.id), ended)
            self.current.deliver()
            return went
        except OperatorError:
            raise
        except Exception as error:
            raise OperatorError(node.name, "what comes back", traceback.format_exc()) from error

    def _take_controls(self, head: Head, rows: list[Frame]) -> bool:
        """Whether all input has ended."""
        ended = False
        for frame in rows:
            control: Control = Control(*frames.loads(frame.frame))
            head.splits.advance(control.watermarks, frame.time)
            if control.ended:
                head.splits.end(self._program.generators.values())
                ended = True
        return ended

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
        current, fired = self.current, 0
        current.enter(node)
        while (due := current.timers.pop_due(node.uid, watermark)) is not None:
            timestamp, identity, (_, key, namespace) = due
            fired = self._fires(node, fired)
            current.timestamp = timestamp
            current.turn_to_owner(key, namespace, identity)
            try:
                operator.on_timer(timestamp, namespace, current)
            except OperatorError:
                raise
            except Exception as error:
                where = f"timer at {timestamp} of key {current.key!r}"
                raise OperatorError(node.name, where, traceback.format_exc()) from error
        current.deliver()
        self._fired(node, fired)

    def _fires(self, node: Node, timers: int) -> int:
        """One more than so many."""
        if not timers:
            self._pipeline.counts.enter(node.id)
        return timers + 1

    def _fired(self, node: Node, timers: int) -> None:
        """All that are due."""
        if timers:
            self._pipeline.counts.leave()
            self._pipeline.counts.of(node.id)[TIMERS] += timers

    def _fire_processing_timers(self, until: int) -> None:
        current = self.current
        for node in self._nodes.values():
            operator = _keyed(node)
            current.enter(node)
            timers, fired = current.processing_timers, 0
            while (due := timers.pop_due(node.uid, until)) is not None:
                timestamp, identity, (_, key, namespace) = due
                fired = self._fires(node, fired)
                current.timestamp = None
                current.turn_to_owner(key, namespace, identity)
                try:
                    operator.on_processing_timer(timestamp, namespace, current)
                except OperatorError:
                    raise
                except Exception as error:
                    where = f"processing-time timer at {timestamp} of key {current.key!r}"
                    raise OperatorError(node.name, where, traceback.format_exc()) from error
            current.deliver()
            self._fired(node, fired)

    def _next_due(self, head: Head) -> int | None:
        """When a batch has to run even if nothing comes in."""
        for node in self._nodes.values():
            if isinstance(node.operator, Loop):
                self.current.enter(node)
                if node.operator.waits(self.current):
                    return head.time
        return self.current.processing_timers.next_due()

    def _report(self, head: Head, group: int, due: int | None) -> metrics.BatchMetrics:
        report = metrics.BatchMetrics(next_timer=due)
        if group == 0:
            marks = [head.watermarks[node.uid] for node in self._nodes.values() if node.generators]
            if marks:
                report.watermarks = {self._level: min(marks)}
            report.operator_watermarks = {
                node.id: head.watermarks[node.uid] for node in self._nodes.values()
            }
        return report


def _keyed(node: Node) -> KeyedOperator:
    assert isinstance(node.operator, KeyedOperator)
    return node.operator
