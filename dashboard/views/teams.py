"""Teams and their members, and the roles of the cluster."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from dashboard import access
from dashboard.asking import Deed, ask
from dashboard.peopleforms import MemberForm, TeamForm
from jobs import audit, memberships, permissions
from jobs.actions import Conflict
from jobs.models import Job, Membership, Team
from jobs.roles import Role

DELETE = Deed(
    "delete",
    "Delete",
    "trash",
    "team",
    "Its members lose their roles in it, and its secrets and uploaded programs go. A team that "
    "has jobs cannot be deleted.",
    "The team was deleted.",
    colour="bad",
)
TAKE = Deed(
    "take",
    "Take out",
    "trash",
    "member",
    "The person loses this role at once.",
    "The role was taken away.",
    colour="bad",
)


@access.page
def show_all(request: HttpRequest) -> HttpResponse:
    rows = permissions.teams(request.user).annotate(
        people=Count("memberships__user", distinct=True),
        job_count=Count("jobs", filter=Q(jobs__archived_at=None), distinct=True),
    )
    admin = permissions.may_administer(request.user)
    cluster = Membership.objects.filter(team=None).select_related("user") if admin else None
    context = {
        "teams": rows,
        "cluster": cluster,
        "admin": admin,
        "form": MemberForm(),
        "take": TAKE,
        "roles": Role.choices,
    }
    return render(request, "dashboard/teams/page.html", context)


@access.page
def show(request: HttpRequest, pk: int) -> HttpResponse:
    return _page(request, _team(request, pk), MemberForm())


def _page(request: HttpRequest, team: Team, form: MemberForm) -> HttpResponse:
    keeps = permissions.may_administer(request.user, team)
    context = {
        "team": team,
        "members": team.memberships.select_related("user"),
        "form": form if keeps else None,
        "keeps": keeps,
        "deed": DELETE if permissions.may_administer(request.user) else None,
        "take": TAKE,
        "jobs": Job.objects.filter(team=team, archived_at=None).order_by("-created_at")[:20],
    }
    status = 422 if form.errors else 200
    return render(request, "dashboard/teams/one.html", context, status=status)


@require_http_methods(["GET", "POST"])
@access.only_if(permissions.may_administer)
def edit(request: HttpRequest, pk: int | None = None) -> HttpResponse:
    row = get_object_or_404(Team, pk=pk) if pk else Team()
    form = TeamForm(request.POST or None, instance=row)
    if request.method == "POST" and form.is_valid():
        team = form.save()
        audit.record(request, f"team.{'change' if pk else 'create'}", team)
        return redirect("dashboard:teams-one", team.pk)
    status = 422 if form.errors else 200
    context = {"form": form, "team": row if pk else None}
    return render(request, "dashboard/teams/edit.html", context, status=status)


@require_http_methods(["GET", "POST"])
@access.only_if(permissions.may_administer)
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    team = get_object_or_404(Team, pk=pk)

    def do() -> None:
        if Job.objects.filter(team=team).exists() or team.schedules.exists():
            raise Conflict("the team has jobs or schedules; they would be everybody's")
        audit.record(request, "team.delete", team)
        team.delete()

    return ask(request, DELETE, team.name, reverse("dashboard:teams"), do)


@require_http_methods(["POST"])
@access.page
def give(request: HttpRequest, pk: int | None = None) -> HttpResponse:
    """A role in the team, or (no team) in the cluster."""
    team = _team(request, pk) if pk else None
    access.demand(permissions.may_administer(request.user, team))
    form = MemberForm(request.POST)
    if not form.is_valid():
        if team is not None:
            return _page(request, team, form)
        messages.error(request, f"Nothing was changed: {form.words}")
        return redirect("dashboard:teams")
    row = memberships.give(form.user, team, form.role)
    audit.record(request, "membership.give", form.user, team=str(team or ""), role=form.role.label)
    messages.success(request, f"{row.user} is {row.role_info.label} of {team or 'the cluster'}.")
    return redirect(_back(team))


@require_http_methods(["GET", "POST"])
@access.page
def take(request: HttpRequest, pk: int) -> HttpResponse:
    row = Membership.objects.select_related("user", "team").filter(pk=pk).first()
    if row is None or (row.team and not permissions.teams(request.user).filter(pk=row.team.pk)):
        raise Http404("no such membership")
    access.demand(permissions.may_administer(request.user, row.team))

    def do() -> None:
        memberships.take(row)
        audit.record(request, "membership.take", row.user, team=str(row.team or ""))

    return ask(request, TAKE, str(row.user), _back(row.team), do)


def _team(request: HttpRequest, pk: int) -> Team:
    return get_object_or_404(permissions.teams(request.user), pk=pk)


def _back(team: Team | None) -> str:
    return reverse("dashboard:teams-one", args=[team.pk]) if team else reverse("dashboard:teams")
