"""What is exported, as Flink has it: metrics of a scope with variables. Every exporter writes the
same samples in its own form.

Scopes are those of Flink (`jobmanager`, `jobmanager.job`, `taskmanager`, `taskmanager.job.task`,
`taskmanager.job.task.operator`), and `headrace` for what Flink has no word for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

JOBMANAGER = "jobmanager"
JOB = "jobmanager.job"
TASKMANAGER = "taskmanager"
TASK = "taskmanager.job.task"
OPERATOR = "taskmanager.job.task.operator"
HEADRACE = "headrace"
SCOPES = (JOBMANAGER, JOB, TASKMANAGER, TASK, OPERATOR, HEADRACE)


@dataclass(frozen=True, slots=True)
class Histogram:
    """`quantiles`: {0.5: value, …}. `sum` is None where it is not known."""

    count: float
    quantiles: Mapping[float, float]
    sum: float | None = None


Value = float | Histogram


@dataclass(frozen=True, slots=True)
class Group:
    """Metrics of one thing: they have scope and variables in common. Names have dots."""

    scope: str
    variables: Mapping[str, str]
    values: Mapping[str, Value] = field(default_factory=dict)

    def flat(self) -> Iterator[tuple[str, float]]:
        """A number under each name, for receivers that know no histograms."""
        for name, value in self.values.items():
            if isinstance(value, Histogram):
                yield f"{name}.count", value.count
                for quantile, own in value.quantiles.items():
                    yield f"{name}.p{f'{quantile:g}'[2:].ljust(2, '0')}", own
            else:
                yield name, value
