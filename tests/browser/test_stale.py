"""A page that hears nothing says so, since when, and comes back by itself."""

from __future__ import annotations

from django.contrib.auth.models import User
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Web, open_context
from tests.service import pages


def test_the_web_process_goes_away_and_comes_back(
    chromium: Browser, own_web: Web, alice: User
) -> None:
    job = pages.make_job()
    attempt = pages.make_attempt(job)
    pages.make_checkpoint(attempt, 1)
    context = open_context(chromium, own_web, alice)
    page = context.new_page()
    page.goto(f"/jobs/{job.pk}/")
    state, notice = page.locator("#link-state"), page.locator("#stale")
    expect(state).to_have_text("Live")
    expect(notice).to_be_hidden()
    page.evaluate("window.sameDocument = true")

    own_web.kill()
    expect(notice).to_contain_text("Connection lost. The page shows what was known at")
    expect(notice).to_contain_text("s ago)")
    expect(state).to_have_text("Connection lost")

    pages.make_checkpoint(attempt, 2)
    own_web.start()
    expect(notice).to_be_hidden(timeout=60_000)
    expect(state).to_have_text("Live", timeout=60_000)
    expect(page.locator(".gauge", has_text="Last checkpoint")).to_contain_text("2")
    assert page.evaluate("window.sameDocument")
    context.close()


def test_where_streams_do_not_come_through_the_page_asks(
    chromium: Browser, own_web: Web, alice: User
) -> None:
    job = pages.make_job()
    attempt = pages.make_attempt(job)
    context = open_context(chromium, own_web, alice)
    page = context.new_page()
    # A proxy that lets no event stream through.
    page.route(
        "**/live/**",
        lambda route: route.continue_() if "poll" in route.request.url else route.abort(),
    )
    page.goto(f"/jobs/{job.pk}/")
    expect(page.locator("#link-state")).to_have_text("Live, by polling", timeout=60_000)
    pages.make_checkpoint(attempt, 9)
    expect(page.locator(".gauge", has_text="Last checkpoint")).to_contain_text("9")
    expect(page.locator("#stale")).to_be_hidden()
    context.close()
