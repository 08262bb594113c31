"""Pages bring themselves up to date, without a reload, when another process writes a row."""

from __future__ import annotations

from datetime import timedelta

from playwright.sync_api import Page, expect

from jobs import actions
from jobs.models import Job
from jobs.states import JobState, change_state
from tests.service import pages


def mark(page: Page) -> None:
    """A reload would wipe this."""
    page.evaluate("window.sameDocument = true")


def still_the_same(page: Page) -> bool:
    return bool(page.evaluate("window.sameDocument === true"))


def test_the_overview_fills_itself(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_text("No job runs or waits.")).to_be_visible()
    expect(page.get_by_text("No TaskManager has registered")).to_be_visible()
    mark(page)

    job = pages.make_job("orders to lake")
    pages.make_checkpoint(pages.make_attempt(job), 1)
    pages.make_taskmanager("tm-7", slots=3, taken_by=job)

    row = page.get_by_role("row", name="orders to lake")
    expect(row).to_contain_text("Running")
    expect(row).to_contain_text("150")
    expect(page.get_by_role("list", name="Slots of tm-7").get_by_role("listitem")).to_have_count(3)
    expect(page.locator(".gauge").first).to_contain_text("2 free")
    assert still_the_same(page)


def test_a_job_page_shows_the_next_checkpoint(page: Page) -> None:
    job = pages.make_job()
    attempt = pages.make_attempt(job)
    pages.make_checkpoint(attempt, 41, age=5)
    page.goto(f"/jobs/{job.pk}/")
    expect(page.get_by_role("link", name="41").first).to_be_visible()
    expect(page.locator("#link-state")).to_have_text("Live")
    expect(page.locator("[data-chart=in] .key")).to_contain_text("5 k")
    mark(page)

    # so many that no interval between the two makes it the same rate
    pages.make_checkpoint(attempt, 42, records_in=9_999_999, counters={"dead_letters": 13})

    expect(page.locator(".gauge", has_text="Last checkpoint")).to_contain_text("42")
    expect(page.get_by_role("link", name="42").first).to_be_visible()
    expect(page.locator("dd.is-warn")).to_have_text("13")
    expect(page.locator("[data-chart=in] .key")).not_to_contain_text("5 k")
    assert still_the_same(page)


def test_a_change_of_state_is_shown_said_and_changes_the_actions(page: Page) -> None:
    job = pages.make_job(state=JobState.CREATED, waiting_for="needs 1 slot; none is free")
    page.goto(f"/jobs/{job.pk}/")
    expect(page.get_by_text("needs 1 slot; none is free")).to_be_visible()
    change_state(Job.objects.get(), JobState.RUNNING)
    expect(page.locator("h1 .badge")).to_have_text("Running")
    expect(page.get_by_text("needs 1 slot")).to_be_hidden()
    expect(page).to_have_title("flight delays · Running · Headrace")
    expect(page.locator("#announcer")).to_have_text("flight delays · Running")
    expect(page.get_by_role("link", name="Restart")).to_be_visible()


def test_what_one_has_opened_stays_open_and_focus_stays(page: Page) -> None:
    job = pages.make_job()
    attempt = pages.make_attempt(job)
    for hours, which in ((2, "first"), (1, "second")):  # not at the same time
        failure = pages.make_failure(attempt, f"{which} failure", f"Traceback {which}")
        failure.at -= timedelta(hours=hours)
        failure.save()
    page.goto(f"/jobs/{job.pk}/exceptions/")
    summary = page.locator("summary", has_text="First failure")
    summary.click()
    expect(page.get_by_text("Traceback first")).to_be_visible()

    pages.make_failure(attempt, "third failure", "Traceback three")

    expect(page.locator("summary", has_text="third failure")).to_be_visible()
    expect(page.get_by_text("Traceback first")).to_be_visible()
    expect(summary).to_be_focused()


def test_many_windows_on_one_job_all_hear_of_it(page: Page) -> None:
    job = pages.make_job()
    attempt = pages.make_attempt(job)
    windows = [page, *(page.context.new_page() for _ in range(3))]
    for window in windows:
        window.goto(f"/jobs/{job.pk}/")
        expect(window.locator("#link-state")).to_have_text("Live")
    pages.make_checkpoint(attempt, 77)
    for window in windows:
        expect(window.locator(".gauge", has_text="Last checkpoint")).to_contain_text("77")


def test_a_job_that_is_deleted_ends_its_page(page: Page) -> None:
    job = pages.make_job()
    page.goto(f"/jobs/{job.pk}/")
    expect(page.locator("#link-state")).to_have_text("Live")
    # the charts have their first answer: asked for later, there would be none, rightly
    expect(page.get_by_text("Nothing in this range").first).to_be_attached()
    job.delete()
    expect(page.locator("#stale")).to_contain_text("does not exist any more")


def test_clocks_run_on_between_updates(page: Page) -> None:
    job = actions.submit("waits", (b"print(1)", "job.py"))
    page.goto(f"/jobs/{job.pk}/")
    clock = page.locator(".facts time[data-elapsed]")
    before = clock.text_content()
    expect(clock).not_to_have_text(str(before), timeout=60_000)
    assert "here" in str(clock.get_attribute("title"))
