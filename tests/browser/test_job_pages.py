"""Pages of a job in a browser: the graph by keyboard, vertices, metrics over time, live figures."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from jobs import diagnostics, vertices
from jobs.models import Attempt, Diagnosis, Job, JobFigures, TaskManager
from tests.service import busy_job


@pytest.fixture
def job(page: Page) -> Job:
    job = busy_job.make()
    busy_job.write_history(job, minutes=20)
    return job


def vertex(job: Job, name: str) -> str:
    return next(each.id for each in vertices.of(job.plan) if name in each.name)


def test_the_graph_is_walked_by_arrows_and_opened_by_enter(page: Page, job: Job) -> None:
    page.goto(f"/jobs/{job.pk}/")
    nodes = page.locator(".graph-box svg a")
    expect(nodes).to_have_count(5)
    nodes.first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(":focus")).to_contain_text("join airports")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    expect(page.locator(":focus")).to_contain_text("delays in windows")
    page.keyboard.press("Enter")
    expect(page.locator("#h-vertex")).to_contain_text("delays in windows")
    expect(page.locator(".graph-box [aria-current=true]")).to_contain_text("delays in windows")
    page.locator("#vertex").get_by_role("link", name="Back pressure").click()
    expect(page.locator("#vertex .badge").first).to_have_text("OK")
    page.locator(".graph-box").focus()
    page.keyboard.press("Escape")
    expect(page.locator("#vertex")).to_have_count(0)


def test_figures_of_a_vertex_come_in_by_themselves(page: Page, job: Job) -> None:
    page.goto(f"/jobs/{job.pk}/vertices/{vertex(job, 'join')}/backpressure/")
    expect(page.locator("#link-state")).to_have_text("Live")
    badge = page.locator("#vertex td .badge").first
    expect(badge).to_have_text("Low")
    page.evaluate("window.sameDocument = true")
    JobFigures.objects.all().delete()
    expect(page.get_by_text("has not been measured yet")).to_be_visible()
    busy_job.make_figures(job)
    expect(badge).to_have_text("Low")
    assert page.evaluate("window.sameDocument === true")


def test_metrics_are_found_picked_and_drawn(page: Page, job: Job) -> None:
    page.goto(f"/jobs/{job.pk}/vertices/{vertex(job, 'flights -')}/metrics/")
    page.get_by_label("Find a metric").fill("busy second")
    expect(page.locator("tr[data-metric]:visible")).to_have_count(1)
    expect(page.locator("#metric-count")).to_have_text("1 of 16")
    page.get_by_role("button", name="Chart busyTimeMsPerSecond").click()
    chart = page.locator("#metric-charts figure")
    expect(chart).to_have_count(1)
    expect(chart.locator("b")).not_to_be_empty()
    expect(chart.locator("canvas")).to_be_visible()
    page.locator("#metric-ranges").get_by_text("1h", exact=True).click()
    assert "pick=busyTimeMsPerSecond" in page.url
    assert "range=1h" in page.url
    page.reload()
    expect(chart.locator("figcaption")).to_contain_text("busyTimeMsPerSecond")
    page.get_by_role("button", name="Remove the chart").click()
    expect(chart).to_have_count(0)
    assert "pick" not in page.url


def test_a_figure_without_a_history_is_drawn_from_now_on(page: Page, job: Job) -> None:
    page.goto(f"/jobs/{job.pk}/vertices/{vertex(job, 'flights -')}/metrics/?pick=numBytesIn")
    chart = page.locator("#metric-charts figure")
    expect(chart.locator(".none")).to_have_text("Since this page was opened")
    expect(chart.locator("b")).to_have_text("8.58 MiB")


def test_charts_reach_back_as_far_as_asked(page: Page, job: Job) -> None:
    page.goto(f"/jobs/{job.pk}/")
    expect(page.locator("[data-chart=in] .key b")).to_have_text("5 k")
    page.locator("#charts").get_by_text("24h", exact=True).click()
    expect(page.locator("[data-chart=in] .key b")).not_to_have_text("5 k")


def test_a_flame_graph_appears_when_it_was_taken(page: Page, job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(current_attempt=3)
    Attempt.objects.filter(job=job, number=3).update(taskmanager=TaskManager.objects.get())
    page.goto(f"/jobs/{job.pk}/vertices/{vertex(job, 'join')}/flamegraph/")
    page.get_by_role("button", name="Take a flame graph").click()
    expect(page.get_by_text("Being taken")).to_be_visible()
    inner = {"name": "parse (job.py:7)", "value": 6}
    tree = {"name": "all", "value": 9, "children": [{**inner, "children": [inner]}]}
    diagnostics.answer(Diagnosis.objects.get(), {"full": tree, "on_cpu": tree, "off_cpu": None})
    frame = page.get_by_role("link", name="parse (job.py:7), 66.7 %").first
    expect(frame).to_be_visible()
    frame.click()
    expect(page.locator(".flame-above")).to_contain_text("all")


def test_two_savepoints_are_chosen_and_compared(page: Page, job: Job) -> None:
    page.goto(f"/jobs/{job.pk}/savepoints/")
    page.get_by_role("button", name="Compare the two chosen").click()
    expect(page.get_by_role("heading", name="Two savepoints")).to_be_visible()
    expect(page.locator("tr.differs", has_text="Checkpoint")).to_contain_text("55")
