"""Every page at 1600 and at 400 pixels, light and dark: nothing fails, nothing sticks out, nothing
comes from elsewhere, and axe finds nothing serious."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import Watched, Web, open_context
from tests.service import everything

AXE = (Path(__file__).parent / "vendor" / "axe-core-4.14.1" / "axe.min.js").read_text()
#: What WCAG 2.2 asks for at levels A and AA.
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
WIDE, NARROW = {"width": 1600, "height": 900}, {"width": 400, "height": 900}
PARTS = 4

FIND = """async ([tags, only]) => {
  const run = only ? { type: "rule", values: only } : { type: "tag", values: tags };
  const found = await axe.run(document, { runOnly: run, resultTypes: ["violations"] });
  return found.violations
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .flatMap((one) => one.nodes.slice(0, 3).map((node) => `${one.id}: ${node.html.slice(0, 160)}`));
}"""

#: What a mouse can use and the keyboard cannot reach, or without a sign that it is there.
UNREACHABLE = """() => {
  const all = document.querySelectorAll("a[href], button, input, select, textarea, summary");
  return [...all].filter((element) => {
    const skipped = element.disabled || element.type === "hidden" || !element.checkVisibility();
    if (skipped || element.closest("[inert]")) return false;
    element.focus({ focusVisible: true, preventScroll: true });
    const style = getComputedStyle(element);
    return document.activeElement !== element || element.tabIndex < 0
      || (style.outlineStyle === "none" && style.boxShadow === "none");
  }).map((element) => element.outerHTML.slice(0, 160));
}"""


#: The page has heard of its new size, and is drawn anew.
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.fixture
def window(
    chromium: Browser, web: Web, alice: User, watched: Watched
) -> Iterator[tuple[BrowserContext, Page]]:
    context = open_context(chromium, web, alice, viewport=WIDE, color_scheme="light")
    page = context.new_page()
    watched.watch(page)
    yield context, page
    context.close()


@pytest.mark.parametrize("part", range(PARTS))
def test_every_page(
    part: int, window: tuple[BrowserContext, Page], alice: User, tmp_path: Path, watched: Watched
) -> None:
    _, page = window
    found = list(everything.make(alice, tmp_path).pages())
    assert len(found) > 60
    problems = []
    for name, address in found[part::PARTS]:
        problems += [f"{name} ({address}): {one}" for one in visit(page, address)]
        problems += [f"{name} ({address}): {error}" for error in watched.errors]
        watched.errors.clear()
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


def visit(page: Page, address: str) -> list[str]:
    """What is wrong with it."""
    answer = page.goto(address)
    if answer is None or not answer.ok:
        return [f"answers {answer.status if answer else 'nothing'}"]
    if page.locator("#link-state").count():
        expect(page.locator("#link-state")).to_have_attribute("data-state", "live")
    page.evaluate(AXE)
    problems = [*axe(page), *(f"not reached: {one}" for one in page.evaluate(UNREACHABLE))]
    problems += sideways(page)
    problems += [f"dark: {one}" for one in in_colours(page, "dark", ["color-contrast"])]
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    page.evaluate(DRAWN)
    problems += [f"narrow: {one}" for one in (*sideways(page), *in_colours(page, "light", None))]
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    return problems


def in_colours(page: Page, scheme: Literal["light", "dark"], rules: list[str] | None) -> list[str]:
    page.emulate_media(color_scheme=scheme)
    return axe(page, rules)


def axe(page: Page, rules: list[str] | None = None) -> list[str]:
    return list(page.evaluate(FIND, [TAGS, rules]))


def sideways(page: Page) -> list[str]:
    root = "document.documentElement"
    over: Any = page.evaluate(f"{root}.scrollWidth - {root}.clientWidth")
    return [f"scrolls sideways by {over} pixels"] if over > 0 else []


def test_pages_outside_the_login(chromium: Browser, web: Web, watched: Watched) -> None:
    context = chromium.new_context(base_url=web.url, viewport={"width": 400, "height": 800})
    page = context.new_page()
    watched.watch(page)
    for address in ("/login/", "/nowhere/"):
        page.goto(address)
        page.evaluate(AXE)
        assert [*axe(page), *sideways(page)] == []
    watched.errors.clear()  # the second is not found, as it should be
    context.close()
