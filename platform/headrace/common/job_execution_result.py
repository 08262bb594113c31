"""What a job says when it has ended; PyFlink's `pyflink.common.job_execution_result`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headrace.common.job_id import JobID


@dataclass(frozen=True)
class JobExecutionResult:
    """`counters` are what the job counted: dead letters, late records, counters and accumulators
    of functions."""

    job_id: JobID
    net_runtime: int
    counters: dict[str, Any] = field(default_factory=dict)

    def get_job_id(self) -> JobID:
        return self.job_id

    def get_net_runtime(self) -> int:
        """Milliseconds from the first batch to the end."""
        return self.net_runtime

    def get_accumulator_result(self, accumulator_name: str) -> Any:
        """None when nobody has counted under this name."""
        return self.counters.get(accumulator_name)

    def get_all_accumulator_results(self) -> dict[str, Any]:
        return dict(self.counters)

    def __str__(self) -> str:
        lines = [
            "Program execution finished",
            f"Job with JobID {self.job_id} has finished.",
            f"Job Runtime: {self.net_runtime} ms",
        ]
        if self.counters:
            lines.append("Accumulator Results:")
            lines += [f"- {name}: {value}" for name, value in sorted(self.counters.items())]
        return "\n".join([*lines, ""])
