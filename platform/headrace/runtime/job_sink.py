"""The one streaming writer of a job: hands frames to their sinks, all in one commit.

On executors `write` sends each sink's records through its writer and prepares them; on the
driver's side `commit` makes the whole batch visible, then leaves its report for the driver.
"""

from __future__ import annotations

import pickle
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamArrowWriter, WriterCommitMessage

from headrace.connectors.kafka import steps
from headrace.connectors.kafka.committer import Committer
from headrace.connectors.kafka.messages import Resume, TaskIdentity
from headrace.connectors.kafka.settings import SinkSettings
from headrace.connectors.kafka.writer import Prepared, SinkWriter, open_writer
from headrace.datastream.connectors.kafka import KafkaSink
from headrace.runtime import frames
from headrace.runtime.frames import Record
from headrace.runtime.metrics import BatchMetrics
from headrace.runtime.operators.operator import OperatorError
from headrace.runtime.program import PackedProgram, Program
from headrace.runtime.sinks import CollectSink, PrintSink
from headrace.wire import rundir

REPORTS = "headrace/reports"
#: Records handed to a Kafka writer at a time.
CHUNK = 10_000


@dataclass(frozen=True)
class SinkPlan:
    """What tasks and commits need; pickled beside the run for the driver-side processes."""

    program: PackedProgram
    #: The sink node's number -> its Kafka settings.
    kafka: dict[int, SinkSettings]
    #: The sink node's number -> its name in reports.
    names: dict[int, str]
    resume: Resume
    checkpoint_dir: Path


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
    collected: list[Any] = field(default_factory=list)
    metrics: BatchMetrics = field(default_factory=BatchMetrics)


@dataclass
class TaskMessage(WriterCommitMessage):
    """What a task tells the commit."""

    prepared: list[Prepared] = field(default_factory=list)
    records: dict[int, int] = field(default_factory=dict)
    printed: list[str] = field(default_factory=list)
    collected: list[Any] = field(default_factory=list)
    metrics: list[dict[str, Any]] = field(default_factory=list)
    time: int = 0


class JobSink(DataSource):
    """Option `plan`: path of the pickled SinkPlan."""

    @classmethod
    def name(cls) -> str:
        return "headrace-job"

    def streamWriter(self, schema: Any, overwrite: bool) -> DataSourceStreamArrowWriter:
        return JobWriter(pickle.loads(Path(self.options["plan"]).read_bytes()))


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
        plan = self._plan
        committer = Committer(plan.kafka.values(), plan.checkpoint_dir, plan.resume)
        committer.commit(batchId, prepared)
        _leave_report(plan, batchId, received, int(time.time() * 1000))
        steps.reached(steps.Step.REPORTED)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        prepared = [e for m in messages if isinstance(m, TaskMessage) for e in m.prepared]
        plan = self._plan
        Committer(plan.kafka.values(), plan.checkpoint_dir, plan.resume).abort(batchId, prepared)


class PartitionWriter:
    """All sinks of one task."""

    def __init__(self, plan: SinkPlan, task: TaskIdentity) -> None:
        self._plan = plan
        self._program = plan.program.unpack()
        # opened for each task, not with the first record: recovery may expect records of it
        self._kafka: dict[int, SinkWriter] = {
            number: open_writer(settings, task, plan.resume)
            for number, settings in plan.kafka.items()
        }
        self._message = TaskMessage()

    def take(self, batch: pa.RecordBatch) -> None:
        ops = batch.column("op").to_pylist()
        times = batch.column("time").to_pylist()
        for op, time_, frame in zip(ops, times, batch.column("frame"), strict=True):
            self._message.time = max(self._message.time, time_)
            if op == frames.REPORT:
                self._message.metrics.append(frames.loads(frame.as_py()))
            else:
                self._to_sink(op, frames.loads(frame.as_py()))

    def prepare(self) -> TaskMessage:
        answers = [writer.prepare() for writer in self._kafka.values()]
        self._message.prepared = [answer for answer in answers if answer is not None]
        return self._message

    def abort(self) -> None:
        for writer in self._kafka.values():
            writer.abort()

    def _to_sink(self, op: int, records: list[Record]) -> None:
        counts = self._message.records
        counts[op] = counts.get(op, 0) + len(records)
        sink = self._program.sinks[op]
        if isinstance(sink, KafkaSink):
            name = self._program.nodes[op].name
            self._to_kafka(name, self._kafka[op], sink.serializer.record, records)
        elif isinstance(sink, PrintSink):
            self._message.printed.extend(sink.line(value) for _, _, value in records)
        elif isinstance(sink, CollectSink):
            self._message.collected.extend(value for _, _, value in records)
        else:
            raise TypeError(f"no way to write to a {type(sink).__name__}")

    def _to_kafka(
        self,
        name: str,
        writer: SinkWriter,
        record: Callable[[int | None, Any], dict[str, Any]],
        records: list[Record],
    ) -> None:
        for start in range(0, len(records), CHUNK):
            writer.write(_serialized(name, record, records[start : start + CHUNK]))


def _serialized(
    name: str, record: Callable[[int | None, Any], dict[str, Any]], records: list[Record]
) -> list[dict[str, Any]]:
    value = None
    serialized = []
    try:
        for timestamp, _, value in records:
            serialized.append(record(timestamp, value))
    except Exception as error:
        raise OperatorError(name, value, traceback.format_exc()) from error
    return serialized


def kafka_settings(program: Program, names: dict[int, str]) -> dict[int, SinkSettings]:
    """The Kafka sinks of a program. Raises InvalidSettings."""
    return {
        number: SinkSettings(
            name=names[number],
            bootstrap_servers=sink.bootstrap_servers,
            topic=sink.fixed_topic,
            guarantee=sink.guarantee,
            transactional_id_prefix=sink.transactional_id_prefix,
            transaction_timeout_ms=sink.transaction_timeout_ms,
            options=sink.properties,
        )
        for number, sink in program.sinks.items()
        if isinstance(sink, KafkaSink)
    }


def sink_names(program: Program) -> dict[int, str]:
    """A name for each sink: its topic or kind, numbered where two would share it."""
    names: dict[int, str] = {}
    for number, sink in program.sinks.items():
        name = (getattr(sink, "fixed_topic", None) or sink.described).replace(":", "-")
        name = name.replace("*", "any")
        names[number] = name if name not in names.values() else f"{name}-{number}"
    return names


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
        transactions=sum(hasattr(p, "transactional_id") for m in messages for p in m.prepared),
    )
    for message in messages:
        for op, count in message.records.items():
            name = plan.names[op]
            report.records_out[name] = report.records_out.get(name, 0) + count
        report.printed += message.printed
        report.collected += message.collected
        for part in message.metrics:
            report.metrics.merge(part)
    rundir.write_atomically(_report_path(plan.checkpoint_dir, batch_id), pickle.dumps(report, 5))
