"""Totals over all jobs, over time: what the cluster carries."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from typing import Any

from jobs import cluster_figures, history
from jobs.models import Job, JobFigures
from jobs.states import JobState

#: Rates that add up over jobs.
RATES = ("numRecordsInPerSecond", "numRecordsOutPerSecond")
#: Also kept: `lag` (records not read yet), and what `cluster_figures.of_cluster` says.
NAMES = (
    *RATES,
    *("lag", "numRunningJobs", "numRegisteredTaskManagers", "taskSlotsAvailable", "taskSlotsTotal"),
)


def record(now: datetime.datetime) -> None:
    """Keep the totals of this moment. Three queries, one row of a few numbers for each job."""
    history.write(history.CLUSTER, now, totals())


def totals() -> dict[str, float]:
    """Of the jobs that run."""
    rows = JobFigures.objects.filter(job__state=JobState.RUNNING)
    measured = list(rows.values_list("figures__job", flat=True))
    lags = Job.objects.filter(state=JobState.RUNNING).values_list("lag", flat=True)
    return {
        **{name: _sum(measured, name) for name in RATES},
        "lag": sum(lag for topics in lags for own in topics.values() for lag in own.values()),
        **cluster_figures.of_cluster(),
    }


def _sum(measured: Iterable[Mapping[str, Any] | None], name: str) -> float:
    values = (history.number((own or {}).get(name)) for own in measured)
    return sum(value for value in values if value is not None)
