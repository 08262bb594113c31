"""Cancel, suspend, resume, restart: asked for on a page that says what will happen."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from dashboard import access, pages, verbs
from dashboard.jobview import JobView
from dashboard.views.finding import job_to_change
from dashboard.views.job import frame
from jobs import audit, permissions
from jobs.actions import Conflict


@require_http_methods(["GET", "POST"])
@access.page
def act(request: HttpRequest, job_id: str, verb: str) -> HttpResponse:
    """GET asks whether it is meant, POST does it and goes back to the job."""
    if verb not in verbs.VERBS:
        raise Http404("no such action")
    job = job_to_change(request, job_id, permissions.may_operate)
    chosen = verbs.VERBS[verb]
    if request.method == "GET":
        view = JobView(job, timezone.now())
        context = {**frame(request, view, pages.job(view, ()), ""), "verb": chosen}
        return render(request, "dashboard/job/confirm.html", context)
    try:
        chosen.carry_out(job, request.user)
        audit.record(request, f"job.{chosen.name}", job)
        messages.success(request, chosen.asked)
    except Conflict as conflict:
        messages.error(request, f"Nothing was changed: {conflict}.")
    return redirect("dashboard:job", job_id)
