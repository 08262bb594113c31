"""The versions of a job: what they are made of, how two differ, and the way to another one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from dashboard import access, asking, pages
from dashboard.checkpoints import number
from dashboard.jobview import JobView
from dashboard.savepointforms import UpgradeForm
from dashboard.views.finding import job_of, job_to_change
from dashboard.views.job import frame
from jobs import audit, permissions, upgrades, versions
from jobs.models import Job, JobVersion

#: Versions that are listed: the newest.
LISTED = 100


@access.page
def show(request: HttpRequest, job_id: str) -> HttpResponse:
    """`?from=` and `?to=` choose two to compare; the current one and the one before if not."""
    job = job_of(request, job_id)
    return _page(request, job, UpgradeForm(initial={"parallelism": job.parallelism}))


def _page(request: HttpRequest, job: Job, form: UpgradeForm) -> HttpResponse:
    view = JobView(job, timezone.now())
    known = list(job.versions.order_by("-number")[:LISTED])
    first, second = _compared(request, job, known)
    context = {
        **frame(request, view, pages.job(view, pages.TABS["versions"].regions), "versions"),
        **{"versions": known, "first": first, "second": second, "form": form},
        "live_tab": "versions",
        "difference": versions.difference(first, second) if first and second else None,
        "diff_lines": _diff(first, second),
        "may_upload": permissions.may_upload(request.user, job.team_id),
    }
    status = 422 if form.errors else 200
    return render(request, "dashboard/job/versions.html", context, status=status)


def _compared(
    request: HttpRequest, job: Job, known: list[JobVersion]
) -> tuple[JobVersion | None, JobVersion | None]:
    by_number = {each.number: each for each in known}
    asked = [request.GET.get(name) for name in ("from", "to")]
    if any(asked):
        chosen = [by_number.get(number(text) or 0) for text in asked]
        if None in chosen:
            raise Http404("the job has no such version")
        return chosen[0], chosen[1]
    earlier = [each for each in known if each.number < job.version]
    return (earlier[0] if earlier else None), by_number.get(job.version)


def _diff(first: JobVersion | None, second: JobVersion | None) -> list[tuple[str, str]]:
    """(colour, line) of the difference between their programs."""
    if first is None or second is None:
        return []
    colours = {"+": "is-added", "-": "is-removed", "@": "is-place"}
    lines = versions.difference(first, second).code.splitlines()
    return [(colours.get(line[:1], ""), line) for line in lines]


@require_POST
@access.page
def upgrade(request: HttpRequest, job_id: str) -> HttpResponse:
    """Go on as a changed version, as one of before, or with another parallelism."""
    job = job_to_change(request, job_id, permissions.may_operate)
    form = UpgradeForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, job, form)
    wish = form.wish
    if _brings_code(wish):
        job_to_change(request, job_id, permissions.may_develop)
        if wish["entry"] is not None and not permissions.may_upload(request.user, job.team_id):
            form.add_error("file", "Uploading code is switched off. The job runs on as it was.")
            return _page(request, job, form)
    user: Any = request.user
    try:
        row = upgrades.ask(job, user, **wish)
    except (*asking.REFUSALS, upgrades.NoSuchVersion) as refused:
        form.add_error(None, f"The job runs on as it was: {refused}.")
        return _page(request, job, form)
    audit.record(request, "job.upgrade", job, version=row.after.number, reason=wish["reason"])
    messages.success(request, f"On the way to version {row.after.number}, through a savepoint.")
    return redirect("dashboard:versions", job.pk)


def _brings_code(wish: dict[str, Any]) -> bool:
    """More than another parallelism, or a way back."""
    return any(wish[name] is not None for name in ("entry", "arguments", "settings"))
