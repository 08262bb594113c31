"""One run of a compiled job on Spark, from recovery to its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from headrace.common import restart_strategy
from headrace.common.job_execution_result import JobExecutionResult
from headrace.common.job_id import JobID
from headrace.connectors.twophase import keeping
from headrace.connectors.twophase.messages import Recovery
from headrace.datastream import checkpoint_config
from headrace.runtime import (
    chains,
    data_sources,
    dataframe_rows,
    heartbeat,
    interrupts,
    job_sink,
    kafka_topics,
    python_sources,
    query_stop,
    rescaling,
    spark_plan,
    spark_session,
    state_identity,
)
from headrace.runtime import context as run_context
from headrace.runtime.batch_reporting import BatchReporting
from headrace.runtime.bounded_sources import BoundedSources
from headrace.runtime.checkpoint_timeout import CheckpointTimeout
from headrace.runtime.context import RunContext
from headrace.runtime.errors import JobFailed, from_spark
from headrace.runtime.input_ends import InputEnds
from headrace.runtime.kafka_losses import DataLost
from headrace.runtime.kafka_sources import KafkaSources
from headrace.runtime.plan import plan
from headrace.runtime.program import Program
from headrace.runtime.python_sources import ControlFile
from headrace.runtime.run_checkpoints import RunCheckpoints
from headrace.runtime.run_savepoints import RunSavepoints
from headrace.runtime.run_sinks import RunSinks
from headrace.runtime.socket_ends import SocketEnds
from headrace.runtime.spark_offsets import SparkOffsets
from headrace.runtime.ticks import Ticks
from headrace.wire import checkpointing, events

POLL_SECONDS = 0.1
#: Spark gives a Python process ten seconds to start, which may be too few on a busy machine.
SLOW_WORKER = "Python worker failed to connect back"
SLOW_STARTS = 5


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
        self._sinks = RunSinks(program, context, self._offsets)
        self._savepoints = RunSavepoints(context, self._offsets, self._control, self._sinks.roots)
        self._checkpoints = RunCheckpoints(context, self._offsets, self._control)
        self._timeout = CheckpointTimeout(context, self._offsets)
        self._running = self._borrowed = False
        #: What `execute_and_collect` asked for.
        self.collected: list[Any] = []

    @property
    def counters(self) -> dict[str, Any]:
        """As of the newest batch."""
        return self._reporting.results if self._running else {}

    def execute(self) -> JobExecutionResult:
        """Returns when the job has ended on purpose. Raises JobFailed, UnknownTopic,
        SinkError, and ValueError for settings of checkpoints that cannot be used."""
        begun = time.monotonic()
        checkpointing.check(self._context.configuration)
        self._report_plan()
        self._check_slots()
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
            self._sinks.finish()
        except BaseException:
            self._sinks.clean_up()
            raise
        self._reporting.finish()
        took = int((time.monotonic() - begun) * 1000)
        return JobExecutionResult(JobID(self._context.job_id), took, self._reporting.results)

    def _run_on(self, spark: SparkSession) -> None:
        """No task writes any more when it returns or raises: what is open then is left over."""
        try:
            rescaling.rescale(spark, self._offsets)
            planned = self._plan(spark)
            with keeping.kept(self._sinks.committer()), self._interrupts():
                self._run(spark, planned)
        except BaseException:
            self._savepoints.give_up("the job failed before")
            raise
        finally:
            self._savepoints.close()
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
        restore = self._context.restore
        may_lose = restore is not None and restore.allow_non_restored_state
        state_identity.compare(self._program, identity, may_lose=may_lose)
        self._sockets.forget()
        if rescaling.waits(self._offsets):
            before = state_identity.parallelism(identity)
            self._program.parallelism = before or self._program.parallelism
        self._kafka = KafkaSources(
            self._program, self._state_dir, self._offsets, checkpointing=bool(self._interval)
        )
        state_identity.keep_or_compare(self._program, identity, may_lose=may_lose)

    def _report_plan(self) -> None:
        sources = [source.described for source in self._program.sources.values()]
        self._context.reporter.report(
            events.Planned(
                plan=plan(self._program),
                sources=sources,
                sinks=self._sinks.described,
                checkpoint_interval=self._interval or 0,
                slots=chains.slots(self._program),
                restart_strategy=restart_strategy.said(self._context.configuration),
                checkpoint_settings=checkpoint_config.said(self._context.configuration),
            )
        )

    def _check_slots(self) -> None:
        """Nothing has been started yet. A job whose slot sharing groups need more slots than it
        was given ends, and is started again with as many."""
        needed, given = sum(chains.slots(self._program).values()), self._context.slots
        if run_context.launched() is not None and needed > given:
            self._context.stop.ask("suspended")
            raise JobFailed(f"its slot sharing groups need {needed} slots, it was given {given}")

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

    # --- the query

    def _run(self, spark: SparkSession, planned: spark_plan.SparkPlan) -> None:
        completed = self._offsets.completed
        self._reporting = BatchReporting(
            self._context, self._program, -1 if completed is None else completed, self._kafka
        )
        self.collected = self._reporting.collected  # grows while the job runs
        try:
            self._read_all(spark, planned)
        finally:
            self._reporting.tell_last()

    def _read_all(self, spark: SparkSession, planned: spark_plan.SparkPlan) -> None:
        """The query, or one after the other, until the job ends."""
        self._kafka.watch()
        self._ends = ends = self._input_ends()
        planned = self._read(spark, planned, ends.all_read)
        if ends.last_was_told():
            planned = replace(planned, bounded=True)
        due = partial(self._savepoints.due, self._reporting, None)
        while planned.bounded and not self._kafka.bounded_ended and ends.wait_for_more(due):
            planned = self._read(spark, planned, ends.all_read)
        if planned.bounded and not self._context.stop.asked.is_set():
            # all input is read: one more batch tells the operators, so that windows close
            self._control.end()
            self._read(spark, planned, ends.end_told)

    def _input_ends(self) -> InputEnds:
        return InputEnds(
            self._control,
            self._offsets,
            self._kafka,
            self._bounded,
            self._sockets,
            self._context.stop,
        )

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
            failure = self._watch(query, enough if planned.bounded else self._ends.all_closed)
            run_planned = partial(self._run_planned, spark, planned)
            if failure is None and self._savepoints.end_query(self._kafka.count, run_planned):
                continue
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

    @property
    def _stopping(self) -> Path:
        return self._state_dir / python_sources.STOPPING

    def _stop(self, query: StreamingQuery) -> None:
        self._stopping.touch()
        query_stop.stop(query)

    def _run_planned(self, spark: SparkSession, planned: spark_plan.SparkPlan) -> None:
        """The one batch that is planned and has not run. Raises JobFailed."""
        query, _ = self._start(spark, planned, once=True)
        while query.isActive and not self._context.stop.asked.wait(POLL_SECONDS):
            self._reporting.take(query)
        if query.isActive:
            self._stop(query)
        self._reporting.take(query)
        failure = query.exception()
        if failure is not None:
            raise from_spark(str(failure))

    def _start(
        self, spark: SparkSession, planned: spark_plan.SparkPlan, *, once: bool = False
    ) -> tuple[StreamingQuery, Recovery]:
        recovery = self._sinks.recover()
        sink_plan = self._sinks.leave_plan(planned.packed, recovery)
        self._stopping.unlink(missing_ok=True)
        data_sources.register(spark, job_sink.JobSink)
        writer = (
            planned.frames.writeStream.format(job_sink.JobSink.name())
            .outputMode("append")
            .option("plan", str(sink_plan))
            .option("checkpointLocation", str(self._spark_checkpoint))
        )
        if run_context.launched() is not None:  # elsewhere jobs of one name may run at once
            writer = writer.queryName(self._program.name)
        if once:
            writer = writer.trigger(once=True)
        elif planned.bounded:
            writer = writer.trigger(availableNow=True)
        elif self._interval:
            writer = writer.trigger(processingTime=f"{self._interval} milliseconds")
        return writer.start(), recovery

    def _watch(self, query: StreamingQuery, enough: Callable[[], bool]) -> JobFailed | None:
        """How the query failed. Raises SecondDriver."""
        with heartbeat.watched() as going_round:
            return self._watched(query, enough, going_round)

    def _watched(
        self, query: StreamingQuery, enough: Callable[[], bool], going_round: Callable[[], None]
    ) -> JobFailed | None:
        stop, reporting = self._context.stop, self._reporting
        takeover = self._sinks.takeover()
        restored = self._offsets.completed is not None
        ticks = Ticks(self._program, self._control.tick, restored=restored)
        while query.isActive and not stop.asked.wait(POLL_SECONDS):
            going_round()
            takeover.check()
            self._timeout.check()
            self._checkpoints.check(self._kafka.count)
            new = reporting.take(query)
            ticks.observe(reporting.take_records() > 0, reporting.take_timers())
            if new:
                self._savepoints.batch_completed()
            if self._kafka.replaced.is_set():
                self._stopping.touch()
                query.stop()
            elif self._savepoints.due(reporting, query) or (
                (new or self._sockets.closed()) and enough()
            ):
                self._stop(query)
        if stop.asked.is_set() and query.isActive:
            self._stop(query)
        reporting.take(query)
        failure: StreamingQueryException | None = query.exception()
        if failure is None:
            return None
        # two drivers get in each other's way: that is then the reason
        self._sinks.takeover().check()
        return from_spark(str(failure))
