"""Cancel, suspend, resume and submit through the pages, by mouse and by keyboard."""

from __future__ import annotations

from pathlib import Path

from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from jobs.models import Job
from jobs.states import JobState, Wanted
from tests.browser.conftest import Watched, Web, open_context
from tests.service import pages


def test_cancel_asks_first(page: Page) -> None:
    job = pages.make_job()
    page.goto(f"/jobs/{job.pk}/")
    page.get_by_role("link", name="Cancel").click()
    dialog = page.get_by_role("dialog", name="Cancel flight delays?")
    expect(dialog).to_contain_text("Its last checkpoint is kept")
    dialog.get_by_role("button", name="Back").click()
    expect(dialog).to_be_hidden()
    job.refresh_from_db()
    assert job.wanted == Wanted.RUNNING

    page.get_by_role("link", name="Cancel").click()
    dialog.get_by_role("button", name="Cancel job").click()
    expect(page.get_by_text("Cancelling behind the current batch.")).to_be_visible()
    expect(page.locator("h1")).to_contain_text("to be canceled")
    job.refresh_from_db()
    assert job.wanted == Wanted.CANCELED
    assert job.events.filter(message="cancel by alice").exists()


def test_suspend_and_resume_by_keyboard(page: Page) -> None:
    job = pages.make_job()
    page.goto(f"/jobs/{job.pk}/")
    page.get_by_role("link", name="Suspend").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("link", name="Suspend")).to_be_focused()
    page.keyboard.press("Enter")
    dialog.get_by_role("button", name="Suspend job").press("Enter")
    expect(page.locator("h1")).to_contain_text("to be suspended")

    Job.objects.update(state=JobState.SUSPENDED)
    page.get_by_role("link", name="Resume").click()
    dialog.get_by_role("button", name="Resume job").click()
    expect(page.get_by_text("Resuming from the last checkpoint.")).to_be_visible()
    job.refresh_from_db()
    assert job.wanted == Wanted.RUNNING


def test_acting_works_without_javascript(
    chromium: Browser, web: Web, alice: User, watched: Watched
) -> None:
    job = pages.make_job()
    pages.make_checkpoint(pages.make_attempt(job), 5)
    context = open_context(chromium, web, alice, java_script_enabled=False)
    page = context.new_page()
    watched.watch(page)
    page.goto(f"/jobs/{job.pk}/")
    expect(page.locator(".gauge", has_text="Last checkpoint")).to_contain_text("5")
    page.get_by_role("link", name="Cancel").click()
    expect(page.get_by_role("heading", name="Cancel flight delays?")).to_be_visible()
    page.get_by_role("button", name="Cancel job").click()
    expect(page.get_by_text("Cancelling behind the current batch.")).to_be_visible()
    context.close()


def test_a_file_is_submitted_and_its_errors_are_shown(
    page: Page, tmp_path: Path, watched: Watched
) -> None:
    broken, good = tmp_path / "broken.py", tmp_path / "good.py"
    broken.write_text("def broken(:\n")
    good.write_text("print('fine')\n")
    page.goto("/submit/")
    page.get_by_label("Program file").set_input_files(broken)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was submitted")
    expect(page.locator(".field-error")).to_contain_text("SyntaxError")
    assert [error for error in watched.errors if "422" not in error] == []
    watched.errors.clear()
    page.get_by_label("Program file").set_input_files(good)
    page.get_by_label("Arguments").fill("--rate 5")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("good")
    expect(page.get_by_text("good was submitted.")).to_be_visible()
    assert Job.objects.get().arguments == ["--rate", "5"]
