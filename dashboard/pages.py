"""The live pages of a job: which regions each is made of, and how a snapshot of one is taken.

A snapshot is the same for everybody who watches: what depends on the reader (the name in the top
bar, the form token, who may act) stands outside the regions.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone

from dashboard import live
from dashboard.jobview import JobView
from dashboard.regions import Region, Snapshot, render
from jobs.models import Job


@dataclass(frozen=True, slots=True)
class Tab:
    """One page of a job, or of a vertex."""

    name: str
    label: str
    regions: tuple[Region, ...] = ()


def _regions(folder: str, *names: str) -> tuple[Region, ...]:
    return tuple(Region(name, f"dashboard/{folder}/_{name}.html") for name in names)


_HEAD = _regions("job", "head", "notice")

TABS = {
    tab.name: tab
    for tab in (
        Tab("overview", "Overview", _regions("job", "figures", "graph", "state", "latest")),
        Tab("checkpoints", "Checkpoints", _regions("job", "summary", "checkpoints")),
        Tab("savepoints", "Savepoints", _regions("job", "savepoints")),
        Tab("exceptions", "Exceptions", _regions("job", "exceptions")),
        Tab("timeline", "Timeline", _regions("job", "timeline")),
        Tab("kafka", "Kafka", _regions("job", "kafka")),
        Tab("latency", "Latency", _regions("job", "latency")),
        Tab("skew", "Data skew", _regions("job", "skew")),
        Tab("metrics", "Metrics", _regions("job", "metrics")),
        Tab("accumulators", "Accumulators", _regions("job", "accumulators")),
        Tab("log", "Log"),
        Tab("threads", "Threads"),
        Tab("events", "Events", _regions("job", "events")),
        Tab("attempts", "Attempts", _regions("job", "attempts")),
        Tab("versions", "Versions", _regions("job", "upgrades")),
        Tab("alerts", "Alerts", _regions("job", "alerts")),
        Tab("configuration", "Configuration"),
    )
}

#: Pages of a vertex, as Flink's dashboard names them.
VERTEX_TABS = {
    "detail": "Detail",
    "subtasks": "Subtasks",
    "taskmanagers": "TaskManagers",
    "watermarks": "Watermarks",
    "accumulators": "Accumulators",
    "backpressure": "Back pressure",
    "metrics": "Metrics",
    "flamegraph": "Flame graph",
}


def of_vertex(vertex_id: str, tab: str) -> tuple[Region, ...]:
    """The regions of a vertex's page: the graph with it chosen, and what the tab shows."""
    return (
        Region(f"graph-{vertex_id}", "dashboard/job/_graph.html", vertex_id),
        Region(f"{tab}-{vertex_id}", f"dashboard/job/vertex/_{tab}.html", vertex_id),
    )


def job(view: JobView, regions: tuple[Region, ...]) -> Snapshot:
    """A page of a job: its head, and `regions`."""
    context = {"view": view, "job": view.job, "now": view.now}
    return Snapshot(
        title=f"{view.job.name} · {view.job.state_info.label}",
        fragments=render(dict.fromkeys((*_HEAD, *regions)), context),
        newest=view.newest,
    )


def with_head(regions: tuple[Region, ...]) -> tuple[Region, ...]:
    """All regions of a page of a job, for who watches it."""
    return (*_HEAD, *regions)


def job_again(job_id: str, regions: tuple[Region, ...]) -> Snapshot:
    """The same, read anew. Raises live.Gone when the job does not exist any more."""
    found = Job.objects.select_related("submitted_by", "team").filter(pk=job_id).first()
    if found is None:
        raise live.Gone
    return job(JobView(found, timezone.now()), regions)
