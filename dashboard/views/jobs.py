"""All jobs: filtered by state, searched by name or id, page by page."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from dashboard import access, overview
from jobs.models import Job
from jobs.states import JobState

PAGE = 50


@access.page
def show(request: HttpRequest) -> HttpResponse:
    jobs = Job.objects.filter(archived_at=None).order_by("-created_at")
    state, words = request.GET.get("state", ""), request.GET.get("q", "").strip()
    if state in JobState.__members__:
        jobs = jobs.filter(state=state)
    if words:
        jobs = jobs.filter(Q(name__icontains=words) | Q(pk__startswith=words.lower()))
    now = timezone.now()
    page = Paginator(jobs, PAGE).get_page(request.GET.get("page"))
    context = {
        "rows": overview.rows(page.object_list, now),
        "page": page,
        "counts": overview.Overview(now).counts,
        "state": state,
        "words": words,
    }
    return render(request, "dashboard/jobs.html", context)
