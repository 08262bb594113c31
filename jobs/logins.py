"""Logging in with name and password: as often as `jobs.throttling` lets it be tried, and written
into the audit log."""

from __future__ import annotations

import math
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth import views
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.core.exceptions import ValidationError
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from jobs import audit, oidc, sign_ins, throttling


class LoginForm(AuthenticationForm):
    """Says when to try again."""

    def clean(self) -> dict[str, Any]:
        name = self.cleaned_data.get("username") or ""
        until = throttling.blocked_until(name, _address(self.request))
        if until is None:
            return super().clean()
        minutes = math.ceil((until - timezone.now()).total_seconds() / 60)
        wait = "in a minute" if minutes <= 1 else f"in {minutes} minutes"
        raise ValidationError(
            f"Too many failed logins: try again {wait}, at {until:%H:%M:%S} UTC. "
            "Nothing is wrong with the account; logins that are open go on.",
            code="throttled",
        )


def _address(request: HttpRequest | None) -> str:
    return audit.address(request) if request is not None else ""


class LoginView(views.LoginView):
    """Its page knows of `oidc_name`: the words on the button to the OpenID provider, if any."""

    form_class = LoginForm
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(oidc_name=oidc.button(), **kwargs)

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        answer = super().form_invalid(form)
        if form.has_error("__all__", "throttled"):
            answer.status_code = 429
        return answer


def at_the_console(request: HttpRequest) -> HttpResponse:
    """The admin console has no login of its own."""
    wish = request.GET.get("next", "/admin/")
    return redirect(f"{reverse('login')}?{urlencode({'next': wish})}")


@receiver(user_login_failed)
def _failed(
    sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any
) -> None:
    if request is None:
        return
    # Django's own: to ask DRF's for its user would try the password again.
    request = getattr(request, "_request", request)
    name = str(credentials.get("username") or "")
    throttling.failed(name, audit.address(request))
    # Not what was typed: people type their password there.
    known = User.objects.filter(username=name).first()
    audit.record(
        request,
        "login",
        known or "unknown account",
        result=audit.Result.FAILED,
        user=known,
        via=audit.Via.LOGIN,
    )


@receiver(user_logged_in)
def _logged_in(sender: Any, request: HttpRequest, user: User, **_: Any) -> None:
    throttling.succeeded(user.get_username(), audit.address(request))
    sign_ins.note(request, user)
    audit.record(request, "login", user, user=user, via=audit.Via.LOGIN)


@receiver(user_logged_out)
def _logged_out(sender: Any, request: HttpRequest, user: User | None, **_: Any) -> None:
    if user is not None:
        audit.record(request, "logout", user, user=user, via=audit.Via.LOGIN)
