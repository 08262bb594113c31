"""The live pages: which regions each is made of, and how a snapshot of one is taken.

A snapshot is the same for everybody who watches: what depends on the reader (the name in the top
bar, the form token, who may act) stands outside the regions.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone

from dashboard import live
from dashboard.jobview import JobView
from dashboard.overview import Overview
from dashboard.regions import Region, Snapshot, render
from jobs.models import Job


@dataclass(frozen=True, slots=True)
class Tab:
    """One page of a job."""

    name: str
    label: str
    regions: tuple[Region, ...] = ()


def _regions(folder: str, *names: str) -> tuple[Region, ...]:
    return tuple(Region(name, f"dashboard/{folder}/_{name}.html") for name in names)


OVERVIEW = _regions("overview", "notice", "totals", "active", "slots", "events", "ended")
_HEAD = _regions("job", "head", "notice")

TABS = {
    tab.name: tab
    for tab in (
        Tab("overview", "Overview", _regions("job", "figures", "graph", "state", "latest")),
        Tab("checkpoints", "Checkpoints", _regions("job", "summary", "checkpoints")),
        Tab("exceptions", "Exceptions", _regions("job", "exceptions")),
        Tab("kafka", "Kafka", _regions("job", "kafka")),
        Tab("log", "Log"),
        Tab("attempts", "Attempts", _regions("job", "attempts")),
        Tab("events", "Events", _regions("job", "events")),
        Tab("configuration", "Configuration"),
    )
}


def overview() -> Snapshot:
    context = {"overview": Overview(timezone.now())}
    return Snapshot("Overview", render(OVERVIEW, context))


def job(view: JobView, regions: tuple[Region, ...]) -> Snapshot:
    """A page of a job: its head, and `regions`."""
    context = {"view": view, "job": view.job, "now": view.now}
    return Snapshot(
        title=f"{view.job.name} · {view.job.state_info.label}",
        fragments=render((*_HEAD, *regions), context),
        newest=view.recent.checkpoint_id if view.recent else 0,
    )


def job_again(job_id: str, regions: tuple[Region, ...]) -> Snapshot:
    """The same, read anew. Raises live.Gone when the job does not exist any more."""
    found = Job.objects.select_related("submitted_by").filter(pk=job_id).first()
    if found is None:
        raise live.Gone
    return job(JobView(found, timezone.now()), regions)
