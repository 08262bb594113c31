"""The log of an attempt: its tail, what came after, what stood before; the file itself."""

from __future__ import annotations

from pathlib import Path

from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.utils import timezone

from dashboard import access, loglines, pages
from dashboard.checkpoints import number as number_in
from dashboard.jobview import JobView
from dashboard.views.finding import job_of
from dashboard.views.job import frame
from headrace.wire import rundir
from jobs.models import Attempt


@access.page
def show(request: HttpRequest, job_id: str) -> HttpResponse:
    """The tail of the newest attempt's log, or of `?attempt=`; the piece that begins `?at=` a byte;
    or the lines with the words `?q=`, searched `?from=` a byte on."""
    job = job_of(request, job_id)
    view = JobView(job, timezone.now())
    attempt = _chosen(view, request.GET.get("attempt"))
    place, words = number_in(request.GET.get("at")), request.GET.get("q", "").strip()[:200]
    context = {
        **frame(request, view, pages.job(view, ()), "log"),
        "attempt": attempt,
        "log": _shown(attempt, place) if attempt else None,
        "place": place,
        "words": words,
        "found": _found(attempt, words, number_in(request.GET.get("from"))) if words else None,
        "exists": attempt is not None and loglines.exists(attempt.run_dir),
    }
    return render(request, "dashboard/job/log.html", context)


def _shown(attempt: Attempt, place: int | None) -> loglines.Lines:
    if place is None:
        return loglines.tail(attempt.run_dir)
    return loglines.at(attempt.run_dir, place)


def _found(attempt: Attempt | None, words: str, begin: int | None) -> loglines.Found | None:
    return loglines.find(attempt.run_dir, words, begin or 0) if attempt else None


def _chosen(view: JobView, number: str | None) -> Attempt | None:
    if not number:
        return view.attempt
    for attempt in view.attempts:
        if str(attempt.number) == number:
            return attempt
    raise Http404("no such attempt")


@access.page
def lines(request: HttpRequest, job_id: str, number: int) -> HttpResponse:
    """Lines after `?after=` or before `?before=`, as the page holds them."""
    attempt = get_object_or_404(Attempt, job=job_of(request, job_id), number=number)
    after, before = (number_in(request.GET.get(name)) for name in ("after", "before"))
    if before is not None:
        found = loglines.before(attempt.run_dir, before)
    elif after is not None:
        found = loglines.after(attempt.run_dir, after)
    else:
        found = loglines.tail(attempt.run_dir)
    return JsonResponse(
        {
            "start": found.start,
            "end": found.end,
            "size": found.size,
            "html": render_to_string("dashboard/job/_lines.html", {"log": found}),
        }
    )


@access.page
def download(request: HttpRequest, job_id: str, number: int) -> HttpResponseBase:
    attempt = get_object_or_404(Attempt, job=job_of(request, job_id), number=number)
    path = Path(attempt.run_dir) / rundir.LOG
    try:
        file = path.open("rb")
    except OSError as error:
        raise Http404("the log is not on this machine") from error
    name = f"{job_id[:8]}-attempt-{number}.log"
    return FileResponse(file, as_attachment=True, filename=name, content_type="text/plain")
