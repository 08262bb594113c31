"""A live page is made of regions: named fragments of HTML that the server renders and the
browser exchanges one by one. The first page and every update come from the same templates.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.template.loader import get_template
from django.utils import timezone
from django.utils.safestring import SafeString

#: Clocks run on in the browser; that alone is no news.
_CLOCKS = re.compile(r"(<time[^>]*>)[^<]*")


@dataclass(frozen=True, slots=True)
class Region:
    """One fragment. `template` is rendered with the page's context when it is shown; `about` is
    the part of the subject that it shows, where a page is about a part (a vertex's id)."""

    name: str
    template: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Fragment:
    html: SafeString
    digest: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a page shows at one moment. `newest` counts the charts' data: when it changes, there
    are new points to ask for."""

    title: str
    fragments: Mapping[str, Fragment]
    newest: int = 0
    at: int = field(default_factory=lambda: int(timezone.now().timestamp() * 1000))

    def changed(self, seen: Mapping[str, str]) -> dict[str, str]:
        """Name to HTML of the regions whose digest is not the one in `seen`."""
        return {
            name: fragment.html
            for name, fragment in self.fragments.items()
            if seen.get(name) != fragment.digest
        }

    def only(self, regions: Iterable[Region]) -> Snapshot:
        """What a page with these regions shows of it."""
        names = {region.name for region in regions}
        kept = {name: each for name, each in self.fragments.items() if name in names}
        return replace(self, fragments=kept)

    def digests(self) -> dict[str, str]:
        return {name: fragment.digest for name, fragment in self.fragments.items()}

    def html(self) -> dict[str, SafeString]:
        return {name: fragment.html for name, fragment in self.fragments.items()}


def render(regions: Iterable[Region], context: Mapping[str, Any]) -> dict[str, Fragment]:
    return {region.name: _fragment(region, context) for region in regions}


def _fragment(region: Region, context: Mapping[str, Any]) -> Fragment:
    values = {**context, "about": region.about}
    html = SafeString(get_template(region.template).render(values))
    lasting = _CLOCKS.sub(r"\1", html)
    return Fragment(html, hashlib.blake2s(lasting.encode(), digest_size=8).hexdigest())
