"""The log goes on by itself, in pieces, and holds a bounded number of lines."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, Response, expect

from headrace.wire import rundir
from tests.service import pages


def test_the_tail_goes_on_and_earlier_lines_are_a_click_away(page: Page, tmp_path: Path) -> None:
    job = pages.make_job()
    pages.make_attempt(job, 1, tmp_path)
    log = tmp_path / rundir.LOG
    log.write_text("".join(f"INFO line {n} of the log\n" for n in range(30_000)))
    sizes: list[int] = []

    def on_response(response: Response) -> None:
        if "/lines/" in response.url:
            sizes.append(len(response.body()))

    page.on("response", on_response)
    page.goto(f"/jobs/{job.pk}/log/")
    lines = page.locator("#log-lines .line")
    expect(lines.last).to_have_text("INFO line 29999 of the log")
    expect(lines.last).to_be_in_viewport()

    with log.open("a") as file:
        file.write("WARN the newest line\n")
    expect(lines.last).to_have_text("WARN the newest line")
    expect(lines.last).to_have_class("line is-warn")
    expect(lines.last).to_be_in_viewport()

    count, first = lines.count(), lines.first.text_content()
    page.get_by_role("button", name="Earlier lines").click()
    expect(lines).not_to_have_count(count)
    expect(page.get_by_label("Follow")).not_to_be_checked()
    texts = lines.all_text_contents()
    numbers = [int(text.split()[2]) for text in texts[:-1]]
    assert numbers == list(range(numbers[0], 30_000)), "every line once, in order"
    assert first in texts
    assert max(sizes) < 400_000


def test_a_flood_does_not_grow_the_page(page: Page, tmp_path: Path) -> None:
    job = pages.make_job()
    pages.make_attempt(job, 1, tmp_path)
    log = tmp_path / rundir.LOG
    log.write_text("begin\n")
    page.goto(f"/jobs/{job.pk}/log/")
    lines = page.locator("#log-lines .line")
    for flood in range(8):
        with log.open("a") as file:
            file.writelines(f"{flood} {n}\n" for n in range(4_000))
        expect(lines.last).to_have_text(f"{flood} 3999", timeout=60_000)
        assert lines.count() <= 10_000
    log.open("a").write("after the flood\n")
    expect(lines.last).to_have_text("after the flood")
    assert lines.count() <= 4_000 or page.get_by_label("Follow").is_checked()


def test_lines_are_found(page: Page, tmp_path: Path) -> None:
    job = pages.make_job()
    pages.make_attempt(job, 1, tmp_path)
    (tmp_path / rundir.LOG).write_text("one apple\ntwo pears\nthree apples\n")
    page.goto(f"/jobs/{job.pk}/log/")
    page.get_by_label("Find", exact=True).fill("APPLE")
    expect(page.locator("#log-lines .line:visible")).to_have_text(["one apple", "three apples"])
