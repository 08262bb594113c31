"""Secrets that jobs are given: their names. Values go in and never come out."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from dashboard import access
from dashboard.asking import Deed, ask
from dashboard.peopleforms import SecretForm
from jobs import audit, job_secrets, options, permissions
from jobs.models import Secret
from jobs.roles import Role

DELETE = Deed(
    "delete",
    "Delete",
    "trash",
    "secret",
    "Jobs that name it are refused at their next start; drivers that run keep it until then.",
    "The secret was deleted.",
    colour="bad",
)


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
@access.page
def show(request: HttpRequest) -> HttpResponse:
    """POST makes one, or gives one another value."""
    access.demand(permissions.may_submit_somewhere(request.user))
    form = SecretForm(request.POST or None, user=request.user) if _keeps(request) else None
    if request.method == "POST":
        access.demand(form is not None)
        if form is not None and form.is_valid() and _kept(request, form):
            return redirect("dashboard:secrets")
    mine = permissions.of_visible(Secret.objects.select_related("team", "created_by"), request.user)
    context = {
        "secrets": [(row, permissions.may_administer(request.user, row.team)) for row in mine],
        "form": form,
        "key": job_secrets.KEY,
        "variable": job_secrets.VARIABLE,
        "delete": DELETE,
    }
    status = 422 if form is not None and form.errors else 200
    return render(request, "dashboard/secrets.html", context, status=status)


def _keeps(request: HttpRequest) -> bool:
    """Whether there are any that the reader may write."""
    if permissions.may_administer(request.user):
        return True
    return permissions.teams(request.user, Role.ADMIN).exists()


def _kept(request: HttpRequest, form: SecretForm) -> bool:
    values = form.cleaned_data
    access.demand(permissions.may_administer(request.user, values["team"]))
    user = request.user if isinstance(request.user, User) else None
    try:
        row = job_secrets.keep(
            values["name"], values["value"], values["team"], user, values["description"]
        )
    except options.InvalidOption as refused:
        form.add_error(None, str(refused))
        return False
    audit.record(request, "secret.keep", row)
    messages.success(request, f"{row.name} is kept, encrypted; it is not shown again.")
    return True


@require_http_methods(["GET", "POST"])
@access.page
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    mine = permissions.of_visible(Secret.objects.select_related("team"), request.user)
    row = get_object_or_404(mine, pk=pk)
    access.demand(permissions.may_administer(request.user, row.team))

    def do() -> None:
        audit.record(request, "secret.delete", row)
        row.delete()

    return ask(request, DELETE, row.name, reverse("dashboard:secrets"), do)
