"""One's own account: tokens, password, browsers that are logged in."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from dashboard import access
from dashboard.asking import Deed, ask
from dashboard.peopleforms import TokenForm
from jobs import audit, options, permissions, sign_ins, tokens
from jobs.models import ApiToken, SignIn

REVOKE = Deed(
    "revoke",
    "Revoke",
    "trash",
    "token",
    "Whatever uses it is refused from now on. This cannot be taken back.",
    "The token was revoked.",
    colour="bad",
)
END = Deed(
    "end",
    "Log out",
    "stop",
    "browser",
    "That browser has to log in again.",
    "That browser is logged out.",
)
END_OTHERS = Deed(
    "end-others",
    "Log out",
    "stop",
    "browsers",
    "All browsers but this one have to log in again.",
    "All other browsers are logged out.",
)


@access.page
def show(request: HttpRequest) -> HttpResponse:
    return _page(request, TokenForm(user=_me(request)))


def _page(
    request: HttpRequest, form: TokenForm, key: str = "", made: ApiToken | None = None
) -> HttpResponse:
    me = _me(request)
    sessions = list(sign_ins.of(me).order_by("-created_at")[:50])
    context = {
        "form": form,
        "key": key,
        "made": made,
        "tokens": ApiToken.objects.filter(user=me).select_related("team"),
        "revoke": REVOKE,
        "sessions": [(row, row.session_key == request.session.session_key) for row in sessions],
        "end": END,
        "end_others": END_OTHERS,
        "rights": permissions.rights(me),
        "memberships": me.headrace_memberships.select_related("team"),
        "asks": True,
    }
    status = 422 if form.errors else 200
    return render(request, "dashboard/account/page.html", context, status=status)


@require_http_methods(["POST"])
@access.page
def create_token(request: HttpRequest) -> HttpResponse:
    """The token stands in this answer and nowhere else."""
    me = _me(request)
    form = TokenForm(request.POST, user=me)
    if not form.is_valid():
        return _page(request, form)
    try:
        row, key = tokens.create(me, form.cleaned_data["name"], **form.wish())
    except options.InvalidOption as refused:
        form.add_error(None, str(refused))
        return _page(request, form)
    audit.record(request, "token.create", row, role=row.role, expires_at=row.expires_at)
    return _page(request, TokenForm(user=me), key, row)


@require_http_methods(["GET", "POST"])
@access.page
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    row = get_object_or_404(ApiToken, pk=pk, user=_me(request))

    def do() -> None:
        audit.record(request, "token.revoke", row)
        tokens.revoke(row)

    return ask(request, REVOKE, row.name, reverse("dashboard:account"), do)


@require_http_methods(["GET", "POST"])
@access.page
def end_session(request: HttpRequest, pk: int) -> HttpResponse:
    row = get_object_or_404(SignIn, pk=pk, user=_me(request))

    def do() -> None:
        sign_ins.end(row)
        audit.record(request, "session.end", str(row))

    return ask(request, END, row.address or "a browser", reverse("dashboard:account"), do)


@require_http_methods(["GET", "POST"])
@access.page
def end_other_sessions(request: HttpRequest) -> HttpResponse:
    def do() -> None:
        ended = sign_ins.end_others(_me(request), request.session.session_key or "")
        audit.record(request, "session.end-others", _me(request), ended=ended)

    return ask(request, END_OTHERS, "all others", reverse("dashboard:account"), do)


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
@access.page
def password(request: HttpRequest) -> HttpResponse:
    """Not for accounts that log in by a provider: they have none here."""
    me = _me(request)
    access.demand(me.has_usable_password())
    form = PasswordChangeForm(me, request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.save()
        update_session_auth_hash(request, me)
        audit.record(request, "account.password", me)
        messages.success(request, "Your password was changed; other browsers are logged out.")
        return redirect("dashboard:account")
    status = 422 if form.errors else 200
    return render(request, "dashboard/account/password.html", {"form": form}, status=status)


def _me(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
