"""The pages of one job."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from dashboard import access, charts, checkpointparts, pages
from dashboard.checkpoints import Filter, number
from dashboard.jobview import JobView, phases
from dashboard.regions import Snapshot
from dashboard.views.finding import job_of, job_to_change
from jobs import audit, diagnostics, permissions, vertices
from jobs.models import Checkpoint, Diagnosis, Job

#: Tabs with views of their own.
_ELSEWHERE = ("log", "threads", "versions")


@access.page
def show(request: HttpRequest, job_id: str, tab: str = "overview") -> HttpResponse:
    """One tab. `?before=` shows an older page of its history, which does not change any more."""
    if tab not in pages.TABS or tab in _ELSEWHERE:
        raise Http404("no such page")
    chosen = pages.TABS[tab]
    job = job_of(request, job_id)
    view = JobView(job, timezone.now(), Filter.of(request.GET))
    context = {
        **frame(request, view, pages.job(view, chosen.regions), tab),
        "live_tab": tab if view.chosen.is_live else "head",
    }
    return render(request, f"dashboard/job/{tab}.html", context)


def frame(request: HttpRequest, view: JobView, snapshot: Snapshot, tab: str) -> dict[str, Any]:
    """What every page of a job needs; `may_operate` and `may_develop` are the reader's rights."""
    return {
        "job": view.job,
        "view": view,
        "html": snapshot.html(),
        "snapshot": snapshot,
        "tabs": pages.TABS.values(),
        "tab": tab,
        "live_tab": "head",
        "may_operate": permissions.may_operate(request.user, view.job),
        "may_develop": permissions.may_develop(request.user, view.job),
    }


@access.page
def vertex(request: HttpRequest, job_id: str, vertex_id: str, tab: str = "detail") -> HttpResponse:
    """One tab of one vertex, below the graph."""
    if tab not in pages.VERTEX_TABS:
        raise Http404("no such page")
    view = JobView(job_of(request, job_id), timezone.now(), Filter.of(request.GET))
    chosen = view.vertices.get(vertex_id)
    if chosen is None:
        raise Http404("the job's plan has no such vertex")
    regions = pages.of_vertex(vertex_id, tab)
    snapshot = pages.job(view, regions)
    context = {
        **frame(request, view, snapshot, "overview"),
        "vertex": chosen,
        "vertex_tab": tab,
        "vertex_tabs": pages.VERTEX_TABS.items(),
        "regions": [(region.name, snapshot.html()[region.name]) for region in regions],
        "live_vertex": view.chosen.is_live,
        "flame_kinds": {"full": "All", "on_cpu": "On CPU", "off_cpu": "Off CPU"}.items(),
    }
    return render(request, "dashboard/job/vertex.html", context)


@require_POST
@access.page
def take_flame_graph(request: HttpRequest, job_id: str, vertex_id: str) -> HttpResponse:
    """Have the job's processes sampled; the page shows the answer when it comes."""
    job = job_to_change(request, job_id, permissions.may_operate)
    user = request.user if isinstance(request.user, User) else None
    try:
        diagnostics.of_job(job, Diagnosis.Kind.FLAME_GRAPH, user)
    except diagnostics.NotRunning as error:
        messages.error(request, f"No flame graph can be taken: {error}.")
    audit.record(request, "job.flame-graph", job)
    return redirect("dashboard:vertex-tab", job.pk, vertex_id, "flamegraph")


@access.page
def checkpoint(request: HttpRequest, job_id: str, checkpoint_id: int) -> HttpResponse:
    """Everything that is known of one checkpoint."""
    job = job_of(request, job_id)
    rows = Checkpoint.objects.select_related("attempt")
    found = get_object_or_404(rows, job=job, checkpoint_id=checkpoint_id)
    view = JobView(job, timezone.now())
    context = {
        **frame(request, view, pages.job(view, ()), "checkpoints"),
        "checkpoint": found,
        "phases": phases(found.phases),
        "parts": checkpointparts.of(found.tasks, vertices.of(job.plan or {})),
        "offsets": json.dumps(found.offsets, indent=2, sort_keys=True),
        "neighbours": _neighbours(job, found),
    }
    return render(request, "dashboard/job/checkpoint.html", context)


def _neighbours(job: Job, of: Checkpoint) -> dict[str, int | None]:
    """The ids of the checkpoints before and after it that are kept."""
    rows = job.checkpoints.values_list("checkpoint_id", flat=True)
    here = of.checkpoint_id
    return {
        "older": rows.filter(checkpoint_id__lt=here).order_by("-checkpoint_id").first(),
        "newer": rows.filter(checkpoint_id__gt=here).order_by("checkpoint_id").first(),
    }


@access.page
def series(request: HttpRequest, job_id: str) -> HttpResponse:
    """The charts' columns over `?range=`, from the bucket that ends at `?after=` on."""
    job = job_of(request, job_id)
    after = number(request.GET.get("after"))
    return JsonResponse(charts.answer(job, request.GET.get("range", ""), after, timezone.now()))


@access.page
def metrics(request: HttpRequest, job_id: str) -> HttpResponse:
    """Figures chosen by `?name=` (again and again) over `?range=`: `charts.of_names`."""
    job = job_of(request, job_id)
    names = request.GET.getlist("name")[: charts.NAMES]
    found = charts.of_names(job, names, request.GET.get("range", ""), timezone.now())
    return JsonResponse(found)
