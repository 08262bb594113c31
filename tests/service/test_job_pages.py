"""The pages of a job and of its vertices, with what its driver measured."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard import pages as live_pages
from dashboard.views import threads
from jobs import diagnostics, vertices
from jobs.models import (
    Attempt,
    AuditEntry,
    Checkpoint,
    Diagnosis,
    Event,
    Job,
    JobFigures,
    Savepoint,
    TaskManager,
    Upgrade,
)
from jobs.states import AttemptState, JobState
from tests.service import busy_job, pages

pytestmark = pytest.mark.django_db


@pytest.fixture
def job(db: None) -> Job:
    return busy_job.make()


@pytest.fixture
def client(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


@pytest.fixture
def bob(db: None) -> Client:
    """May look."""
    client = Client()
    client.force_login(User.objects.create_user("bob", password="bob-password"))
    return client


def text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return re.sub(r"\s+", " ", answer.content.decode())


def vertex(job: Job, name: str) -> str:
    return next(each.id for each in vertices.of(job.plan) if name in each.name)


TABS = [name for name in live_pages.TABS if name != "overview"]


# --- the graph -----------------------------------------------------------------------------------


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


# --- vertices ------------------------------------------------------------------------------------


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


# --- tabs ----------------------------------------------------------------------------------------


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


# --- metrics over time ---------------------------------------------------------------------------


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


# --- savepoints ----------------------------------------------------------------------------------


def test_a_savepoint_is_asked_for(client: Client, job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(current_attempt=3)
    assert "Stop with savepoint" in text(client, f"/jobs/{job.pk}/savepoints/")
    path = f"/jobs/{job.pk}/savepoints/take/"
    answer = client.post(path, {"then": "finished", "drain": "on", "reason": "the end"})
    assert answer.status_code == 302
    row = Savepoint.objects.get(reason="the end")
    assert (row.then, row.drain, row.requested_by_name) == ("finished", True, "alice")
    assert AuditEntry.objects.filter(action="savepoint.trigger").exists()
    refused = client.post(path, {"then": "", "drain": "on"})
    assert refused.status_code == 422
    assert "A job that is drained ends" in refused.content.decode()


def test_stopping_with_a_savepoint_is_offered_as_such(client: Client, job: Job) -> None:
    page = text(client, f"/jobs/{job.pk}/savepoints/take/?then=finished")
    assert '<option value="finished" selected>' in page


def test_a_savepoint_of_a_job_that_does_not_run_is_refused(client: Client) -> None:
    job = pages.make_job(state=JobState.FAILED)
    answer = client.post(f"/jobs/{job.pk}/savepoints/take/", {"then": ""})
    assert answer.status_code == 422
    assert "savepoints are taken of jobs that run" in answer.content.decode()


def test_two_savepoints_are_compared(client: Client, job: Job) -> None:
    first, second = Savepoint.objects.filter(job=job).order_by("created_at")
    path = f"/jobs/{job.pk}/savepoints/compare/"
    answer = client.get(path, {"a": first.pk, "b": second.pk})
    page = re.sub(r"\s+", " ", answer.content.decode())
    assert "differs" in page
    for expected in ("5,242,880", "6,291,456", "55"):
        assert expected in page
    assert client.get(path, {"a": first.pk}).status_code == 404


def test_one_savepoint_is_shown_and_verified(client: Client, job: Job) -> None:
    row = busy_job.make_savepoint(job, failure="not removed: why")
    page = text(client, f"/jobs/{job.pk}/savepoints/{row.pk}/")
    for expected in ("Its manifest cannot be read", "not removed: why", "Verify", "Dispose of it"):
        assert expected in page
    answer = client.post(f"/jobs/{job.pk}/savepoints/{row.pk}/verify/", follow=True)
    assert "No job can begin with it: there is no savepoint at" in answer.content.decode()


def test_a_savepoint_is_disposed_of_behind_a_question(client: Client, job: Job) -> None:
    row = busy_job.make_savepoint(job)
    path = f"/jobs/{job.pk}/savepoints/{row.pk}/dispose/"
    assert "Its files are removed" in text(client, path)
    assert client.post(path).status_code == 302
    row.refresh_from_db()
    assert row.state == "DISPOSING"


def test_a_job_begins_beside_another(client: Client, tmp_path: Path) -> None:
    program = tmp_path / "job.py"
    program.write_text("print(1)\n")
    job = pages.make_job(entry=str(program))
    busy_job.make_version(job, 1, arguments=["--x"], configuration={"a": "b"})
    row = busy_job.make_savepoint(job)
    path = f"/jobs/{job.pk}/savepoints/{row.pk}/start/"
    assert "Beside the first job" in text(client, path)
    answer = client.post(path, {"beside": "on", "claim_mode": "NO_CLAIM", "name": "second"})
    begun = Job.objects.get(name="second")
    assert answer["Location"] == f"/jobs/{begun.pk}/"
    assert (begun.arguments, begun.configuration) == (["--x"], {"a": "b"})
    assert (begun.beginning.savepoint, begun.beginning.beside) == (row, True)
    odd = client.post(path, {"claim_mode": "ODD"})
    assert odd.status_code == 422


# --- versions ------------------------------------------------------------------------------------


def test_a_job_is_rescaled_and_goes_back(client: Client, job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(current_attempt=3)
    path = f"/jobs/{job.pk}/versions/upgrade/"
    answer = client.post(path, {"version": "1", "reason": "it was faster"})
    assert answer.status_code == 302, answer.content.decode()
    upgrade = Upgrade.objects.order_by("-pk")[0]
    assert (upgrade.after.number, upgrade.savepoint.then) == (1, "finished")
    again = client.post(path, {"parallelism": "1"})
    assert again.status_code == 422
    assert "an upgrade of the job is under way" in again.content.decode()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"settings": "nonsense"}, "is no “key: value”"),
        ({"arguments": "'open"}, "no arguments of a command line"),
        ({"parallelism": "0"}, "greater than or equal to 1"),
        ({"version": "77"}, "the job has no version 77"),
        ({}, "nothing would change"),
    ],
)
def test_upgrades_that_cannot_be(
    values: dict[str, str], words: str, client: Client, job: Job
) -> None:
    Job.objects.filter(pk=job.pk).update(current_attempt=3)
    answer = client.post(f"/jobs/{job.pk}/versions/upgrade/", values)
    assert answer.status_code == 422
    assert words in answer.content.decode().replace("&#x27;", "'")


@pytest.mark.parametrize("query", ["from=1&to=9", "from=x&to=1", "from=1"])
def test_versions_that_do_not_exist(query: str, client: Client, job: Job) -> None:
    assert client.get(f"/jobs/{job.pk}/versions/?{query}").status_code == 404


# --- rights --------------------------------------------------------------------------------------


def test_who_may_only_look_changes_nothing(bob: Client, job: Job) -> None:
    row = busy_job.make_savepoint(job)
    for path in (
        "savepoints/take/",
        f"savepoints/{row.pk}/verify/",
        f"savepoints/{row.pk}/start/",
        f"savepoints/{row.pk}/dispose/",
        f"vertices/{vertex(job, 'windows')}/flamegraph/take/",
        "checkpoints/take/",
        "versions/upgrade/",
        "act/cancel/",
    ):
        assert bob.post(f"/jobs/{job.pk}/{path}").status_code == 403, path
    assert "Upgrade job" not in text(bob, f"/jobs/{job.pk}/versions/")
    assert "may-act" not in text(bob, f"/jobs/{job.pk}/savepoints/")


def test_an_operator_rescales_but_brings_no_code(job: Job) -> None:
    user = User.objects.create_user("olga", password="olga-password")
    user.user_permissions.add(Permission.objects.get(codename="change_job"))
    client = Client()
    client.force_login(user)
    Job.objects.filter(pk=job.pk).update(current_attempt=3)
    path = f"/jobs/{job.pk}/versions/upgrade/"
    assert client.post(path, {"arguments": "--rate 9"}).status_code == 403
    assert client.post(path, {"parallelism": "3"}).status_code == 302


def test_jobs_of_other_teams_do_not_exist(bob: Client, job: Job) -> None:
    from jobs.models import Team

    Job.objects.filter(pk=job.pk).update(team=Team.objects.create(name="others"))
    chosen = vertex(job, "windows")
    for path in ("", "savepoints/", "log/", "series/", "metrics/series/", "versions/"):
        assert bob.get(f"/jobs/{job.pk}/{path}").status_code == 404, path
    assert bob.get(f"/jobs/{job.pk}/vertices/{chosen}/").status_code == 404
    assert bob.get(f"/jobs/{job.pk}/live/overview/?poll").status_code == 410


# --- speed ---------------------------------------------------------------------------------------


#: Checkpoints of the job, and of each of a thousand others; 20,000 and 80 were measured by hand.
OF_JOB, OF_OTHERS = 5_000, 5


def test_pages_take_few_queries_and_little_time_whatever_there_is(client: Client, job: Job) -> None:
    """The time has room for slow machines."""
    attempt = Attempt.objects.get(job=job, number=3)
    jobs = Job.objects.bulk_create(
        [Job(name=f"job {n}", entry="x", entry_name="x", artifact_sha256="") for n in range(1_000)]
    )
    at = timezone.now() - timedelta(hours=2)
    others = Attempt.objects.bulk_create(
        [Attempt(job=each, number=1, run_dir="x", state=AttemptState.RUNNING) for each in jobs]
    )
    rows = [(job, attempt, -n) for n in range(1, OF_JOB)]
    rows += [(each.job, each, n) for each in others for n in range(OF_OTHERS)]
    Checkpoint.objects.bulk_create(
        [
            Checkpoint(
                job=of, attempt=by, checkpoint_id=n, started_at=at, completed_at=at, duration=5
            )
            for of, by, n in rows
        ],
        batch_size=10_000,
    )
    chosen = vertex(job, "windows")
    addresses = ["", *(f"{tab}/" for tab in TABS)]
    addresses += [f"vertices/{chosen}/{tab}/" for tab in live_pages.VERTEX_TABS]
    slow = {}
    for address in addresses:
        path = f"/jobs/{job.pk}/{address}"
        with CaptureQueriesContext(connection) as captured:
            client.get(path)
        assert len(captured) <= 25, (path, [query["sql"] for query in captured])
        times = []
        for _ in range(2):
            begun = time.perf_counter()
            client.get(path)
            times.append(time.perf_counter() - begun)
        slow[address] = round(1000 * min(times))
    assert max(slow.values()) < 1_000, slow
    print(slow)
