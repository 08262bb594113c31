"""The graph of a job and the pages of its vertices."""

from __future__ import annotations

import pytest
from django.test import Client

from dashboard import pages as live_pages
from dashboard.views import threads
from jobs import diagnostics, vertices
from jobs.models import (
    Attempt,
    Checkpoint,
    Diagnosis,
    Job,
    JobFigures,
    TaskManager,
)
from tests.service import busy_job, pages
from tests.service.job_pages.conftest import text, vertex

pytestmark = pytest.mark.django_db


def test_the_graph_shows_what_each_vertex_does(client: Client, job: Job) -> None:
    page = text(client, f"/jobs/{job.pk}/")
    for expected in ("Source: flights", "HASH", "BROADCAST", "parallelism 4", "2 operators"):
        assert expected in page
    source = vertex(job, "flights -")
    assert f'href="/jobs/{job.pk}/vertices/{source}/#vertex"' in page
    assert "load-high" in page
    assert "61 % pressed" in page
    assert "busy 96 %, back-pressured 0 %" in page


def test_a_job_that_nobody_measured_has_a_graph_without_figures(client: Client) -> None:
    job = pages.make_job()
    page = text(client, f"/jobs/{job.pk}/")
    assert "Window by origin" in page
    assert "nothing measured yet" in page
    for each in vertices.of(job.plan):
        for tab in live_pages.VERTEX_TABS:
            assert client.get(f"/jobs/{job.pk}/vertices/{each.id}/{tab}/").status_code == 200


@pytest.mark.parametrize(
    ("tab", "words"),
    [
        (
            "detail",
            ["Records in", "360,000", "parse and clean", "uid-2", "High", "61 % of the time"],
        ),
        ("subtasks", ["126,000", "Minimum", "Sum", "tm-1", "12.0 MiB"]),
        ("taskmanagers", ["tm-1", "node-1", "360,000"]),
        ("watermarks", ["2013-01-01 10:00:03", "What holds it back", "3.0 s"]),
        ("accumulators", ["bad lines", "LongCounter", "17"]),
        ("backpressure", ["61 %", "High", "cannot keep up"]),
        ("metrics", ["busyTimeMsPerSecond", "Source__flights.my-counter", 'data-pick="']),
        ("flamegraph", ["No flame graph", "Take a flame graph"]),
    ],
)
def test_a_vertex_tells_everything_of_its_subtasks(
    tab: str, words: list[str], client: Client, job: Job
) -> None:
    page = text(client, f"/jobs/{job.pk}/vertices/{vertex(job, 'flights -')}/{tab}/")
    for expected in words:
        assert expected in page


def test_a_watermark_is_followed_to_the_source_that_holds_it_back(client: Client, job: Job) -> None:
    page = text(client, f"/jobs/{job.pk}/vertices/{vertex(job, 'windows')}/watermarks/")
    way = page[page.index("What holds it back") : page.index("</ol>", page.index("holds"))]
    assert way.index("windows") < way.index("join airports") < way.index("Source: ")
    assert 'split <span class="mono">flights-1</span> holds it back' in page
    assert "1 split idle, so it does not count" in page


def test_times_of_another_unit_are_no_times(client: Client, job: Job) -> None:
    row = JobFigures.objects.get(job=job)
    odd = {
        "currentInputWatermark": [1.7e18, -9e15, float(2**63), 5.0],
        "busyTimeMsPerSecond": 1e300,
    }
    row.figures["vertices"] = {each.id: odd for each in vertices.of(job.plan)}
    row.save()
    Checkpoint.objects.filter(job=job).update(watermark=2**62)
    for path in ("", "checkpoints/60/", "skew/"):
        text(client, f"/jobs/{job.pk}/{path}")
    for tab in live_pages.VERTEX_TABS:
        text(client, f"/jobs/{job.pk}/vertices/{vertex(job, 'windows')}/{tab}/")


def test_thousands_of_subtasks_come_in_pages(client: Client) -> None:
    nodes = [{"id": "1", "description": "Source: many", "parallelism": 3_000, "inputs": []}]
    job = pages.make_job(plan={"nodes": nodes})
    address = f"/jobs/{job.pk}/vertices/{vertices.of(job.plan)[0].id}/subtasks/"
    page = text(client, address)
    assert page.count('data-key="s-') == 200
    assert "0 to 199 of 3000" in page
    assert "2800 to 2999 of 3000" in text(client, f"{address}?before=99999")


@pytest.mark.parametrize(
    "path", ["vertices/{}/", "vertices/{}/detail/", "vertices/{}/live/detail/"]
)
def test_vertices_that_do_not_exist(path: str, client: Client, job: Job) -> None:
    answer = client.get(f"/jobs/{job.pk}/{path.format('f' * 32)}", {"poll": ""})
    known = 200 if "live" in path else 404
    assert answer.status_code == known
    assert client.get(f"/jobs/{job.pk}/vertices/{vertex(job, 'windows')}/odd/").status_code == 404


def test_polling_a_vertex_brings_its_regions(client: Client, job: Job) -> None:
    chosen = vertex(job, "windows")
    answer = client.get(f"/jobs/{job.pk}/vertices/{chosen}/live/backpressure/?poll").json()
    assert set(answer["regions"]) == {"head", "notice", f"graph-{chosen}", f"backpressure-{chosen}"}


def test_a_flame_graph_is_taken_shown_and_looked_into(client: Client, job: Job) -> None:
    path = f"/jobs/{job.pk}/vertices/{vertex(job, 'windows')}/flamegraph/"
    refused = client.post(f"{path}take/", follow=True).content.decode()
    assert "No flame graph can be taken: the job has no driver that runs" in refused
    taskmanager = TaskManager.objects.get()
    Job.objects.filter(pk=job.pk).update(current_attempt=3)
    Attempt.objects.filter(job=job, number=3).update(taskmanager=taskmanager)
    assert client.post(f"{path}take/").status_code == 302
    assert "Being taken" in text(client, path)
    tree = {"name": "all", "value": 9, "children": [{"name": "<b> (job.py:3)", "value": 6}]}
    diagnostics.answer(Diagnosis.objects.get(), {"full": tree, "on_cpu": None, "off_cpu": tree})
    page = text(client, path)
    assert "&lt;b&gt; (job.py:3), 66.7 %" in page
    assert "9 samples" in page
    assert "None of the samples" in text(client, f"{path}?type=on_cpu")
    inside = text(client, f"{path}?type=off_cpu&at=0")
    assert 'class="flame-above"' in inside
    busy_job.finish(job)
    assert "does not run any more" in text(client, path)


def test_threads_of_the_driver_are_dumped(
    client: Client, bob: Client, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "SECONDS", 0.0)
    path = f"/jobs/{job.pk}/threads/"
    assert "Take a thread dump" not in text(bob, path)
    assert bob.post(path).status_code == 403
    refused = client.post(path, follow=True).content.decode()
    assert "There is no thread dump: the job has no driver that runs" in refused
    Job.objects.filter(pk=job.pk).update(current_attempt=3)
    Attempt.objects.filter(job=job, number=3).update(taskmanager=TaskManager.objects.get())
    assert client.post(path).status_code == 302
    assert "It was asked for" in text(client, path)
    found = {"threads": [{"name": "MainThread <1>", "text": "at job.py:3 <module>"}]}
    diagnostics.answer(Diagnosis.objects.get(), found)
    page = text(bob, path)
    assert "MainThread &lt;1&gt;" in page
    assert "at job.py:3 &lt;module&gt;" in page
