"""Tells the platform, and the terminal, what each committed micro-batch did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from headrace.runtime import job_sink, progress
from headrace.runtime.context import RunContext
from headrace.wire import events, rundir


class BatchReporting:
    """Joins Spark's progress with the report that the batch's own commit left."""

    def __init__(self, context: RunContext, counters: Counters, completed: int) -> None:
        self._context = context
        self._counters = counters
        self._reported = completed
        self._idle_since = ""
        self._reports: dict[int, job_sink.BatchReport] = {}
        #: Values of a `collect` sink, in the order of their batches.
        self.collected: list[Any] = []

    def take(self, query: StreamingQuery) -> bool:
        """Report what is new; whether a batch was among it."""
        for report in job_sink.take_reports(self._context.run_dir):
            self._reports[report.batch_id] = report
        before = self._reported
        for found in query.recentProgress:
            if "addBatch" not in found["durationMs"]:
                self._report_idle(found)
            elif found["batchId"] > self._reported:
                self._report_batch(found)
        return self._reported > before

    def _report_batch(self, found: Any) -> None:
        report = self._reports.pop(found["batchId"], None)
        if report is not None:
            self._counters.add(report.metrics.counters)
            self.collected += report.collected
            for line in report.printed:
                print(line, flush=True)
        values = dict(self._counters.values)
        self._context.reporter.report(progress.checkpoint(_plain(found), report, values))
        self._reported = found["batchId"]

    def _report_idle(self, found: Any) -> None:
        if found["timestamp"] > self._idle_since:
            self._idle_since = found["timestamp"]
            self._context.reporter.report(events.Progressed(lag=progress.lag(_plain(found))))


class Counters:
    """Counters since the start of the job, kept beside the checkpoint."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.values: dict[str, int] = json.loads(path.read_text()) if path.exists() else {}

    def add(self, counted: dict[str, int]) -> None:
        for name, n in counted.items():
            self.values[name] = self.values.get(name, 0) + n
        if counted:
            rundir.write_atomically(self._path, json.dumps(self.values).encode())


def _plain(found: Any) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(found.json)
    return values
