"""Submit a job: choose a program, say how to run it, look at its graph, start it."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from dashboard import access, graph, programs, scope
from dashboard.asking import Deed, ask
from dashboard.forms import SubmitForm
from dashboard.overview import Overview
from jobs import (
    actions,
    artifacts,
    audit,
    beginnings,
    options,
    permissions,
    planning,
    schedules,
    uploads,
)
from jobs.models import Job, Savepoint, Schedule
from jobs.states import SavepointState

#: Savepoints that the form proposes.
PROPOSED = 30
DELETE = Deed(
    "delete",
    "Delete",
    "trash",
    "program",
    "It can no longer be chosen here. Jobs and schedules that were made of it keep the file.",
    "The program was deleted.",
    colour="bad",
)


@dataclass(frozen=True, slots=True)
class _Wish:
    """What is to run, and how."""

    name: str
    artifact: artifacts.Artifact
    arguments: list[str]
    parallelism: int


@require_http_methods(["GET", "POST"])
@access.only_if(permissions.may_submit_somewhere)
def show(request: HttpRequest) -> HttpResponse:
    """POST with `do`: "upload" keeps the file, "plan" shows the graph, else the job is submitted,
    now or on a schedule."""
    if request.method == "POST":
        form = SubmitForm(request.POST, request.FILES, user=request.user)
        return _posted(request, form)
    first = {
        name: request.GET[name]
        for name in ("program", "savepoint", "name", "when")
        if request.GET.get(name) and "\x00" not in request.GET[name]
    }
    return _page(request, SubmitForm(initial={"time_zone": "UTC", **first}, user=request.user))


def _posted(request: HttpRequest, form: SubmitForm) -> HttpResponse:
    do = request.POST.get("do", "submit")
    if not form.is_valid():
        return _page(request, form)
    try:
        program = _program(request, form)
        if do == "upload":
            messages.success(request, f"{program.name} was uploaded.")
            return redirect(f"{reverse('dashboard:submit')}?program={program.id}")
        if do == "plan":
            return _page(request, form, program, _plan(form, program))
        return _started(request, form, program)
    except (artifacts.UnusableFile, programs.NoProgram) as refused:
        form.add_error("file" if "file" in form.fields else None, str(refused))
    except (actions.InvalidJob, options.InvalidOption, uploads.NoTeam) as refused:
        form.add_error(None, str(refused))
    return _page(request, form)


def _program(request: HttpRequest, form: SubmitForm) -> programs.Program:
    """A file counts more than what was chosen before; it is kept, and chosen from here on."""
    values, user = form.cleaned_data, request.user
    assert isinstance(user, User)
    if values.get("file"):
        access.demand(permissions.may_upload(user, values["team"]))
        row = programs.keep(values["file"], user, values["team"])
        audit.record(request, "program.upload", row, sha256=row.sha256)
        return programs.find(row.pk, user)
    return programs.find(values["program"], user)


def _plan(form: SubmitForm, program: programs.Program) -> graph.Graph | None:
    """The graph of the program, planned in a process of its own; None with the reason in the
    form."""
    values = form.cleaned_data
    try:
        plan = planning.plan(
            program.artifact, values["arguments"], values["parallelism"], values["configuration"]
        )
    except planning.NoPlan as none:
        said = f"\n\n{none.args[1]}" if len(none.args) > 1 and none.args[1] else ""
        form.add_error(None, f"{none.args[0]}{said}")
        return None
    except planning.Busy as busy:
        form.add_error(None, str(busy))
        return None
    return graph.layout(plan)


def _started(request: HttpRequest, form: SubmitForm, program: programs.Program) -> HttpResponse:
    values, user = form.cleaned_data, request.user
    assert isinstance(user, User)
    access.demand(permissions.may_submit(user, values["team"]))
    wish = _Wish(values["name"], program.artifact, values["arguments"], values["parallelism"])
    if form.starts_now:
        job = _submitted(form, wish, user)
        audit.record(request, "job.submit", job, program=program.name)
        messages.success(request, f"{job.name} was submitted.")
        return redirect("dashboard:job", job.pk)
    row = _scheduled(form, wish, user)
    audit.record(request, "schedule.create", row, program=program.name, when=row.when)
    messages.success(request, f"{row.name} is scheduled: {row.when}.")
    return redirect("dashboard:schedules-one", row.pk)


def _submitted(form: SubmitForm, wish: _Wish, user: User) -> Job:
    values = form.cleaned_data
    restore = None
    if values["savepoint"]:
        restore = beginnings.wanted(
            values["savepoint"],
            values["claim_mode"],
            allow_lost=values["allow_non_restored_state"],
        )
    configuration = values["configuration"]
    return actions.submit(
        wish.name,
        wish.artifact,
        wish.arguments,
        wish.parallelism,
        configuration,
        user,
        restore,
        team=values["team"],
    )


def _scheduled(form: SubmitForm, wish: _Wish, user: User) -> Schedule:
    """What it begins with stands in its configuration, as of any schedule."""
    values = form.cleaned_data
    configuration = dict(values["configuration"])
    if values["savepoint"]:
        configuration[beginnings.PATH[0]] = values["savepoint"]
        configuration[beginnings.CLAIM_MODE[0]] = values["claim_mode"]
        if values["allow_non_restored_state"]:
            configuration[beginnings.IGNORE_UNCLAIMED[0]] = "true"
    return schedules.create(
        wish.name,
        (wish.artifact.path.read_bytes(), wish.artifact.name),
        wish.arguments,
        wish.parallelism,
        configuration,
        user,
        team=values["team"],
        **form.times(),
    )


def _page(
    request: HttpRequest,
    form: SubmitForm,
    program: programs.Program | None = None,
    plan: graph.Graph | None = None,
) -> HttpResponse:
    program = program or _chosen(request, form)
    mine = scope.of(request.user).rows(Savepoint.objects.all(), "job__team")
    kept = mine.filter(state=SavepointState.COMPLETED).order_by("-created_at")
    context = {
        "form": form,
        "program": program,
        "graph": plan,
        "overview": Overview(timezone.now()),
        "uploads": uploads.visible(request.user).select_related("uploaded_by", "team")[:100],
        "examples": programs.examples(),
        "savepoints": kept[:PROPOSED],
        "may_upload": "file" in form.fields,
        "delete": DELETE,
        "entries": program.entries if program else (),
    }
    status = 422 if form.errors else 200
    return render(request, "dashboard/submit/page.html", context, status=status)


def _chosen(request: HttpRequest, form: SubmitForm) -> programs.Program | None:
    """What the form names already."""
    name = str(form["program"].value() or "")
    try:
        return programs.find(name, request.user) if name else None
    except (programs.NoProgram, artifacts.UnusableFile):
        return None


@require_http_methods(["GET", "POST"])
@access.only_if(permissions.may_submit_somewhere)
def delete(request: HttpRequest, program: str) -> HttpResponse:
    row = get_object_or_404(uploads.visible(request.user), pk=program)
    access.demand(programs.may_delete(request.user, row))

    def do() -> None:
        audit.record(request, "program.delete", row)
        uploads.remove(row)

    return ask(request, DELETE, row.name, reverse("dashboard:submit"), do)
