"""The tabs of a job."""

from __future__ import annotations

import pytest
from django.test import Client

from dashboard import pages as live_pages
from jobs import vertices
from jobs.models import (
    Checkpoint,
    Event,
    Job,
)
from tests.service import busy_job, pages
from tests.service.job_pages.conftest import TABS, text, vertex

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_is_one_click_away_and_opens(tab: str, client: Client, job: Job) -> None:
    assert f'href="/jobs/{job.pk}/{tab}/"' in text(client, f"/jobs/{job.pk}/")
    text(client, f"/jobs/{job.pk}/{tab}/")


@pytest.mark.parametrize(
    ("tab", "words"),
    [
        ("checkpoints", ["p99.9", "Average", "Slower than", "exactly once", "over the newest 60"]),
        ("savepoints", ["before the holidays", "5.00 MiB", "Compare the two", "Start from it"]),
        (
            "exceptions",
            ["no such airport (2)", "2 causes", "Log of attempt 2", "restarts after 1 s"],
        ),
        ("timeline", ["Attempt 3", "Restarting", "Failure at", "In words"]),
        ("kafka", ["growing by 40 /s", "caught up in 3 s", "150 records behind", "500 /s"]),
        ("latency", ["pre-commit", "visible", "Source: flights", "1.2 s"]),
        ("skew", ["20 %", "Most records", "126,000"]),
        ("metrics", ["numRestarts", "numRecordsInPerSecond"]),
        ("accumulators", ["bad lines", "Dead letters"]),
        ("versions", ["more slots", "From version 1 to 2", "--rate 5", "Rescale job"]),
        ("alerts", ["too far behind", "Firing", "150 records behind", "exponential delay"]),
    ],
)
def test_tabs_show_what_is_known(tab: str, words: list[str], client: Client, job: Job) -> None:
    page = text(client, f"/jobs/{job.pk}/{tab}/")
    for expected in words:
        assert expected in page


def test_subtasks_are_bars_on_the_timeline(client: Client, job: Job) -> None:
    chosen, path = vertex(job, "windows"), f"/jobs/{job.pk}/timeline/"
    assert f"?vertex={chosen}" in text(client, path)
    page = text(client, f"{path}?vertex={chosen}")
    assert "Subtask 3" in page
    assert "Checkpoint 60: busy 240 ms" in page
    assert page.count("<title>Checkpoint") == 4 * 40  # the newest, not all 60
    assert "data-live" in page  # its head goes on
    Checkpoint.objects.update(tasks={chosen: {"busy": list(range(1_000))}})
    page = text(client, f"{path}?vertex={chosen}")
    assert "the busiest 40 of 1,000" in page
    assert len(page) < 400_000
    Checkpoint.objects.update(tasks={})
    assert "No checkpoint that is kept tells" in text(client, f"{path}?vertex={chosen}")
    for odd in ("x", "%00", "0" * 32):
        assert 'id="subtasks"' not in text(client, f"{path}?vertex={odd}")


def test_a_job_that_has_ended_keeps_everything(client: Client, job: Job) -> None:
    busy_job.finish(job)
    chosen = vertex(job, "flights -")
    assert "61 % pressed" in text(client, f"/jobs/{job.pk}/")
    assert "as last measured" in text(client, f"/jobs/{job.pk}/")
    assert "126,000" in text(client, f"/jobs/{job.pk}/vertices/{chosen}/subtasks/")
    for tab, words in (("kafka", "150 records"), ("savepoints", "holidays"), ("latency", "p99")):
        assert words in text(client, f"/jobs/{job.pk}/{tab}/")


def test_checkpoints_are_filtered(client: Client, job: Job) -> None:
    def listed(query: str) -> int:
        page = text(client, f"/jobs/{job.pk}/checkpoints/?{query}")
        return page.count('data-key="c-')

    assert listed("") == 50
    assert listed("before=11") == 10
    assert listed("slower=700") == 3
    assert listed("attempt=1") == 0
    assert "No checkpoint matches" in text(client, f"/jobs/{job.pk}/checkpoints/?attempt=1")
    Event.objects.create(
        job=job, kind=Event.Kind.CHECKPOINT, message="too slow", detail={"checkpoint": 9}
    )
    assert "Checkpoint 9" in text(client, f"/jobs/{job.pk}/checkpoints/?show=failed")
    for odd in ("slower=x", "slower=99999999999999999999", "show=odd", "attempt=-1"):
        assert listed(odd) == 50


def test_a_checkpoint_tells_of_vertices_and_subtasks(client: Client, job: Job) -> None:
    page = text(client, f"/jobs/{job.pk}/checkpoints/7/")
    for expected in ("join airports", "4 subtasks", "7.00 MiB", "720 ms", "240 ms"):
        assert expected in page
    assert f'href="/jobs/{job.pk}/checkpoints/6/"' in page
    assert f'href="/jobs/{job.pk}/checkpoints/8/"' in page
    Checkpoint.objects.filter(job=job).update(tasks={})
    assert "was not reported" in text(client, f"/jobs/{job.pk}/checkpoints/7/")


def test_a_checkpoint_of_very_many_subtasks_stays_small(client: Client) -> None:
    nodes = [busy_job.node(n, f"op {n}", "Operator", n, parallelism=1_000) for n in range(100)]
    job = pages.make_job(plan={"nodes": nodes}, parallelism=1_000)
    tasks = {each.id: {"busy": list(range(1_000))} for each in vertices.of(job.plan)}
    pages.make_checkpoint(pages.make_attempt(job), 1, tasks=tasks)
    page = text(client, f"/jobs/{job.pk}/checkpoints/1/")
    assert page.count("1000 subtasks, the busiest 20") == 100
    assert len(page) < 1_000_000


def test_alerts_that_fire_are_said_on_every_page(client: Client, job: Job) -> None:
    for path in ("", "log/", f"vertices/{vertex(job, 'windows')}/detail/"):
        assert "<strong>too far behind</strong>" in text(client, f"/jobs/{job.pk}/{path}")


def test_settings_of_checkpoints_are_shown_without_secrets(client: Client) -> None:
    keys = {"state.s3.secret-key": "hush-hush", "state.backend.type": "rocksdb"}
    job = busy_job.make(configuration=keys, checkpoint_settings={"state.token": "hush-hush"})
    for tab in ("checkpoints/", "configuration/", "versions/", "alerts/"):
        assert "hush-hush" not in text(client, f"/jobs/{job.pk}/{tab}")
    assert "rocksdb" in text(client, f"/jobs/{job.pk}/checkpoints/")


def test_failures_at_the_same_time_have_one_cause(client: Client) -> None:
    job = pages.make_job()
    attempt = pages.make_attempt(job)
    for message in ("the first", "the second", "the third"):
        pages.make_failure(attempt, message)
    page = text(client, f"/jobs/{job.pk}/exceptions/")
    assert "1 cause" in page
    assert "2 more at the same time" in page


def test_names_are_never_markup(client: Client) -> None:
    odd = "<script>alert(1)</script>"
    job = busy_job.make(name=odd)
    nodes = [{"id": "1", "description": "&lt;script&gt;alert(1)&lt;/script&gt;", "inputs": []}]
    Job.objects.filter(pk=job.pk).update(plan={"nodes": nodes})
    job.refresh_from_db()
    busy_job.make_savepoint(job, reason=odd, requested_by_name=odd)
    busy_job.make_version(job, 3, reason=odd)
    for tab in ("", *(f"{tab}/" for tab in TABS)):
        assert odd not in text(client, f"/jobs/{job.pk}/{tab}")
    chosen = vertices.of(job.plan)[0].id
    for tab in live_pages.VERTEX_TABS:
        assert odd not in text(client, f"/jobs/{job.pk}/vertices/{chosen}/{tab}/")


def test_nothing_is_inline_and_nothing_comes_from_elsewhere(client: Client, job: Job) -> None:
    chosen = vertex(job, "windows")
    addresses = [f"/jobs/{job.pk}/{tab}/" for tab in TABS]
    addresses += [f"/jobs/{job.pk}/vertices/{chosen}/{tab}/" for tab in live_pages.VERTEX_TABS]
    for address in addresses:
        page = text(client, address)
        for inline in (" style=", "<style", " onclick=", "javascript:", "<script>"):
            assert inline not in page, address


def test_metrics_over_time_come_from_the_history(client: Client, job: Job) -> None:
    busy_job.write_history(job, minutes=10)
    chosen = vertex(job, "flights -")
    names = [f"{chosen}.busyTimeMsPerSecond", f"{chosen}.Source__flights.my-counter", "nothing"]
    answer = client.get(f"/jobs/{job.pk}/metrics/series/", {"name": names, "range": "15m"}).json()
    assert len(answer["names"][names[0]]) > 30
    assert answer["latest"][names[0]] == pytest.approx(300.0, rel=0.2)
    assert answer["latest"][names[1]] == 5
    assert answer["names"]["nothing"] == []


def test_long_ranges_of_the_charts_come_from_the_history(client: Client, job: Job) -> None:
    busy_job.write_history(job, minutes=60)
    series = client.get(f"/jobs/{job.pk}/series/?range=6h").json()["series"]
    assert len(series["t"]) > 25
    assert max(series["records_in"]) == pytest.approx(6_500, rel=0.1)
    assert {len(column) for column in series.values()} == {len(series["t"])}
    for span in ("24h", "7d", "30d", "1y"):
        answer = client.get(
            f"/jobs/{job.pk}/series/?range={span}&after={series['t'][-1]:.0f}"
        ).json()
        assert answer["whole"]
        assert answer["series"]["records_in"][-1] != 5_000  # that is the checkpoints' rate
