"""The pages of one job."""

from __future__ import annotations

import json
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from dashboard import access, charts, pages
from dashboard.jobview import JobView, phases
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
        "phases": phases(found.phases),
        "offsets": json.dumps(found.offsets, indent=2, sort_keys=True),
    }
    return render(request, "dashboard/job/checkpoint.html", context)


@access.page
def series(request: HttpRequest, job_id: str) -> HttpResponse:
    """The charts' columns over `?range=`, from the bucket that ends at `?after=` on."""
    job = get_object_or_404(Job, pk=job_id)
    after = _number(request.GET.get("after"))
    return JsonResponse(charts.answer(job, request.GET.get("range", ""), after, timezone.now()))
