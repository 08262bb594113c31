"""Every address of the web process, from the url patterns: a new one cannot be forgotten."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_SAFE = ("GET", "HEAD", "OPTIONS")
#: Mounted twice more: the same views (`test_prefixes_lead_to_the_same_views`).
PREFIXES = ("v1/", "flink/")
#: Has tests of its own (`test_admin_pages.py`).
CONSOLE = "admin/"


@dataclass(frozen=True)
class Address:
    """A url pattern: `route` is its path with names in place of what varies."""

    route: str
    view: Any

    @property
    def parts(self) -> list[str]:
        return re.findall(r"<(\w+)>", self.route)

    def at(self, values: dict[str, str]) -> str:
        return "/" + re.sub(r"<(\w+)>", lambda found: values[found[1]], self.route)

    @property
    def methods(self) -> list[str]:
        """Those that the view may have."""
        actions = getattr(self.view, "actions", None)
        if actions is not None:
            return [name for name in METHODS if name.lower() in actions]
        cls = getattr(self.view, "cls", None) or getattr(self.view, "view_class", None)
        if cls is not None:
            return [name for name in METHODS if hasattr(cls, name.lower())]
        return ["GET", "POST"]

    @property
    def is_flinks(self) -> bool:
        return not self.route.endswith("/") and self.route != ""


def everywhere() -> list[Address]:
    found = [Address(_readable(route), pattern.callback) for route, pattern in _walk()]
    return [address for address in found if not re.search(r"[*?\[\]]", address.route)]


def own() -> list[Address]:
    """Without the prefixes and the admin console."""
    return [a for a in everywhere() if not a.route.startswith((*PREFIXES, CONSOLE))]


def _walk(
    patterns: list[URLPattern | URLResolver] | None = None, prefix: str = ""
) -> Iterator[tuple[str, URLPattern]]:
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield route, pattern
        else:
            yield from _walk(pattern.url_patterns, route)


def _readable(route: str) -> str:
    """`^jobs/(?P<pk>[^/.]+)/$` is `jobs/<pk>/`."""
    route = re.sub(r"\(\?P(<\w+>)(?:\[[^\]]*\]|[^()\[\]])*\)", r"\1", route)
    route = re.sub(r"<\w+:(\w+)>", r"<\1>", route)
    return route.replace("^", "").replace("$", "")
