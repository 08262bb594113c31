"""Cancel, suspend, resume, restart: asked for on a page that says what will happen."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from dashboard import access, pages, verbs
from dashboard.jobview import JobView
from dashboard.views.job import frame
from jobs import permissions
from jobs.actions import Conflict
from jobs.models import Job


@require_http_methods(["GET", "POST"])
@access.only_if(permissions.may_steer)
def act(request: HttpRequest, job_id: str, verb: str) -> HttpResponse:
    """GET asks whether it is meant, POST does it and goes back to the job."""
    if verb not in verbs.VERBS:
        raise Http404("no such action")
    job = get_object_or_404(Job.objects.select_related("submitted_by"), pk=job_id)
    chosen = verbs.VERBS[verb]
    if request.method == "GET":
        view = JobView(job, timezone.now())
        context = {**frame(view, pages.job(view, ()), ""), "verb": chosen}
        return render(request, "dashboard/job/confirm.html", context)
    try:
        chosen.carry_out(job, request.user)
        messages.success(request, chosen.asked)
    except Conflict as conflict:
        messages.error(request, f"Nothing was changed: {conflict}.")
    return redirect("dashboard:job", job_id)
