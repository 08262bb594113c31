"""Every page at 1600 and at 400 pixels, light and dark: nothing sticks out, nothing fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from headrace.wire import rundir
from jobs.models import Job
from jobs.states import JobState
from tests.browser.conftest import Watched, Web, open_context
from tests.service import pages

TABS = ("checkpoints", "exceptions", "kafka", "log", "attempts", "events", "configuration")

CONTRAST = Path(__file__).with_name("contrast.js").read_text()


@pytest.fixture
def job(alice: User, tmp_path: Path) -> Job:
    """A job with something on each of its pages, long names included."""
    job = pages.make_job(
        "sessions of clicks with a name that is long enough to break any layout " + "x" * 60,
        restarts=3,
        waiting_for="",
        arguments=["--a-rather-long-argument=" + "y" * 80],
        configuration={"execution.checkpointing.interval.and.more": "z" * 90},
    )
    failed, running = pages.make_attempt(job, 1), pages.make_attempt(job, 2, tmp_path)
    failed.error = "KafkaError: " + "no-spaces-in-here" * 20
    failed.save()
    (tmp_path / rundir.LOG).write_text("INFO " + "w" * 700 + "\n" + "ERROR short\n" * 90)
    for number in range(1, 60):
        pages.make_checkpoint(running, number, age=60 - number)
    pages.make_failure(failed, failed.error, "Traceback\n  " + "deep" * 90)
    pages.make_taskmanager(slots=4, taken_by=job)
    pages.make_taskmanager("a-taskmanager-with-a-long-name-" + "n" * 40)
    pages.make_job("waits", JobState.CREATED, waiting_for="needs 9 slots; 5 are free. " * 4)
    pages.make_job("done", JobState.FINISHED, started_at=timezone.now(), ended_at=timezone.now())
    return job


def addresses(job: Job) -> list[str]:
    return [
        *("/", "/jobs/", "/jobs/?q=nothing", "/submit/", f"/jobs/{job.pk}/"),
        *(f"/jobs/{job.pk}/{tab}/" for tab in TABS),
        *(f"/jobs/{job.pk}/checkpoints/7/", f"/jobs/{job.pk}/act/cancel/"),
    ]


def check(page: Page, what: str) -> None:
    sticks_out: Any = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert sticks_out <= 0, f"{what} scrolls sideways by {sticks_out} pixels"
    assert page.evaluate(CONTRAST) == [], what


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1600, 400])
def test_every_page(
    width: int,
    scheme: str,
    chromium: Browser,
    web: Web,
    alice: User,
    job: Job,
    watched: Watched,
) -> None:
    context = open_context(
        chromium, web, alice, viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    page = context.new_page()
    watched.watch(page)
    for address in addresses(job):
        page.goto(address)
        if page.locator("#link-state").count():
            expect(page.locator("#link-state")).to_have_attribute("data-state", "live")
        check(page, f"{address} at {width}, {scheme}")
    context.close()


def test_pages_outside_the_login(chromium: Browser, web: Web) -> None:
    context = chromium.new_context(base_url=web.url, viewport={"width": 400, "height": 800})
    page = context.new_page()
    for address in ("/login/", "/nowhere/"):
        page.goto(address)
        check(page, address)
    context.close()


def test_the_colours_can_be_chosen_and_stay(page: Page) -> None:
    def ground() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    page.goto("/")
    light = ground()
    toggle = page.locator("#theme")
    toggle.click()
    expect(toggle).to_have_attribute("title", "Colours: light")
    toggle.click()
    expect(toggle).to_have_attribute("title", "Colours: dark")
    dark = ground()
    assert dark != light
    page.reload()
    assert ground() == dark


def test_the_keyboard_skips_to_the_content(page: Page) -> None:
    page.goto("/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_charts_hold_a_range_however_long_the_page_is_open(page: Page) -> None:
    page.goto("/")
    held = page.evaluate(
        """async () => {
          const { Columns } = await import("/static/dashboard/js/columns.js");
          const columns = new Columns();
          let most = 0;
          for (let t = 3; t <= 86_400; t += 3) {
            columns.take({
              now: t * 1000, range: 900, bucket: 3000, attempts: [[t, t]],
              series: { t: [t - 3, t], lag: [1, 2] },
            }, t === 3);
            most = Math.max(most, columns.table.lag.length, columns.attempts.size);
          }
          return [most, columns.newest, columns.table.lag.slice(-2)];
        }"""
    )
    assert held[0] <= 303
    assert held[1:] == [86_400, [1, 2]]
