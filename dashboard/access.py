"""Who may see a page, and what a browser may load on it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase

#: Everything comes from this server; nothing is inline.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)

View = Callable[..., HttpResponseBase]


def strict(view: View) -> View:
    """The view, its answer under the content security policy and never kept by a cache."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # A zero byte is in no row, and PostgreSQL refuses to look for it.
        if "\x00" in request.path_info:
            raise Http404("nothing has such a name")
        response = view(request, *args, **kwargs)
        response["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
        response["Cache-Control"] = "no-store"
        return response

    return guarded


def page(view: View) -> View:
    """A page: under the policy, for people who are logged in."""
    return strict(login_required(view))


def only_if(right: Callable[[Any], bool]) -> Callable[[View], View]:
    """A page for people who are logged in and have this right of `jobs.permissions`."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not right(request.user):
                raise PermissionDenied
            return view(request, *args, **kwargs)

        return page(guarded)

    return decorate


def demand(right: bool) -> None:
    """Raises PermissionDenied without it."""
    if not right:
        raise PermissionDenied
