"""The compiled graph of a job, for people."""

from __future__ import annotations

from headrace.runtime import plan
from headrace.runtime.program import Program


class StreamGraph:
    """What `StreamExecutionEnvironment.generate_stream_graph` gives."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def get_job_name(self) -> str:
        return self._program.name

    def set_job_name(self, job_name: str) -> None:
        self._program.name = job_name

    def get_streaming_plan_as_json(self) -> str:
        """In the form of Flink's plan."""
        return plan.plan_json(self._program)

    def __str__(self) -> str:
        """A line for each chain: what runs in one task of Flink, and what it reads."""
        return plan.plan_text(self._program)
