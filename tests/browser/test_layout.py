"""The frame of the pages: colours, keyboard, charts. Every page by itself: test_every_page."""

from __future__ import annotations

from playwright.sync_api import Page, expect


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
