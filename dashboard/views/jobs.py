"""All jobs, and what is asked of several at once."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from dashboard import access, bulk, joblist, scope
from dashboard.views import live
from jobs import permissions

#: Jobs that one request may be about.
MOST = 200


@access.page
def show(request: HttpRequest) -> HttpResponse:
    return live.show(
        request,
        "jobs",
        "dashboard/jobs/page.html",
        bulk=bulk.VERBS.values() if bulk.acts(request.user) else (),
        here=request.get_full_path(),
        teams=joblist.teams(scope.of(request.user)),
        team=request.GET.get("team", ""),
        archived=request.GET.get("archived", ""),
    )


@access.page
@require_POST
def act(request: HttpRequest) -> HttpResponse:
    """First what would happen to each of the jobs; done when that is confirmed."""
    verb = bulk.VERBS.get(request.POST.get("verb", ""))
    back = _back(request)
    chosen = [pk for pk in request.POST.getlist("job")[:MOST] if "\x00" not in pk]
    if verb is None or not chosen:
        messages.error(request, "Nothing was changed: choose jobs, then what is to be done.")
        return redirect(back)
    found = permissions.visible_jobs(request.user).filter(pk__in=chosen).order_by("name", "pk")
    plan = bulk.plan(verb, found, request.user)
    if "confirmed" not in request.POST:
        request.headrace_audited = True  # type: ignore[attr-defined]  # nothing was done yet
        context = {"verb": verb, "plan": plan, "back": back}
        return render(request, "dashboard/jobs/bulk.html", context)
    outcome = bulk.carry_out(request, plan)
    if outcome.done:
        messages.success(request, f"{verb.done} {outcome.words}.")
    for refusal in outcome.refused[:5]:
        messages.error(request, refusal)
    return redirect(back)


def _back(request: HttpRequest) -> str:
    """The list as it was filtered; never another server."""
    asked = request.POST.get("back", "")
    if url_has_allowed_host_and_scheme(asked, allowed_hosts=None) and asked.startswith("/jobs/"):
        return asked
    return "/jobs/"
