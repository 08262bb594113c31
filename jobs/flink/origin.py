"""Whether a request of a browser comes from pages of this server.

Flink's own dashboard sends no CSRF token, and cancels a job by GET. So a session alone is no proof
of who asks: a page elsewhere can make the browser send it. What such a page cannot do is to send
the headers that are looked at here as if it were one of ours.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.settings import api_settings

_SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")


def is_own(request: Request) -> bool:
    """Browsers say where a request is from in `Sec-Fetch-Site`, to servers that are not reached by
    TLS in `Origin` or `Referer`. Nothing said is not proven: "none" is a link in a mail, too."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site == "same-origin"
    source = request.headers.get("Origin") or request.headers.get("Referer") or ""
    try:
        return bool(source) and urlsplit(source).netloc == request.get_host()
    except ValueError:
        return False


class Session(SessionAuthentication):
    """A session counts for what changes something if the request is from one of our pages, or has
    the CSRF token."""

    def enforce_csrf(self, request: Request) -> None:
        if is_own(request):
            return
        if request.method in _SAFE and _changes(request):
            raise PermissionDenied(
                "This changes a job, and the browser does not say that one of this server's own "
                "pages asks for it; use the page, or send a token."
            )
        super().enforce_csrf(request)


def _changes(request: Request) -> bool:
    view = request.parser_context["view"]
    return bool(request.method in getattr(view, "changing", ()))


def classes() -> list[type]:
    """How this API is logged in to: as everywhere else, with the session's rules from above."""
    everywhere: list[type] = list(api_settings.DEFAULT_AUTHENTICATION_CLASSES)  # type: ignore[arg-type]
    return [Session if issubclass(each, SessionAuthentication) else each for each in everywhere]
