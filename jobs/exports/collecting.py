"""The samples of the cluster, its TaskManagers and its jobs, in a bounded number of queries."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db.models import QuerySet

from headrace.wire import columns
from jobs import cluster_figures, figures, jobmanagers, vertices
from jobs.exports import extras
from jobs.exports.samples import (
    HEADRACE,
    JOB,
    JOBMANAGER,
    OPERATOR,
    SCOPES,
    TASK,
    TASKMANAGER,
    Group,
    Histogram,
    Value,
)
from jobs.models import Attempt, Job, JobFigures, TaskManager
from jobs.states import AttemptState, JobState, TaskManagerState

#: A histogram for each source, subtask of a sink; in Flink's way its name has its variables.
LATENCY = "latency.source_id.operator_id.operator_subtask_index.latency"
#: Jobs whose figures are read at once.
AT_ONCE = 200
#: Parts of a name that say which of several things it is about: they become variables.
_KEYED = re.compile(r"\b(split|topic|partition)\.([^.]+)(?=\.)")


def groups(jobs: QuerySet[Job], scopes: Iterable[str] = SCOPES) -> Iterator[Group]:
    """Of the cluster and of those of `jobs` that have not ended."""
    wanted = set(scopes)
    if JOBMANAGER in wanted:
        leader = jobmanagers.leader()
        host = leader.host if leader is not None else socket.gethostname()
        yield Group(JOBMANAGER, {"host": host}, cluster_figures.of_jobmanager(leader))
    if TASKMANAGER in wanted:
        for row in TaskManager.objects.filter(state=TaskManagerState.REGISTERED):
            variables = {"host": row.host, "tm_id": row.name}
            yield Group(TASKMANAGER, variables, cluster_figures.of_taskmanager(row))
    if wanted & {JOB, TASK, OPERATOR, HEADRACE}:
        live = jobs.filter(state__in=JobState.live()).order_by("pk")
        for batch in _batches(live.defer("configuration", "arguments", "checkpoint_settings")):
            yield from _of_jobs(batch, wanted)


def _batches(jobs: QuerySet[Job]) -> Iterator[list[Job]]:
    last = ""
    while batch := list(jobs.filter(pk__gt=last)[:AT_ONCE]):
        yield batch
        last = batch[-1].pk


def _of_jobs(jobs: list[Job], wanted: set[str]) -> Iterator[Group]:
    rows = JobFigures.objects.in_bulk([job.pk for job in jobs])
    attempts = _attempts(jobs)
    now = int(time.time() * 1000)
    for job in jobs:
        name = {"job_id": job.pk, "job_name": job.name}
        attempt, row = attempts.get(job.pk), rows.get(job.pk)
        if JOB in wanted:
            host = {"host": attempt.host if attempt else ""}
            yield Group(JOB, name | host, _numbers(figures.of_row(job, row, now)))
        runs = attempt is not None and job.state == JobState.RUNNING
        is_new = row is not None and attempt is not None and row.attempt == attempt.number
        found = _of_now(row.figures) if row is not None and runs and is_new else {}
        if attempt is not None and runs and wanted & {TASK, OPERATOR}:
            yield from _of_vertices(job, attempt, found, wanted)
        if HEADRACE in wanted:
            yield from extras.of_job(job, name, found)


def _of_now(found: dict[str, Any]) -> dict[str, Any]:
    """Without the latency of records that came before: an alert would go on about it for ever."""
    comes = found.get("job", {}).get("numRecordsInPerSecond", 1) > 0
    return found if comes else {**found, "latency": []}


def _attempts(jobs: list[Job]) -> dict[str, Attempt]:
    """Those under way, by job, with their TaskManagers."""
    rows = Attempt.objects.filter(job__in=jobs, state__in=AttemptState.live())
    few = rows.select_related("taskmanager").only("job_id", "number", "host", "taskmanager__name")
    return {row.job_id: row for row in few.order_by("number")}


def _of_vertices(
    job: Job, attempt: Attempt, found: Mapping[str, Any], wanted: set[str]
) -> Iterator[Group]:
    latencies = _latencies(found) if TASK in wanted else {}
    for vertex in vertices.of(job.plan or {}):
        tasks = _tasks(job, attempt, vertex)
        subtasks = [tasks | _subtask(job, attempt, vertex, i) for i in range(vertex.parallelism)]
        if TASK in wanted:
            rows = columns.rows(found.get("vertices", {}).get(vertex.id, {}), vertex.parallelism)
            for variables, values in zip(subtasks, rows, strict=True):
                yield Group(TASK, variables, _numbers(values))
        for operator in vertex.operators:
            for own, histogram in latencies.get(operator.id, []):
                yield Group(TASK, subtasks[0] | own, {LATENCY: histogram})
            if OPERATOR in wanted:
                named = {"operator_id": operator.id, "operator_name": operator.name}
                table = found.get("operators", {}).get(operator.id, {})
                rows = columns.rows(table, vertex.parallelism)
                for variables, values in zip(subtasks, rows, strict=True):
                    yield from _keyed(variables | named, values)


def _tasks(job: Job, attempt: Attempt, vertex: vertices.Vertex) -> dict[str, str]:
    taskmanager = attempt.taskmanager
    return {
        "job_id": job.pk,
        "job_name": job.name,
        "task_id": vertex.id,
        "task_name": vertex.name,
        "task_attempt_num": str(attempt.number - 1),  # Flink counts from 0
        "tm_id": taskmanager.name if taskmanager is not None else "",
        "host": attempt.host,
    }


def _subtask(job: Job, attempt: Attempt, vertex: vertices.Vertex, index: int) -> dict[str, str]:
    execution = f"{job.pk}_{vertex.id}_{index}_{attempt.number - 1}"
    return {"subtask_index": str(index), "task_attempt_id": execution}


def _keyed(variables: Mapping[str, str], values: Mapping[str, object]) -> Iterator[Group]:
    """An operator's metrics; those about a split or partition with variables that say which."""
    plain: dict[str, Value] = {}
    for name, value in _numbers(values).items():
        keys = dict(_KEYED.findall(name)) if "." in name else {}
        if keys:
            short = _KEYED.sub(r"\1", name)
            yield Group(OPERATOR, {**variables, **keys}, {short: value})
        else:
            plain[name] = value
    yield Group(OPERATOR, variables, plain)


def _latencies(found: Mapping[str, Any]) -> dict[str, list[tuple[dict[str, str], Histogram]]]:
    """By sink, from each source. Flink's markers end where a sink takes a record: before it is
    committed."""
    by_sink: dict[str, list[tuple[dict[str, str], Histogram]]] = {}
    for row in found.get("latency", []):
        if row.get("to") == "pre-commit":
            variables = {
                "source_id": str(row.get("source", "")),
                "operator_id": str(row.get("sink", "")),
                "operator_subtask_index": "0",
            }
            by_sink.setdefault(variables["operator_id"], []).append(
                (variables, extras.histogram(row))
            )
    return by_sink


def _numbers(values: Mapping[str, object]) -> dict[str, Value]:
    """What is text becomes 0, as in Flink; so it is seen that the metric is there."""
    return {name: _number(value) for name, value in values.items()}


def _number(value: object) -> float:
    if isinstance(value, bool):
        return int(value)
    return value if isinstance(value, int | float) else 0.0
