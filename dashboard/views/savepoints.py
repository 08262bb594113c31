"""Savepoints of a job, asked for, looked at, compared, verified, begun with, disposed of."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from dashboard import access, asking, pages, savepointview
from dashboard.asking import Deed
from dashboard.jobview import JobView
from dashboard.savepointforms import SavepointForm, StartForm
from dashboard.views.finding import job_of, job_to_change
from dashboard.views.job import frame
from headrace.wire.savepoint import BadSavepoint
from jobs import (
    actions,
    audit,
    beginnings,
    checkpoint_requests,
    permissions,
    savepoints,
    versions,
)
from jobs.models import Job, Savepoint

DISPOSE = Deed(
    "dispose",
    "Dispose of",
    "stop",
    "savepoint",
    "Its files are removed. No job can begin with it any more; this cannot be taken back.",
    "The savepoint is being removed.",
    "bad",
)
CHECKPOINT = Deed(
    "checkpoint",
    "Take a checkpoint of",
    "check",
    "job",
    "A checkpoint is made behind the current batch, though nothing may have come in since the "
    "last one. The job runs on.",
    "A checkpoint was asked for; it is listed here in a moment.",
)


def _saved(job: Job, savepoint_id: str) -> Savepoint:
    return get_object_or_404(Savepoint.objects.select_related("job"), job=job, pk=savepoint_id)


def _user(request: HttpRequest) -> Any:
    return request.user if request.user.is_authenticated else None


@require_http_methods(["GET", "POST"])
@access.page
def take(request: HttpRequest, job_id: str) -> HttpResponse:
    """A savepoint, after which the job runs on, stops or is cancelled."""
    job = job_to_change(request, job_id, permissions.may_operate)
    form = SavepointForm(request.POST or None, initial={"then": request.GET.get("then", "")})
    if request.method == "POST" and form.is_valid():
        values = {**form.cleaned_data, "then": Savepoint.Then(form.cleaned_data["then"])}
        try:
            row = savepoints.trigger(job, _user(request), **values)
        except asking.REFUSALS as refused:
            form.add_error(None, f"No savepoint was asked for: {refused}.")
        else:
            audit.record(request, "savepoint.trigger", job, path=row.path, then=row.then)
            messages.success(request, "A savepoint was asked for.")
            return redirect("dashboard:job-tab", job.pk, "savepoints")
    return _form(request, job, form, "Take a savepoint", "Take savepoint")


def _form(
    request: HttpRequest, job: Job, form: Any, title: str, verb: str, **more: Any
) -> HttpResponse:
    view = JobView(job, timezone.now())
    context = {
        **frame(request, view, pages.job(view, ()), "savepoints"),
        **{"form": form, "form_title": title, "form_verb": verb},
        **{"back": reverse("dashboard:job-tab", args=[job.pk, "savepoints"]), **more},
    }
    return render(request, "dashboard/job/form.html", context, status=422 if form.errors else 200)


@access.page
def show(request: HttpRequest, job_id: str, savepoint_id: str) -> HttpResponse:
    """Everything that is known of one savepoint."""
    job = job_of(request, job_id)
    row = _saved(job, savepoint_id)
    view = JobView(job, timezone.now())
    context = {
        **frame(request, view, pages.job(view, ()), "savepoints"),
        "savepoint": row,
        "manifest": savepointview.manifest(row),
        "others": job.savepoints.filter(state="COMPLETED").exclude(pk=row.pk)[:20],
        "begun": row.jobs.select_related("job")[:20],
        "needed": savepoints.needed_by(row) if row.state == "COMPLETED" else "",
        "dispose": DISPOSE,
        "may_submit": permissions.may_submit(request.user, job.team_id),
    }
    return render(request, "dashboard/job/savepoint.html", context)


@access.page
def compare(request: HttpRequest, job_id: str) -> HttpResponse:
    """Two savepoints of the job, `?a=` and `?b=`, side by side."""
    job = job_of(request, job_id)
    asked = [request.GET.get(name, "").replace("\x00", "") for name in ("a", "b")]
    known = {row.pk: row for row in job.savepoints.filter(pk__in=asked)}
    chosen = [known.get(each) for each in asked]
    if chosen[0] is None or chosen[1] is None:
        raise Http404("no such savepoints of this job")
    view = JobView(job, timezone.now())
    context = {
        **frame(request, view, pages.job(view, ()), "savepoints"),
        "first": chosen[0],
        "second": chosen[1],
        "rows": savepointview.compared(chosen[0], chosen[1]),
    }
    return render(request, "dashboard/job/compare.html", context)


@require_POST
@access.page
def verify(request: HttpRequest, job_id: str, savepoint_id: str) -> HttpResponse:
    """Whether every file of it is there and as it was written."""
    job = job_to_change(request, job_id, permissions.may_operate)
    row = _saved(job, savepoint_id)
    try:
        messages.success(request, savepointview.verified(row))
    except (BadSavepoint, OSError) as error:
        messages.error(request, f"No job can begin with it: {error}.")
    audit.record(request, "savepoint.verify", row)
    return redirect("dashboard:savepoint", job.pk, row.pk)


@require_http_methods(["GET", "POST"])
@access.page
def start(request: HttpRequest, job_id: str, savepoint_id: str) -> HttpResponse:
    """A new job that begins with it, in the first one's place or beside it."""
    job = job_of(request, job_id)
    if not permissions.may_submit(request.user, job.team_id):
        raise PermissionDenied
    row = _saved(job, savepoint_id)
    form = StartForm(request.POST or None, initial={"beside": not job.state_info.is_terminal})
    if request.method == "POST" and form.is_valid():
        try:
            begun = _begin(request, job, row, form.cleaned_data)
        except asking.REFUSALS as refused:
            form.add_error(None, f"No job was started: {refused}.")
        else:
            audit.record(request, "job.submit", begun, savepoint=row.path)
            messages.success(request, f"{begun.name} was submitted; it begins with the savepoint.")
            return redirect("dashboard:job", begun.pk)
    back = reverse("dashboard:savepoint", args=[job.pk, row.pk])
    title, verb = "Start a job from a savepoint", "Start job"
    return _form(request, job, form, title, verb, back=back, about=row)


def _begin(request: HttpRequest, job: Job, row: Savepoint, values: dict[str, Any]) -> Job:
    """As the version of the job that the savepoint is of. Raises what refuses it."""
    version = job.versions.filter(number=row.version or job.version).first()
    if version is None:
        raise actions.InvalidJob(f"version {row.version} of the job is not known any more")
    made = versions.content(version)
    paths = {*beginnings.PATH, *beginnings.CLAIM_MODE, *beginnings.IGNORE_UNCLAIMED}
    restore = beginnings.wanted(
        row.path,
        values["claim_mode"],
        allow_lost=values["allow_non_restored_state"],
        beside=values["beside"],
    )
    return actions.submit(
        values["name"] or (f"{job.name} (beside)"[:200] if values["beside"] else job.name),
        made.artifact,
        made.arguments,
        values["parallelism"] or made.parallelism,
        {key: value for key, value in made.configuration.items() if key not in paths},
        user=_user(request),
        restore=restore,
        team=job.team,
    )


@require_http_methods(["GET", "POST"])
@access.page
def dispose(request: HttpRequest, job_id: str, savepoint_id: str) -> HttpResponse:
    job = job_to_change(request, job_id, permissions.may_operate)
    row = _saved(job, savepoint_id)

    def do() -> None:
        savepoints.dispose(row, _user(request))
        audit.record(request, "savepoint.dispose", row)

    back = reverse("dashboard:job-tab", args=[job.pk, "savepoints"])
    subject = f"the savepoint of {row.created_at:%-d %b %Y %H:%M}"
    return asking.ask(request, DISPOSE, subject, back, do)


@require_http_methods(["GET", "POST"])
@access.page
def checkpoint(request: HttpRequest, job_id: str) -> HttpResponse:
    """A checkpoint by hand."""
    job = job_to_change(request, job_id, permissions.may_operate)

    def do() -> None:
        row = checkpoint_requests.trigger(job, _user(request))
        if row.failure:
            raise actions.Conflict(row.failure)
        audit.record(request, "checkpoint.trigger", job)

    back = reverse("dashboard:job-tab", args=[job.pk, "checkpoints"])
    return asking.ask(request, CHECKPOINT, job.name, back, do)
