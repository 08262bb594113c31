"""A job that runs beside its program: what `execute_async` and `execute_and_collect` start."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from headrace.common.completable_future import CompletableFuture
from headrace.common.job_execution_result import JobExecutionResult
from headrace.common.job_id import JobID
from headrace.common.job_status import JobStatus
from headrace.runtime import context as run_context
from headrace.runtime import interrupts
from headrace.runtime.context import StopRequest
from headrace.runtime.errors import JobFailed
from headrace.runtime.executors import Execution

#: How often an iterator looks for values.
POLL_SECONDS = 0.02

#: Starts the job and calls back with the run before it begins.
Runner = Callable[[Callable[[Execution, StopRequest, str], None]], JobExecutionResult]


class BackgroundJob:
    """Runs in a thread; speaks to a JobClient. `lasting`: it goes on when its program has ended,
    unless an error ended it."""

    def __init__(self, run: Runner, *, lasting: bool) -> None:
        self.lasting = lasting
        self._run = run
        self._begun = threading.Event()
        self._ended = threading.Event()  # an interrupted join() takes the thread for stopped
        self._execution: Execution | None = None
        self._stop: StopRequest | None = None
        self._job_id = ""
        self._result: Future[JobExecutionResult] = Future()
        self._cancelled = False
        threading.Thread(target=self._work, name="job").start()
        if not _jobs:
            threading._register_atexit(_end_jobs)  # type: ignore[attr-defined]
            interrupts.kept_from_the_end(_cancel_jobs)
        _jobs.append(self)
        self._begun.wait()

    @property
    def job_id(self) -> JobID:
        return JobID(self._job_id)

    @property
    def status(self) -> JobStatus:
        if not self._result.done():
            return JobStatus.CANCELLING if self._cancelled else JobStatus.RUNNING
        if self._was_cancelled():
            return JobStatus.CANCELED
        return JobStatus.FAILED if self._result.exception() else JobStatus.FINISHED

    def cancel(self) -> None:
        """Takes effect between two micro-batches."""
        if self._stop is not None and not self._result.done():
            self._cancelled = True
            self._stop.ask("canceled")

    def result(self) -> CompletableFuture[JobExecutionResult]:
        return CompletableFuture(self._result)

    def counters(self) -> dict[str, Any]:
        return self._execution.counters if self._execution is not None else {}

    def wait(self) -> None:
        """Until the job has ended, however it did."""
        self._ended.wait()

    def values(self) -> Iterator[Any]:
        """What it collected, until it has ended. Raises what it failed with."""
        at = 0
        while True:
            ended = self._result.done()
            collected = self._execution.collected if self._execution is not None else []
            while at < len(collected):
                yield collected[at]
                at += 1
            if ended and at >= len(collected):
                break
            if not ended:
                self._ended.wait(POLL_SECONDS)
        if not self._cancelled:
            self._result.result()

    def _work(self) -> None:
        try:
            result = self._run(self._took_up)
        except BaseException as error:
            self._result.set_exception(error)
        else:
            asked = self._stop is not None and self._stop.asked.is_set()
            if asked and not self._was_finished():
                self._result.set_exception(JobFailed("the job was cancelled", restartable=False))
            else:
                self._result.set_result(result)
        finally:
            self._begun.set()
            self._ended.set()

    def _took_up(self, execution: Execution, stop: StopRequest, job_id: str) -> None:
        self._execution, self._stop, self._job_id = execution, stop, job_id
        self._begun.set()

    def _was_finished(self) -> bool:
        """It was told to end with a savepoint."""
        return self._stop is not None and self._stop.reason == "finished"

    def _was_cancelled(self) -> bool:
        return self._stop is not None and self._stop.reason == "canceled"


_jobs: list[BackgroundJob] = []


def _end_jobs() -> None:
    """Called at the end of the process, before it waits for its threads. Jobs of the platform
    have been waited for, if the program went well."""
    failed = getattr(sys, "last_type", None) is not None or run_context.launched() is not None
    try:
        for job in _jobs:
            if failed or not job.lasting:
                job.cancel()
            job.wait()
    except KeyboardInterrupt:
        _cancel_jobs()
        for job in _jobs:
            job.wait()


def _cancel_jobs() -> None:
    for job in _jobs:
        job.cancel()
