"""The pages of one job."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from dashboard import access, pages
from dashboard import series as charts
from dashboard.jobview import JobView
from dashboard.regions import Snapshot
from jobs.models import Checkpoint, Job


@access.page
def show(request: HttpRequest, job_id: str, tab: str = "overview") -> HttpResponse:
    """One tab. `?before=` shows an older page of its history, which does not change any more."""
    if tab not in pages.TABS or tab == "log":
        raise Http404("no such page")
    chosen = pages.TABS[tab]
    job = get_object_or_404(Job.objects.select_related("submitted_by"), pk=job_id)
    view = JobView(job, timezone.now(), before=_number(request.GET.get("before")))
    snapshot = pages.job(view, chosen.regions)
    return render(
        request,
        f"dashboard/job/{tab}.html",
        {
            **frame(view, snapshot, tab),
            "live_tab": tab if view.before is None else "head",
        },
    )


def frame(view: JobView, snapshot: Snapshot, tab: str) -> dict[str, Any]:
    """What every page of a job needs."""
    return {
        "job": view.job,
        "view": view,
        "html": snapshot.html(),
        "snapshot": snapshot,
        "tabs": pages.TABS.values(),
        "tab": tab,
        "live_tab": "head",
    }


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else None


@access.page
def checkpoint(request: HttpRequest, job_id: str, checkpoint_id: int) -> HttpResponse:
    """Everything that is known of one checkpoint."""
    found = get_object_or_404(
        Checkpoint.objects.select_related("job__submitted_by", "attempt"),
        job=job_id,
        checkpoint_id=checkpoint_id,
    )
    view = JobView(found.job, timezone.now())
    snapshot = pages.job(view, ())
    context = {
        **frame(view, snapshot, "checkpoints"),
        "checkpoint": found,
        "offsets": json.dumps(found.offsets, indent=2, sort_keys=True),
    }
    return render(request, "dashboard/job/checkpoint.html", context)


@access.page
def series(request: HttpRequest, job_id: str) -> HttpResponse:
    """The charts' columns over `?range=`, from the bucket of `?after=` (seconds since 1970)."""
    job = get_object_or_404(Job, pk=job_id)
    seconds = charts.RANGES.get(request.GET.get("range", ""), charts.RANGES[charts.DEFAULT_RANGE])
    now = timezone.now()
    since = now - timedelta(seconds=seconds)
    bucket = charts.width(seconds)
    after = _number(request.GET.get("after"))
    if after is not None:
        # The bucket that ends at `after` may have grown since; one more for the first rate.
        begin = (after - 2 * bucket / 1000) * 1000
        since = max(since, datetime.fromtimestamp(begin / 1000, since.tzinfo))
    rows = job.checkpoints.filter(completed_at__gte=since).order_by("checkpoint_id")
    samples = charts.samples(rows.values(*charts.FIELDS), job.checkpoint_interval)
    return JsonResponse(
        {
            "now": int(now.timestamp() * 1000),
            "range": seconds,
            "bucket": bucket,
            "series": asdict(charts.series(samples, bucket)),
            "attempts": _starts(job, since),
        }
    )


def _starts(job: Job, since: datetime) -> list[list[float]]:
    """When attempts began, with their numbers: marks in the charts."""
    began = job.attempts.filter(created_at__gte=since).order_by("number")
    return [[at.timestamp(), n] for at, n in began.values_list("created_at", "number")]
