"""Samples as numbers under dotted names, Flink's scope formats: for StatsD and Graphite."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from jobs.exports import samples
from jobs.exports.samples import Group

#: Flink's defaults of metrics.scope.*; what begins with < is a variable.
_FORMATS = {
    samples.JOBMANAGER: ("<host>", "jobmanager"),
    samples.JOB: ("<host>", "jobmanager", "<job_name>"),
    samples.TASKMANAGER: ("<host>", "taskmanager", "<tm_id>"),
    samples.TASK: (
        *("<host>", "taskmanager", "<tm_id>", "<job_name>", "<task_name>", "<subtask_index>"),
    ),
    samples.OPERATOR: (
        *("<host>", "taskmanager", "<tm_id>", "<job_name>", "<operator_name>", "<subtask_index>"),
    ),
    samples.HEADRACE: ("headrace", "<job_name>"),
}
#: Variables that no name needs: others beside it say the same in words.
_SILENT = frozenset(
    {
        *("job_id", "task_id", "task_name", "task_attempt_id", "task_attempt_num"),
        *("operator_id", "operator_subtask_index"),
    }
)
_UNFIT = re.compile(r"[^a-zA-Z0-9_-]")
_UNFIT_BUT_DOTS = re.compile(r"[^a-zA-Z0-9_.-]")


def numbers(
    groups: Iterable[Group], prefix: str = "", excludes: frozenset[str] = frozenset()
) -> Iterator[tuple[str, float]]:
    """Two jobs of one name have one name here, as with Flink."""
    begin = f"{prefix.rstrip('.')}." if prefix else ""
    for group in groups:
        scope = ".".join(_scope(group, excludes))
        for name, value in group.flat():
            short = _UNFIT_BUT_DOTS.sub("-", name)
            yield f"{begin}{scope}.{short}", value


def number(value: float) -> str:
    """Without an exponent, which not every receiver reads."""
    return str(value) if isinstance(value, int) else f"{value:.6f}".rstrip("0").rstrip(".")


def _scope(group: Group, excludes: frozenset[str]) -> Iterator[str]:
    told = _FORMATS[group.scope]
    for part in told:
        if not part.startswith("<"):
            yield part
        elif part.strip("<>") not in excludes:
            yield _part(group.variables, part.strip("<>"))
    for name, value in group.variables.items():
        if f"<{name}>" not in told and name not in _SILENT | excludes:
            yield name
            yield _UNFIT.sub("-", value)


def _part(variables: Mapping[str, str], name: str) -> str:
    return _UNFIT.sub("-", variables.get(name, "")) or "none"
