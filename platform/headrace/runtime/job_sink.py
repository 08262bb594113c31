"""The one streaming writer of a job: hands frames to their sinks, all in one commit.

On executors `write` sends each sink's records through its writer and prepares them; on the
driver's side `commit` makes the whole batch visible, then leaves its report for the driver.
"""

from __future__ import annotations

import logging
import pickle
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamArrowWriter, WriterCommitMessage

from headrace.connectors.twophase import steps
from headrace.connectors.twophase.committer import Committer
from headrace.connectors.twophase.messages import Prepared, Resume, TaskIdentity
from headrace.connectors.twophase.participant import Message, SinkWriter
from headrace.runtime import frames, function_writers, outputs
from headrace.runtime.frames import Record
from headrace.runtime.function_writers import FunctionWriters
from headrace.runtime.measuring.counts import BYTES_IN, PREPARED_AT, SEND_TIME, Counts
from headrace.runtime.metrics import BatchMetrics
from headrace.runtime.outputs import Output
from headrace.runtime.program import PackedProgram
from headrace.runtime.sinks import CollectSink, FunctionSink, PrintSink, printed
from headrace.wire import rundir

log = logging.getLogger(__name__)

REPORTS = "headrace/reports"


@dataclass(frozen=True)
class SinkPlan:
    """What tasks and commits need; pickled beside the run for the driver-side processes."""

    program: PackedProgram
    #: The sink node's number -> its name.
    names: dict[int, str]
    #: The checkpoint's own name.
    job: str
    resume: Resume
    checkpoint_dir: Path
    #: What prefixes of transactions end with.
    suffix: str = ""

    def outputs(self) -> dict[int, Output]:
        return outputs.outputs(self.program.unpack(), self.names, self.job, self.suffix)

    def committer(self) -> Committer:
        return outputs.committer(self.outputs(), self.checkpoint_dir, self.resume)


@dataclass
class BatchReport:
    """What a committed batch did; one pickle file per batch beside the checkpoint, until the
    driver, or the next one, has reported it."""

    batch_id: int
    #: The batch's own time and when all of it was visible, ms since 1970.
    time: int
    visible_at: int
    transactions: int = 0
    records_out: dict[str, int] = field(default_factory=dict)
    printed: list[str] = field(default_factory=list)
    #: As `printed`, to the standard error.
    to_err: list[str] = field(default_factory=list)
    collected: list[Any] = field(default_factory=list)
    metrics: BatchMetrics = field(default_factory=BatchMetrics)


@dataclass
class TaskMessage(WriterCommitMessage):
    """What a task tells the commit."""

    prepared: list[Message] = field(default_factory=list)
    records: dict[int, int] = field(default_factory=dict)
    printed: list[str] = field(default_factory=list)
    to_err: list[str] = field(default_factory=list)
    collected: list[Any] = field(default_factory=list)
    metrics: list[dict[str, Any]] = field(default_factory=list)
    time: int = 0


class JobSink(DataSource):
    """Option `plan`: path of the pickled SinkPlan."""

    @classmethod
    def name(cls) -> str:
        return "headrace-job"

    def streamWriter(self, schema: Any, overwrite: bool) -> DataSourceStreamArrowWriter:
        """Called for every batch: its tasks learn here which transactions are over."""
        plan: SinkPlan = pickle.loads(Path(self.options["plan"]).read_bytes())
        resume = replace(plan.resume, ended=plan.committer().ended())
        return JobWriter(replace(plan, resume=resume))


class JobWriter(DataSourceStreamArrowWriter):
    """Spark pickles a new instance for every task and every commit: it holds no state."""

    def __init__(self, plan: SinkPlan) -> None:
        self._plan = plan

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        partition = PartitionWriter(self._plan, TaskIdentity.current())
        try:
            for batch in iterator:
                partition.take(batch)
            return partition.prepare()
        except BaseException:
            partition.abort()
            raise

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        received = [m for m in messages if isinstance(m, TaskMessage)]
        prepared = [each for message in received for each in message.prepared]
        self._plan.committer().commit(batchId, prepared)
        _leave_report(self._plan, batchId, received, int(time.time() * 1000))
        steps.reached(steps.Step.REPORTED)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        prepared = [e for m in messages if isinstance(m, TaskMessage) for e in m.prepared]
        self._plan.committer().abort(batchId, prepared)


class PartitionWriter:
    """All sinks of one task."""

    def __init__(self, plan: SinkPlan, task: TaskIdentity) -> None:
        self._program = plan.program.unpack()
        self._names = plan.names
        # opened for each task, not with the first record: recovery may expect records of it
        self._writers: dict[int, SinkWriter] = {
            number: output.open_writer(task, plan.resume)
            for number, output in plan.outputs().items()
        }
        self._functions = FunctionWriters(function_writers.of_worker(self._program))
        self._message = TaskMessage()
        subtask = task.partition % self._program.subtasks
        self._counts = Counts(self._program.levels, subtask)
        self._counts.begin()

    def take(self, batch: pa.RecordBatch) -> None:
        groups = batch.column("kg").to_pylist()
        ops = batch.column("op").to_pylist()
        times = batch.column("time").to_pylist()
        self._counts.go_on()  # what came before is the time of who made these
        columns = zip(groups, ops, times, batch.column("frame"), strict=True)
        for kg, op, time_, frame in columns:
            self._message.time = max(self._message.time, time_)
            if op == frames.REPORT:
                self._message.metrics.append(frames.loads(frame.as_py()))
            else:
                body = frame.as_py()
                records = list(frames.unpack(body))
                self._counts.enter(op, len(records))
                self._counts.of(op)[BYTES_IN] += len(body)
                self._to_sink(op, kg, time_, records)
                self._counts.leave()
        self._counts.pause()

    def prepare(self) -> TaskMessage:
        self._counts.go_on()
        self._functions.finish()
        answers = [self._prepare(op, writer) for op, writer in self._writers.items()]
        self._message.prepared = [answer for answer in answers if answer is not None]
        report = BatchMetrics()
        part = self._counts.take({}, {}, self._functions.measures.take(report))
        if part is not None:
            report.add_part(part)
        if part is not None or report.counters:
            self._message.metrics.append(report.to_dict())
        return self._message

    def _prepare(self, op: int, writer: SinkWriter) -> Message | None:
        begun = time.perf_counter()
        self._counts.enter(op)
        answer = writer.prepare()
        self._counts.leave()
        if answer is not None:
            self._counts.value(op, SEND_TIME, (time.perf_counter() - begun) * 1000)
            self._counts.value(op, PREPARED_AT, int(time.time() * 1000))
        return answer

    def abort(self) -> None:
        """Of every sink, whatever one of them says. Never raises: why the task failed matters."""
        for number, writer in self._writers.items():
            try:
                writer.abort()
            except Exception as error:
                log.warning("sink %s is aborted by the driver: %s", self._names[number], error)

    def _to_sink(self, op: int, kg: int, time_: int, records: list[Record]) -> None:
        counts = self._message.records
        counts[op] = counts.get(op, 0) + len(records)
        sink = self._program.sinks[op]
        if op in self._writers:
            self._writers[op].write([(timestamp, value) for timestamp, _, value in records])
        elif isinstance(sink, PrintSink):
            lines = printed(self._program, op, kg, records)
            (self._message.to_err if sink.to_err else self._message.printed).extend(lines)
        elif isinstance(sink, FunctionSink):
            self._functions.write(op, records, time_)
        elif isinstance(sink, CollectSink):
            self._message.collected.extend(sink.value(value) for _, _, value in records)
        else:
            raise TypeError(f"no way to write to a {type(sink).__name__}")


def waiting_reports(checkpoint_dir: Path) -> Iterator[BatchReport]:
    """Reports that were not dropped yet, oldest first."""
    for path in sorted((checkpoint_dir / REPORTS).glob("*.pickle")):
        report: BatchReport = pickle.loads(path.read_bytes())
        yield report


def drop_report(checkpoint_dir: Path, batch_id: int) -> None:
    _report_path(checkpoint_dir, batch_id).unlink(missing_ok=True)


def _report_path(checkpoint_dir: Path, batch_id: int) -> Path:
    return checkpoint_dir / REPORTS / f"{batch_id:012d}.pickle"


def _leave_report(
    plan: SinkPlan, batch_id: int, messages: list[TaskMessage], visible_at: int
) -> None:
    report = BatchReport(
        batch_id,
        time=max((m.time for m in messages if m.time), default=visible_at),
        visible_at=visible_at,
        transactions=sum(isinstance(p, Prepared) for m in messages for p in m.prepared),
    )
    for message in messages:
        for op, count in message.records.items():
            name = plan.names[op]
            report.records_out[name] = report.records_out.get(name, 0) + count
        report.printed += message.printed
        report.to_err += message.to_err
        report.collected += message.collected
        for part in message.metrics:
            report.metrics.merge(part)
    rundir.write_atomically(_report_path(plan.checkpoint_dir, batch_id), pickle.dumps(report, 5))
