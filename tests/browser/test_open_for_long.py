"""A page that is open for a day: thousands of updates leave nothing behind in the browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import CDPSession, Page, expect

from jobs.models import Job
from jobs.states import JobState, change_state
from tests.service import busy_job, pages

#: An event stream that the test feeds: the real one says something once a second.
FED = """
  window.EventSource = class extends EventTarget {
    constructor() { super(); window.fed = this; }
    close() {}
  };
"""
#: Gives the page each of these answers in turn, so many times.
FEED = """async ([answers, times]) => {
  for (let n = 0; n < times; n++) {
    const news = { ...answers[n % answers.length], at: Date.now() };
    window.fed.dispatchEvent(new MessageEvent("regions", { data: JSON.stringify(news) }));
    if (n % 50 === 0) await new Promise((resolve) => setTimeout(resolve));
  }
}"""
UPDATES = 600


def held(session: CDPSession) -> dict[str, float]:
    """What the browser holds: nodes, listeners, bytes."""
    session.send("HeapProfiler.collectGarbage")
    metrics = session.send("Performance.getMetrics")["metrics"]
    return {each["name"]: each["value"] for each in metrics}


def answer(page: Page) -> dict[str, Any]:
    """The page's regions as they are now."""
    found: dict[str, Any] = page.evaluate(
        """async () => {
          const address = new URL(document.getElementById("main").dataset.live, location.href);
          address.searchParams.set("poll", "");
          return (await fetch(address)).json();
        }"""
    )
    return found


@pytest.mark.parametrize("where", ["/", "/jobs/?size=200", "/jobs/{id}/", "/jobs/{id}/exceptions/"])
def test_an_open_page_does_not_grow(where: str, page: Page) -> None:
    job = busy_job.make()
    page.add_init_script(FED)
    page.goto(where.format(id=job.pk))
    expect(page.get_by_role("heading").first).to_be_visible()
    answers = [answer(page)]
    happens(job)
    answers.append(answer(page))
    assert answers[0]["regions"] != answers[1]["regions"]
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    page.evaluate(FEED, [answers, 100])

    before = held(session)
    page.evaluate(FEED, [answers, UPDATES])
    after = held(session)

    assert after["Nodes"] <= before["Nodes"] + 200
    assert after["JSEventListeners"] <= before["JSEventListeners"] + 20
    assert after["JSHeapUsedSize"] <= before["JSHeapUsedSize"] + 2_000_000
    expect(page.locator("#link-state")).to_have_text("Live")


def happens(job: Job) -> None:
    attempt = job.attempts.order_by("-number").first()
    assert attempt is not None
    for number in range(61, 71):
        pages.make_checkpoint(attempt, number, duration=10 * number)
    pages.make_failure(attempt, "something else", "Traceback\n  of it")
    for number in range(20):
        pages.make_job(f"another {number}", state=JobState.FAILED)
    change_state(job, JobState.RESTARTING)


def test_updates_keep_focus_selection_scroll_and_what_is_open(page: Page) -> None:
    job = busy_job.make()
    page.set_viewport_size({"width": 700, "height": 500})
    page.add_init_script(FED)
    page.goto(f"/jobs/{job.pk}/")
    answers = [answer(page)]
    happens(job)
    answers.append(answer(page))
    page.evaluate(
        """() => {
          const box = document.querySelector(".graph-box");
          box.scrollLeft = 120;
          document.querySelector(".graph-box svg a:nth-of-type(2)").focus({ preventScroll: true });
          getSelection().selectAllChildren(document.querySelector("h1").firstChild.parentNode);
          window.scrollTo(0, 300);
          window.kept = [box, document.activeElement];
        }"""
    )
    before = page.evaluate("[scrollY, kept[0].scrollLeft, String(getSelection()).slice(0, 13)]")
    page.evaluate(FEED, [answers, 20])
    assert page.evaluate("document.activeElement === kept[1]")
    now = page.evaluate("[scrollY, kept[0].scrollLeft, String(getSelection()).slice(0, 13)]")
    assert now == before
