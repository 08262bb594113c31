"""A job that was submitted; PyFlink's `pyflink.common.job_client`."""

from __future__ import annotations

from typing import Any, Protocol

from headrace.common.completable_future import CompletableFuture
from headrace.common.job_execution_result import JobExecutionResult
from headrace.common.job_id import JobID
from headrace.common.job_status import JobStatus


class SubmittedJob(Protocol):
    """What a JobClient speaks to."""

    @property
    def job_id(self) -> JobID: ...
    @property
    def status(self) -> JobStatus: ...
    def cancel(self) -> None: ...
    def result(self) -> CompletableFuture[JobExecutionResult]: ...
    def counters(self) -> dict[str, Any]: ...


_SAVEPOINTS = (
    "a savepoint is taken by the platform, of a job that it runs: `POST /jobs/<id>/savepoints`, or "
    "the job's page. Every committed micro-batch is a checkpoint all the same"
)


class JobClient:
    """Asks and steers the job of one `execute_async`."""

    def __init__(self, job: SubmittedJob) -> None:
        self._job = job

    def get_job_id(self) -> JobID:
        return self._job.job_id

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        return CompletableFuture.of(self._job.status)

    def cancel(self) -> CompletableFuture[None]:
        """The job ends between two micro-batches; its result is then an error that says so."""
        self._job.cancel()
        return CompletableFuture.of(None)

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """Done when the job has ended; `result()` raises JobFailed when it failed."""
        return self._job.result()

    def get_accumulators(self) -> CompletableFuture[dict[str, Any]]:
        """As of the newest committed micro-batch."""
        return CompletableFuture.of(self._job.counters())

    def stop_with_savepoint(
        self,
        advance_to_end_of_event_time: bool,
        savepoint_directory: str | None = None,
        format_type: Any = None,
    ) -> CompletableFuture[str]:
        raise NotImplementedError(_SAVEPOINTS)

    def trigger_savepoint(
        self, savepoint_directory: str | None = None, format_type: Any = None
    ) -> CompletableFuture[str]:
        raise NotImplementedError(_SAVEPOINTS)
