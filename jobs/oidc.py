"""Login at an OpenID provider, when one is configured: authorization code with PKCE; the provider's
keys check the ID token. Who comes back is known by the provider's id, never by name alone."""

from __future__ import annotations

from typing import Any

from authlib.integrations.base_client import OAuthError
from authlib.integrations.django_client import OAuth
from django.conf import settings
from django.contrib import auth, messages
from django.contrib.auth.models import User
from django.core.exceptions import SuspiciousOperation
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET
from structlog import get_logger

from jobs import audit, group_roles, memberships
from jobs.models import OpenIdAccount
from jobs.roles import Role

log = get_logger(__name__)
_NEXT = "headrace_oidc_next"
_BACKEND = "django.contrib.auth.backends.ModelBackend"
#: Seconds for an answer of the provider.
_TIMEOUT = 10
#: Seconds for a person to log in there: whoever asks to is remembered no longer than that.
_UNDER_WAY = 3600


class Refused(Exception):
    """This person does not get in; `args[0]` says why."""


def button() -> str:
    """The words on the button to the provider; "" where none is configured."""
    return str(settings.HEADRACE_OIDC_NAME) if settings.HEADRACE_OIDC_ISSUER else ""


def _client() -> Any:
    if not settings.HEADRACE_OIDC_ISSUER:
        raise Http404("no OpenID provider is configured")
    oauth = OAuth()
    oauth.register(
        "provider",
        client_id=settings.HEADRACE_OIDC_CLIENT_ID,
        client_secret=settings.HEADRACE_OIDC_CLIENT_SECRET or None,
        server_metadata_url=(
            settings.HEADRACE_OIDC_ISSUER.rstrip("/") + "/.well-known/openid-configuration"
        ),
        client_kwargs={
            "scope": settings.HEADRACE_OIDC_SCOPES,
            "code_challenge_method": "S256",
            "timeout": _TIMEOUT,
        },
    )
    return oauth.create_client("provider")


@require_GET
def begin(request: HttpRequest) -> HttpResponseBase:
    """To the provider. `?next=` is where the person wants to go afterwards."""
    client = _client()
    wish = request.GET.get("next", "")
    inside = url_has_allowed_host_and_scheme(wish, {request.get_host()}, request.is_secure())
    request.session[_NEXT] = wish if inside else ""
    if not request.user.is_authenticated:
        request.session.set_expiry(_UNDER_WAY)
    try:
        answer: HttpResponseBase = client.authorize_redirect(
            request, request.build_absolute_uri(reverse("oidc-callback"))
        )
    except Exception as error:  # whatever a network and a foreign server can do
        return _failed(request, "The login provider does not answer; try again later.", error)
    return answer


@require_GET
def callback(request: HttpRequest) -> HttpResponseBase:
    """Back from the provider."""
    client = _client()
    try:
        _only_signed(client)
        claims = _claims(client, client.authorize_access_token(request))
    except (OAuthError, KeyError) as error:
        return _failed(request, "The login was not completed; begin it again.", error)
    except Exception as error:  # as in `begin`
        return _failed(request, "The login provider does not answer; try again later.", error)
    try:
        user = account(claims)
    except Refused as error:
        return _failed(request, str(error), error)
    target = request.session.pop(_NEXT, "") or settings.LOGIN_REDIRECT_URL
    request.session.set_expiry(None)
    auth.login(request, user, _BACKEND)
    return redirect(target)


def _only_signed(client: Any) -> None:
    """ID tokens that anybody could have made count for nothing, whatever the provider lists: those
    without a signature, and those signed with what clients know too."""
    metadata = client.load_server_metadata()
    name = "id_token_signing_alg_values_supported"
    listed = metadata.get(name) or ["RS256"]
    metadata[name] = [each for each in listed if each != "none" and not each.startswith("HS")]


def _claims(client: Any, token: dict[str, Any]) -> dict[str, Any]:
    """Those of the ID token; what the platform needs and is not in it, from the provider's page
    about the person. Raises OAuthError when that is about somebody else, or for another client."""
    claims = dict(token["userinfo"])
    audience = claims.get("aud")
    if settings.HEADRACE_OIDC_CLIENT_ID not in (
        audience if isinstance(audience, list) else [audience]
    ):
        raise OAuthError(description="the ID token is for another client")
    needed = (settings.HEADRACE_OIDC_USERNAME_CLAIM, settings.HEADRACE_OIDC_GROUPS_CLAIM)
    if all(name in claims for name in needed):
        return claims
    if not client.load_server_metadata().get("userinfo_endpoint"):
        return claims
    more = dict(client.userinfo(token=token))
    if more.get("sub") != claims.get("sub"):
        raise OAuthError(description="the provider tells of another person")
    return {**more, **claims}


def account(claims: dict[str, Any]) -> User:
    """The account of a person, made at the first login; its roles follow the groups. Raises
    Refused."""
    groups = group_roles.groups_of(claims, settings.HEADRACE_OIDC_GROUPS_CLAIM)
    needed = set(settings.HEADRACE_OIDC_REQUIRED_GROUPS)
    if needed and not needed & groups:
        raise Refused("Your account is in none of the groups that may log in here.")
    issuer, subject = str(claims.get("iss") or ""), str(claims.get("sub") or "")
    if not issuer or not subject:
        raise SuspiciousOperation("an ID token without issuer or subject")
    with transaction.atomic():
        known = OpenIdAccount.objects.select_related("user")
        row = known.filter(issuer=issuer, subject=subject).first()
        user = row.user if row is not None else _new(claims, issuer, subject)
        if not user.is_active:
            raise Refused("This account is closed.")
        brought = group_roles.granted(groups, settings.HEADRACE_OIDC_ROLES)
        memberships.from_provider(user, {team: Role.named(word) for team, word in brought.items()})
    return user


def _new(claims: dict[str, Any], issuer: str, subject: str) -> User:
    asked = str(claims.get(settings.HEADRACE_OIDC_USERNAME_CLAIM) or subject)
    name = User.normalize_username(asked)[:150]
    user = User.objects.filter(username__iexact=name).first()
    if user is not None and (
        not _may_link(claims) or OpenIdAccount.objects.filter(user=user).exists()
    ):
        raise Refused(f"There is another account called {name} here; ask an admin to link it.")
    if user is None:
        user = User.objects.create_user(
            name,
            email=str(claims.get("email") or "")[:254],
            first_name=str(claims.get("given_name") or "")[:150],
            last_name=str(claims.get("family_name") or "")[:150],
        )
    OpenIdAccount.objects.create(user=user, issuer=issuer, subject=subject)
    return user


def _may_link(claims: dict[str, Any]) -> bool:
    """An address of which nobody has proven that it is theirs is no name of an account."""
    by_mail = settings.HEADRACE_OIDC_USERNAME_CLAIM == "email"
    proven = claims.get("email_verified") is True
    return bool(settings.HEADRACE_OIDC_LINK_ACCOUNTS) and (proven or not by_mail)


def _failed(request: HttpRequest, words: str, error: Exception) -> HttpResponseBase:
    log.warning("a login at the OpenID provider failed", why=str(error), kind=type(error).__name__)
    audit.record(
        request, "login", "OpenID provider", result=audit.Result.FAILED, via=audit.Via.LOGIN
    )
    messages.error(request, words)
    return redirect("login")
