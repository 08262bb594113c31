"""Tells the platform, and the terminal, what each committed micro-batch did."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from headrace.common.accumulators import Accumulator
from headrace.runtime import frames, job_sink, measures, metrics, progress
from headrace.runtime.context import RunContext
from headrace.runtime.job_sink import BatchReport
from headrace.runtime.kafka_sources import KafkaSources
from headrace.runtime.measuring.job_measures import JobMeasures
from headrace.runtime.program import Program
from headrace.wire import events, rundir

#: Counters of one job.
MOST_NAMES = 300

Accumulators = dict[str, Accumulator[Any, Any]]


class BatchReporting:
    """Joins Spark's progress with the report that the batch's own commit left.

    A report stays beside the checkpoint until its event is in the journal: what an earlier driver
    committed and did not live to tell is told by the next one."""

    def __init__(
        self, context: RunContext, program: Program, completed: int, kafka: KafkaSources
    ) -> None:
        self._context = context
        self._kafka = kafka
        #: What tells the newest progress that was taken from others.
        self._newest: tuple[Any, ...] | None = None
        kept = context.checkpoint_dir / "headrace" / "counters.json"
        self._totals = _Totals(kept, [*metrics.expected_counters(program), *kafka.counters])
        self._reported = completed
        self._measures = JobMeasures(program)
        self._idle_since = ""
        self._timers: list[int] = []
        self._records = 0
        #: Values of a `collect` sink, in the order of their batches.
        self.collected: list[Any] = []
        for report in job_sink.waiting_reports(context.checkpoint_dir):
            if report.batch_id <= completed:
                self._tell(report.batch_id, None, report)

    @property
    def counters(self) -> dict[str, int]:
        """Since the start of the job."""
        return dict(self._totals.values)

    @property
    def reported(self) -> int:
        """The newest batch that was reported, -1 before the first."""
        return self._reported

    @property
    def results(self) -> dict[str, Any]:
        """Counters and accumulators since the start of the job."""
        return self._totals.results()

    def take(self, query: StreamingQuery) -> bool:
        """Report what is new; whether a batch was among it."""
        last = query.lastProgress
        newest = None if last is None else (last["runId"], last["batchId"], last["timestamp"])
        if newest is None or newest == self._newest:
            self._measured(self._measures.due())
            return False  # all the recent ones take long to fetch
        self._newest = newest
        before = self._reported
        reports = {
            report.batch_id: report
            for report in job_sink.waiting_reports(self._context.checkpoint_dir)
        }
        for found in query.recentProgress:
            if "addBatch" not in found["durationMs"]:
                self._report_idle(found)
            elif found["batchId"] > self._reported:
                self._tell(found["batchId"], found, reports.get(found["batchId"]))
        self._measured(self._measures.due())
        return self._reported > before

    def take_timers(self) -> list[int]:
        """When processing-time timers are due, ms: what new batches have told."""
        timers, self._timers = self._timers, []
        return timers

    def take_records(self) -> int:
        """How many were read by new batches."""
        records, self._records = self._records, 0
        return records

    def finish(self) -> None:
        """No batch follows: what was counted since the last one goes into the totals."""
        self._totals.count(self._kafka.take_counts())

    def tell_last(self) -> None:
        """The attempt ends, however it does: figures that were not told yet."""
        self._measured(self._measures.last())

    def _measured(self, figures: events.Measured | None) -> None:
        if figures is not None:
            self._context.reporter.report(figures)

    def _tell(self, batch: int, found: Any, report: BatchReport | None) -> None:
        """1. to the terminal and the journal, 2. into the totals, 3. drop the report: a driver that
        dies in between tells it again, and counts it once."""
        counted = report.metrics.counters if report is not None else {}
        if report is not None:
            self.collected += report.collected
            self._records += report.metrics.records_in
            if report.metrics.next_timer is not None:
                self._timers.append(report.metrics.next_timer)
            for line in report.printed:
                print(line, flush=True)
            for line in report.to_err:
                print(line, file=sys.stderr, flush=True)
        plain = None
        if found is not None:
            plain = _plain(found)
            counted = _sum(counted, self._kafka.take_counts())
            self._kafka.batch_completed(plain)
        totals = self._totals.with_batch(batch, counted)
        told = progress.checkpoint(
            batch, plain, report, totals, self._kafka.ends, self._kafka.committed
        )
        if found is not None:  # else it was of an earlier attempt
            busy = self._measures.batch(told, report, self._totals.accumulators)
            tasks = progress.tasks(plain or {}, self._measures.shape, busy)
            told = replace(told, tasks=tasks)
        self._context.reporter.report(told)
        self._totals.add(batch, counted, report.metrics.accumulators if report else {})
        job_sink.drop_report(self._context.checkpoint_dir, batch)
        self._reported = max(self._reported, batch)

    def _report_idle(self, found: Any) -> None:
        if found["timestamp"] > self._idle_since:
            self._idle_since = found["timestamp"]
            lag = progress.lag(_plain(found), self._kafka.ends)
            self._context.reporter.report(events.Progressed(lag=lag))
            self._measures.idle(lag)


class _Totals:
    """Counters since the start of the job, and the batch they go up to."""

    def __init__(self, path: Path, expected: Iterable[str]) -> None:
        """`expected` are shown as 0 until they are counted."""
        self._path = path
        kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        self._batch: int = kept.get("batch", -1)
        self.values: dict[str, int] = dict.fromkeys(expected, 0) | kept.get("values", {})
        self._accumulators: Accumulators = {
            name: frames.loads(base64.b64decode(pickled))
            for name, pickled in kept.get("accumulators", {}).items()
        }

    @property
    def accumulators(self) -> Accumulators:
        return self._accumulators

    def results(self) -> dict[str, Any]:
        return metrics.results(self.values, self._accumulators)

    def with_batch(self, batch: int, counted: dict[str, int]) -> dict[str, int]:
        if batch <= self._batch:
            return dict(self.values)
        return _bounded(self.values, counted)

    def add(self, batch: int, counted: dict[str, int], accumulated: Accumulators) -> None:
        if batch > self._batch and (counted or accumulated):
            self._batch = batch
            for name, accumulator in accumulated.items():
                metrics.merge_accumulator(self._accumulators, name, accumulator)
            self.count(counted, keep=bool(accumulated))

    def count(self, counted: dict[str, int], keep: bool = False) -> None:
        if counted or keep:
            self.values = _bounded(self.values, counted)
            rundir.write_atomically(self._path, json.dumps(self._content()).encode())

    def _content(self) -> dict[str, Any]:
        pickled = {
            name: base64.b64encode(frames.dumps(accumulator)).decode()
            for name, accumulator in self._accumulators.items()
        }
        return {"batch": self._batch, "values": self.values, "accumulators": pickled}


def _sum(values: dict[str, int], more: dict[str, int]) -> dict[str, int]:
    return {name: values.get(name, 0) + more.get(name, 0) for name in values | more}


def _bounded(values: dict[str, int], more: dict[str, int]) -> dict[str, int]:
    """As `_sum`; a name too many is left out, and that is counted. Each checkpoint tells all."""
    room = max(0, MOST_NAMES - len(values))
    new = [name for name in more if name not in values and name != measures.LEFT_OUT]
    left_out = set(new[room:])
    if not left_out:
        return _sum(values, more)
    kept = {name: n for name, n in more.items() if name not in left_out}
    return _sum(values, _sum(kept, {measures.LEFT_OUT: len(left_out)}))


def _plain(found: Any) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(found.json)
    return values
