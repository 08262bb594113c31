"""One run of a compiled job on Spark, from recovery to its end."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from headrace.common.job_execution_result import JobExecutionResult
from headrace.common.job_id import JobID
from headrace.connectors.twophase import keeping
from headrace.connectors.twophase.committer import Committer
from headrace.connectors.twophase.messages import Recovery
from headrace.connectors.twophase.ownership import OwnerStore
from headrace.runtime import context as run_context
from headrace.runtime import (
    data_sources,
    dataframe_rows,
    interrupts,
    job_sink,
    kafka_topics,
    outputs,
    query_stop,
    rescaling,
    spark_plan,
    spark_session,
    state_identity,
)
from headrace.runtime.batch_reporting import BatchReporting
from headrace.runtime.bounded_sources import BoundedSources
from headrace.runtime.context import RunContext
from headrace.runtime.errors import JobFailed, from_spark
from headrace.runtime.kafka_losses import DataLost
from headrace.runtime.kafka_sources import KafkaSources
from headrace.runtime.plan import plan
from headrace.runtime.program import Program
from headrace.runtime.python_sources import ControlFile
from headrace.runtime.socket_ends import SocketEnds
from headrace.runtime.spark_offsets import SparkOffsets
from headrace.runtime.ticks import Ticks
from headrace.wire import events, rundir

POLL_SECONDS = 0.1
#: Spark gives a Python process ten seconds to start, which may be too few on a busy machine.
SLOW_WORKER = "Python worker failed to connect back"
SLOW_STARTS = 5
#: How often a bounded source whose end lies ahead looks for more records.
MORE_SECONDS = 1.0


class JobRun:
    """1. plan, 2. recover the sinks, 3. start the query, 4. watch it, 5. end in order."""

    def __init__(self, program: Program, context: RunContext, interval: int | None) -> None:
        self._program = program
        self._context = context
        self._interval = interval
        self._state_dir = context.checkpoint_dir / "headrace"
        self._control = ControlFile(self._state_dir / "control.json")
        self._offsets = SparkOffsets(self._spark_checkpoint)
        self._sockets = SocketEnds(program, self._state_dir)
        self._bounded = BoundedSources(program, self._offsets)
        self._names = outputs.sink_names(program)
        self._job = OwnerStore(context.checkpoint_dir).job()
        self._outputs = outputs.outputs(program, self._names, self._job)
        self._running = self._borrowed = False
        self._recovered = Recovery()
        #: What `execute_and_collect` asked for.
        self.collected: list[Any] = []

    @property
    def counters(self) -> dict[str, Any]:
        """As of the newest batch."""
        return self._reporting.results if self._running else {}

    def execute(self) -> JobExecutionResult:
        """Returns when the job has ended on purpose. Raises JobFailed, UnknownTopic,
        SinkError."""
        begun = time.monotonic()
        self._report_plan()
        kafka_topics.check_sinks(self._program, ran_before=self._offsets.completed is not None)
        self._prepare_sources()
        begun_batch = self._offsets.planned
        self._program.planned_before = -1 if begun_batch is None else begun_batch
        try:
            spark = self._session()
        except BaseException:
            self._kafka.close()
            raise
        try:
            self._run_on(spark)
            self._committer().finish(self._offsets.completed)
        except BaseException:
            self._clean_up()
            raise
        self._reporting.finish()
        took = int((time.monotonic() - begun) * 1000)
        return JobExecutionResult(JobID(self._context.job_id), took, self._reporting.results)

    def _run_on(self, spark: SparkSession) -> None:
        """No task writes any more when it returns or raises: what is open then is left over."""
        try:
            rescaling.rescale(spark, self._offsets)
            planned = self._plan(spark)
            with keeping.kept(self._committer()), self._interrupts():
                self._run(spark, planned)
        finally:
            self._kafka.close()
            if not self._borrowed:
                spark_session.stop(spark)

    def _interrupts(self) -> AbstractContextManager[None]:
        reason = "canceled" if run_context.launched() is None else "suspended"
        return interrupts.obeyed(self._context.stop, reason)

    def _session(self) -> SparkSession:
        """That of the program's DataFrames, or one of the job's own."""
        found = dataframe_rows.session_of(self._program.sources.values())
        self._borrowed = found is not None
        if found is None:
            return spark_session.start(self._context, self._program.parallelism)
        spark_session.prepare(found)
        return found

    # --- before the query

    def _prepare_sources(self) -> None:
        """Before Spark starts, as that takes seconds. A program that does not fit its checkpoint
        is refused before its sources are moved, and kept only when its sources are there."""
        identity = self._state_dir / "program.json"
        state_identity.compare(self._program, identity)
        self._sockets.forget()
        if rescaling.waits(self._offsets):
            before = state_identity.parallelism(identity)
            self._program.parallelism = before or self._program.parallelism
        self._kafka = KafkaSources(
            self._program, self._state_dir, self._offsets, checkpointing=bool(self._interval)
        )
        state_identity.keep_or_compare(self._program, identity)

    def _report_plan(self) -> None:
        sources = [source.described for source in self._program.sources.values()]
        self._context.reporter.report(
            events.Planned(
                plan=plan(self._program),
                sources=sources,
                sinks=list(self._names.values()),
                checkpoint_interval=self._interval or 0,
            )
        )

    def _plan(self, spark: SparkSession) -> spark_plan.SparkPlan:
        return spark_plan.build(
            spark,
            self._program,
            self._state_dir,
            self._state_dir / "control.json",
            self._context.configuration,
            self._kafka.inputs,
        )

    @property
    def _spark_checkpoint(self) -> Path:
        return self._context.checkpoint_dir / "spark"

    def _committer(self) -> Committer:
        return outputs.committer(self._outputs, self._context.checkpoint_dir)

    def _recover(self) -> Recovery:
        """Finish or abort what an earlier query of this job left behind."""
        self._recovered = self._committer().recover(self._offsets.completed)
        return self._recovered

    def _clean_up(self) -> None:
        """After a failure: the next start may be far away, and open transactions hold up readers
        and locks until then."""
        committer = outputs.committer(
            self._outputs, self._context.checkpoint_dir, self._recovered.resume
        )
        committer.clean_up(self._offsets.completed)

    def _leave_sink_plan(self, planned: spark_plan.SparkPlan, recovery: Recovery) -> None:
        sink_plan = job_sink.SinkPlan(
            planned.packed,
            self._names,
            self._job,
            recovery.resume,
            self._context.checkpoint_dir,
        )
        rundir.write_atomically(self._sink_plan, pickle.dumps(sink_plan, 5))

    @property
    def _sink_plan(self) -> Path:
        return self._context.run_dir / "sinks.pickle"

    # --- the query

    def _run(self, spark: SparkSession, planned: spark_plan.SparkPlan) -> None:
        completed = self._offsets.completed
        self._reporting = BatchReporting(
            self._context, self._program, -1 if completed is None else completed, self._kafka
        )
        self.collected = self._reporting.collected  # grows while the job runs
        self._kafka.watch()
        planned = self._read(spark, planned, self._all_read)
        if self._sockets.ended_last(self._control.told()):
            planned = replace(planned, bounded=True)
        while planned.bounded and not self._kafka.bounded_ended and self._wait_for_more():
            planned = self._read(spark, planned, self._all_read)
        if planned.bounded and not self._context.stop.asked.is_set():
            # all input is read: one more batch tells the operators, so that windows close
            self._control.end()
            self._read(spark, planned, self._end_told)

    def _read(
        self, spark: SparkSession, planned: spark_plan.SparkPlan, enough: Callable[[], bool]
    ) -> spark_plan.SparkPlan:
        """A query to its end, or, if the job is bounded, until it is `enough`. Another one where
        records are lost without which the job is told to go on: it reads what is left. The plan
        of the last one."""
        slow = 0
        while True:
            query, recovery = self._start(spark, planned)
            self._report_running(spark, recovery)
            failure = self._watch(query, enough if planned.bounded else self._no_more)
            if self._context.stop.asked.is_set():
                return planned
            if failure is None and not self._kafka.replaced.is_set():
                return planned
            if failure is not None and SLOW_WORKER in str(failure) and slow < SLOW_STARTS:
                slow += 1
            elif self._moved_on():
                planned = self._plan(spark)
            elif failure is not None:
                raise failure

    def _moved_on(self) -> bool:
        """Past what is lost. Raises DataLost."""
        try:
            return self._kafka.go_on()
        except DataLost:
            raise
        except JobFailed:  # nobody can say what is lost
            return False

    def _all_read(self) -> bool:
        return self._kafka.all_ended

    def _tell_ended(self) -> bool:
        """A split that was read to its end holds event time back no more; the job runs on."""
        told = self._control.told().keys()
        new = {*self._kafka.ended_splits, *self._bounded.ended()} - told
        if new:
            self._control.end_splits(sorted(new))
        elif self._bounded.splits - told:
            self._control.tick()  # the next batch shows whether it finds more
        return False

    def _no_more(self) -> bool:
        """Of an unbounded job: whether it ends all the same, as the servers of its sockets have
        closed the connections."""
        self._tell_ended()
        new = self._sockets.closed() - self._control.told().keys()
        if new:
            self._control.end_splits(sorted(new))
        return self._sockets.ended_last(self._control.told())

    def _end_told(self) -> bool:
        """Whether a batch has carried the end of input; what sources hold beyond is not wanted."""
        _, ended_at = self._control.read()
        told = self._offsets.next_start(self._kafka.count) or {}
        return self._kafka.all_ended and told.get("position", 0) >= (ended_at or 0)

    def _wait_for_more(self) -> bool:
        """False when asked to stop first. Raises JobFailed."""
        while not self._context.stop.asked.wait(MORE_SECONDS):
            # the next query's watch sees to a topic that was deleted or made again
            if self._kafka.replaced.is_set() or self._kafka.has_more():
                return True
        return False

    def _report_running(self, spark: SparkSession, recovery: Recovery) -> None:
        if self._running:
            return
        self._running = True
        completed = self._offsets.completed
        self._context.reporter.report(
            events.Running(
                restored_checkpoint=None if completed is None else completed + 1,
                application_id=spark.sparkContext.applicationId,
                recovered=recovery.counts(),
            )
        )

    def _start(
        self, spark: SparkSession, planned: spark_plan.SparkPlan
    ) -> tuple[StreamingQuery, Recovery]:
        recovery = self._recover()
        self._leave_sink_plan(planned, recovery)
        data_sources.register(spark, job_sink.JobSink)
        writer = (
            planned.frames.writeStream.format(job_sink.JobSink.name())
            .outputMode("append")
            .option("plan", str(self._sink_plan))
            .option("checkpointLocation", str(self._spark_checkpoint))
        )
        if run_context.launched() is not None:  # elsewhere jobs of one name may run at once
            writer = writer.queryName(self._program.name)
        if planned.bounded:
            writer = writer.trigger(availableNow=True)
        elif self._interval:
            writer = writer.trigger(processingTime=f"{self._interval} milliseconds")
        return writer.start(), recovery

    def _watch(self, query: StreamingQuery, enough: Callable[[], bool]) -> JobFailed | None:
        """How the query failed."""
        stop, reporting = self._context.stop, self._reporting
        restored = self._offsets.completed is not None
        ticks = Ticks(self._program, self._control.tick, restored=restored)
        while query.isActive and not stop.asked.wait(POLL_SECONDS):
            new = reporting.take(query)
            ticks.observe(reporting.take_records() > 0, reporting.take_timers())
            if self._kafka.replaced.is_set():
                query.stop()
            elif (new or self._sockets.closed()) and enough():
                query_stop.stop(query)
        if stop.asked.is_set() and query.isActive:
            query_stop.stop(query)
        reporting.take(query)
        failure: StreamingQueryException | None = query.exception()
        return None if failure is None else from_spark(str(failure))
