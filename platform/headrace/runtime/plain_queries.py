"""The streaming queries that a program starts itself, as plain PySpark does: the platform watches
them as it watches a job.

Each batch of each query is a checkpoint of the job, numbered through. Suspending, cancelling or
stopping the job stops all queries between two batches; when one fails, the others are stopped and
the job has failed. They go on from their own checkpoint locations at the next attempt.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)
from pyspark.sql.streaming.query import StreamingQuery

from headrace.runtime import causes, plain_progress, plain_session, plain_writer, query_stop
from headrace.runtime.context import RunContext
from headrace.runtime.errors import JobFailed, from_spark
from headrace.runtime.measuring.plain_measures import PlainMeasures
from headrace.runtime.plain_writer import Described
from headrace.wire import events, rundir

log = logging.getLogger(__name__)

POLL_SECONDS = 0.2
#: How long the program has to end once its queries were stopped.
END_SECONDS = 8.0
#: How long news of queries that have ended may take.
NEWS_SECONDS = 10.0
NO_SAVEPOINTS = (
    "the program starts its queries itself, and each has a checkpoint of its own where the program "
    "says; savepoints are of jobs that run through a StreamExecutionEnvironment"
)
NO_CHECKPOINTS = (
    "the program starts its queries itself, by triggers of its own; checkpoints are asked for of "
    "jobs that run through a StreamExecutionEnvironment"
)


class PlainQueries:
    """Those of one program. Callbacks come in threads of Spark's."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._lock = threading.RLock()
        self._numbers = _Numbers(context.checkpoint_dir / "headrace" / "queries.json")
        #: By the id of its run; those that have ended are taken out.
        self._running: dict[str, StreamingQuery] = {}
        self._described: dict[str, Described] = {}
        self._lags: dict[str, plain_progress.Offsets] = {}
        self._read: dict[str, plain_progress.Offsets] = {}
        self._measures = PlainMeasures(context.parallelism)
        #: What the first query that failed says.
        self.failure: JobFailed | None = None
        #: Whether the program has opened a session of its own.
        self.used = False
        self._ended = threading.Event()
        plain_session.give(context, self._opened)
        plain_writer.note(context, self._start)
        threading.Thread(target=self._see_to_end, name="plain queries", daemon=True).start()

    def settle(self) -> None:
        """The program has ended: so do its queries and its session. All they did is reported."""
        self._ended.set()
        if not self._context.jobs:
            self._stop_all()
        until = time.monotonic() + NEWS_SECONDS
        while self._running and time.monotonic() < until:
            time.sleep(0.01)
        with self._lock:
            self._tell(self._measures.last())
        if self.used and SparkContext._active_spark_context is not None:
            SparkContext._active_spark_context.stop()

    # --- starting

    def _opened(self, session: SparkSession) -> None:
        self.used = True
        session.streams.addListener(_Listener(self))

    def _start(self, run: Callable[[], Any], described: Described) -> Any:
        self._context.savepoints.close(NO_SAVEPOINTS, self._context.reporter.report)
        self._context.checkpoints.close(NO_CHECKPOINTS, self._context.reporter.report)
        with self._lock:  # what its first batch tells has to wait until it is known
            handle = run()
            query = StreamingQuery(handle)
            run_id = str(query.runId)
            self._running[run_id] = query
            first = not self._described
            self._described[run_id] = described
            self._report_plan()
            if first:
                self._report_running(query)
        if self._context.stop.asked.is_set() or self.failure is not None:
            query.stop()
        return handle

    def _report_plan(self) -> None:
        queries = self._queries()
        plan = plain_progress.plan(queries, self._context.parallelism)
        self._context.reporter.report(
            events.Planned(
                plan=plan,
                sources=[source for each in queries for source in each.sources],
                sinks=[each.sink for each in queries],
            )
        )

    def _queries(self) -> list[Described]:
        return list({each.name: each for each in self._described.values()}.values())

    def _report_running(self, query: StreamingQuery) -> None:
        application = SparkContext._active_spark_context
        self._context.reporter.report(
            events.Running(
                restored_checkpoint=self._numbers.newest or None,
                application_id="" if application is None else application.applicationId,
            )
        )

    # --- news

    def progressed(self, found: dict[str, Any]) -> None:
        with self._lock:
            if self._context.jobs:
                return
            run_id = found["runId"]
            self._lags[run_id] = plain_progress.lag(found)
            lag = plain_progress.most(self._lags.values())
            if "addBatch" not in found["durationMs"]:
                self._context.reporter.report(events.Progressed(lag=lag))
                self._measures.idle(lag)
                return
            described = self._described.get(run_id) or Described(found["name"] or "query", [], "")
            number = self._numbers.next()
            report = plain_progress.checkpoint(number, found, described.name, lag)
            self._context.reporter.report(report)
            self._read[run_id] = report.offsets
            if run_id in self._described:
                read = plain_progress.lowest(self._read.values())
                self._measures.batch(
                    self._queries(), described.name, found, read, lag, report.watermark
                )
            self._tell(self._measures.due())

    def _tell(self, figures: events.Measured | None) -> None:
        if figures is not None:
            self._context.reporter.report(figures)

    def ended(self, run_id: str, error: str | None) -> None:
        with self._lock:
            self._running.pop(run_id, None)
            self._lags.pop(run_id, None)
            self._read.pop(run_id, None)
            if error is not None and self.failure is None and not self._context.jobs:
                self.failure = from_spark(error)
                log.error("a query has failed: %s", self.failure)

    # --- the end

    def _see_to_end(self) -> None:
        """A program need not know that it is asked to stop, or that a query has failed."""
        stop = self._context.stop
        while not stop.asked.wait(POLL_SECONDS) and self.failure is None:
            if self._ended.is_set():
                return
            with self._lock:
                self._tell(self._measures.due())
        if self._context.jobs or not self.used:
            return
        self._stop_all()
        if not self._ended.wait(END_SECONDS):
            self._leave()

    def _leave(self) -> None:
        """The program goes on though nothing of it runs any more."""
        self._tell(self._measures.last())
        end: events.Event = events.Stopped(self._context.stop.reason)
        if not self._context.stop.asked.is_set() and self.failure is not None:
            message = str(self.failure).splitlines()[0]
            cause = causes.of(self.failure, planned=True)
            end = events.Failed(message, self.failure.traceback, cause.restartable, str(cause))
        self._context.reporter.report(end)
        os._exit(int(isinstance(end, events.Failed)))

    def _stop_all(self) -> None:
        with self._lock:
            running = list(self._running.values())
        if running:
            with ThreadPoolExecutor(len(running)) as pool:
                list(pool.map(_stop, running))


def _stop(query: StreamingQuery) -> None:
    try:
        query_stop.stop(query)
    except Exception as error:  # its session is gone, or it fails this moment
        log.info("a query has not stopped in order: %s", str(error)[:300])


class _Listener(StreamingQueryListener):
    def __init__(self, queries: PlainQueries) -> None:
        self._queries = queries

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        pass  # the one who starts it knows more

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        self._queries.progressed(json.loads(event.progress.json))

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        pass

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        self._queries.ended(str(event.runId), event.exception)


class _Numbers:
    """Of checkpoints, through all queries and attempts: one that was given is not given again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        kept = json.loads(path.read_text()) if path.exists() else {}
        self.newest: int = kept.get("checkpoints", 0)

    def next(self) -> int:
        self.newest += 1
        rundir.write_atomically(self._path, json.dumps({"checkpoints": self.newest}).encode())
        return self.newest
