"""Nobody sees anything before the login, which leads back to where one wanted to go."""

from __future__ import annotations

import re

from django.contrib.auth.models import User
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Watched, Web


def test_the_way_in_and_out(chromium: Browser, web: Web, alice: User, watched: Watched) -> None:
    context = chromium.new_context(base_url=web.url)
    page = context.new_page()
    watched.watch(page)
    page.goto("/jobs/?state=FAILED")
    expect(page).to_have_url(re.compile(r"/login/\?next="))

    page.get_by_label("Name").fill("alice")
    page.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("do not match an account")

    page.get_by_label("Password").fill("alice-password")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{web.url}/jobs/?state=FAILED")

    page.get_by_text("alice", exact=True).click()
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_url(re.compile(r"/login/"))
    context.close()


def test_a_login_that_has_ended_says_so(chromium: Browser, web: Web, alice: User) -> None:
    from tests.browser.conftest import open_context

    context = open_context(chromium, web, alice)
    page = context.new_page()
    page.goto("/")
    expect(page.locator("#link-state")).to_have_attribute("data-state", "live")
    context.clear_cookies()
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(page.locator("#stale")).to_contain_text("Your login has ended", timeout=60_000)
    page.get_by_role("link", name="Log in again").click()
    expect(page).to_have_url(re.compile(r"/login/"))
    context.close()
