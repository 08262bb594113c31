"""The sinks of a job in one process."""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import Any

from headrace.connectors.twophase.messages import TaskIdentity
from headrace.connectors.twophase.ownership import OwnerStore
from headrace.runtime import frames, outputs
from headrace.runtime.context import RunContext
from headrace.runtime.frames import Frame, Record
from headrace.runtime.function_writers import FunctionWriters, OpenFunctions
from headrace.runtime.local_run import LocalRun
from headrace.runtime.metrics import BatchMetrics
from headrace.runtime.program import Program
from headrace.runtime.sinks import CollectSink, FunctionSink, PrintSink, printed


class LocalSinks:
    """Takes micro-batches one by one; what other systems get is committed as on Spark."""

    def __init__(self, program: Program, context: RunContext, collected: list[Any]) -> None:
        self._collected = collected
        job = OwnerStore(context.checkpoint_dir).job()
        self._outputs = outputs.outputs(program, outputs.sink_names(program), job)
        self._committer = outputs.committer(self._outputs, context.checkpoint_dir)
        self._attempt = 0
        self._functions: OpenFunctions | None = None

    def recover(self) -> None:
        """Before the first batch, and after one that failed."""
        if self._outputs:
            self._committer.recover()

    def write(self, run: LocalRun, batch_id: int, sent: list[Frame]) -> None:
        """1. prepare what is transactional, 2. call functions, 3. commit, 4. print and collect."""
        program = run.program
        prepared = self._prepare(batch_id, sent)
        self._call(run, [f for f in sent if isinstance(program.sinks[f.op], FunctionSink)])
        if self._outputs:
            self._committer.commit(batch_id, prepared)
        for frame in sent:
            self._show(program, frame, list(frames.unpack(frame.frame)))

    def _call(self, run: LocalRun, sent: list[Frame]) -> None:
        if self._functions is None or self._functions.program is not run.program:
            self.close()
            self._functions = OpenFunctions(run.program)  # a restart opens them anew
        writers = FunctionWriters(self._functions)
        for frame in sent:
            writers.write(frame.op, list(frames.unpack(frame.frame)), frame.time)
        writers.finish()
        report = BatchMetrics()
        writers.measures.take(report)
        run.metrics.merge(report.to_dict())

    def close(self) -> None:
        """Close the functions."""
        if self._functions is not None:
            self._functions.close()

    def release(self) -> None:
        self._committer.release()

    def _prepare(self, batch_id: int, sent: list[Frame]) -> list[Any]:
        self._attempt += 1
        task = TaskIdentity(batch_id, 0, self._attempt)
        records: defaultdict[int, list[Any]] = defaultdict(list)
        for frame in sent:
            if frame.op in self._outputs:
                records[frame.op] += [(ts, value) for ts, _, value in frames.unpack(frame.frame)]
        answers = []
        for op, output in self._outputs.items():
            writer = output.open_writer(task, self._committer.resume)
            try:
                writer.write(records[op])
                answers.append(writer.prepare())
            except BaseException:
                writer.abort()
                raise
        return [answer for answer in answers if answer is not None]

    def _show(self, program: Program, frame: Frame, records: list[Record]) -> None:
        sink = program.sinks[frame.op]
        if isinstance(sink, PrintSink):
            to = sys.stderr if sink.to_err else sys.stdout
            for line in printed(program, frame.op, frame.kg, records):
                print(line, file=to, flush=True)
        elif isinstance(sink, CollectSink):
            self._collected += [sink.value(value) for _, _, value in records]
