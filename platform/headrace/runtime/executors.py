"""Who runs a compiled job: Spark, or this process alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Protocol

from headrace.common.job_execution_result import JobExecutionResult
from headrace.runtime import context as run_context
from headrace.runtime.context import RunContext
from headrace.runtime.program import Program

#: `spark`, or `in-process` for programs on a laptop and in tests. The environment variable is for
#: running a program as it is.
EXECUTOR_KEY = "headrace.executor"
EXECUTOR_VARIABLE = "HEADRACE_EXECUTOR"
SPARK, IN_PROCESS = "spark", "in-process"


class Execution(Protocol):
    """One run of a job."""

    #: What `execute_and_collect` asked for; grows while the job runs.
    collected: list[Any]

    @property
    def counters(self) -> dict[str, Any]: ...

    def execute(self) -> JobExecutionResult: ...


def chosen(configuration: Mapping[str, str]) -> str:
    """The configured executor; on the platform it is always Spark. Raises ValueError."""
    if run_context.launched() is not None:
        return SPARK
    name = configuration.get(EXECUTOR_KEY) or os.environ.get(EXECUTOR_VARIABLE) or SPARK
    if name not in (SPARK, IN_PROCESS):
        raise ValueError(f"{EXECUTOR_KEY} is {SPARK!r} or {IN_PROCESS!r}, not {name!r}")
    return name


def execution(
    program: Program, context: RunContext, interval: int | None, executor: str
) -> Execution:
    if executor == IN_PROCESS:
        from headrace.runtime.local_job import LocalJob

        return LocalJob(program, context, interval)
    from headrace.runtime.job_run import JobRun

    return JobRun(program, context, interval)
