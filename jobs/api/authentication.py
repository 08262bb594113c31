"""How programs log in: a token, or name and password. Browsers have their session."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import authentication, exceptions
from rest_framework.request import Request

from jobs import audit, throttling, tokens
from jobs.models import ApiToken


class TokenAuthentication(authentication.BaseAuthentication):
    """`Authorization: Bearer <token>`, or `Token <token>`."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        words = authentication.get_authorization_header(request).split()
        if not words or words[0].lower() not in (b"bearer", b"token"):
            return None
        if len(words) != 2:
            raise exceptions.AuthenticationFailed("The token is missing, or has spaces in it.")
        return self.found(request, words[1].decode("latin-1"))

    def found(self, request: Request, key: str) -> tuple[User, ApiToken]:
        token = tokens.find(key)
        if token is None:
            raise exceptions.AuthenticationFailed(
                "There is no such token, or it has expired. Make one on the page of your account."
            )
        tokens.used(token, audit.address(request))
        user = token.user
        user.headrace_token = token  # type: ignore[attr-defined]
        return user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class BasicAuthentication(authentication.BasicAuthentication):
    """Name and password, as often as `jobs.throttling` lets them be tried. A token in the place of
    the password is a token: some tools know no more than `http://name:password@host`."""

    www_authenticate_realm = "headrace"

    def authenticate_credentials(  # type: ignore[override]
        self, userid: str, password: str, request: Any = None
    ) -> tuple[User, ApiToken | None]:
        if password.startswith(tokens.MARK):
            return self._by_token(request, userid, password)
        if "\0" in userid:  # not every database takes it
            raise exceptions.AuthenticationFailed("Invalid username/password.")
        address = audit.address(request)
        until = throttling.blocked_until(userid, address)
        if until is not None:
            raise exceptions.Throttled(_seconds(until), "Too many failed logins.")
        user, _ = super().authenticate_credentials(userid, password, request)
        throttling.succeeded(userid, address)
        return user, None

    def _by_token(self, request: Any, userid: str, key: str) -> tuple[User, ApiToken]:
        """The name is the owner's, "token", or none: what a tool shows as who is logged in is not
        somebody else."""
        user, token = TokenAuthentication().found(request, key)
        if userid.lower() not in ("", "token", user.get_username().lower()):
            raise exceptions.AuthenticationFailed(
                'The token is not of this account; write "token" in the place of the name.'
            )
        return user, token


def _seconds(until: datetime) -> float:
    return max(1.0, (until - timezone.now()).total_seconds())


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "jobs.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class BasicScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "jobs.api.authentication.BasicAuthentication"
    name = "password"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "basic"}
