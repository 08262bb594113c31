"""What the pages show of what is in the database."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard import charts
from headrace.wire import rundir
from jobs import artifacts
from jobs.models import Event, Job, Lease
from jobs.states import JobState, Wanted
from tests.service import pages

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


def text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


# --- overview ------------------------------------------------------------------------------------


def test_an_empty_platform_says_what_to_do_next(client: Client) -> None:
    page = text(client, "/")
    assert "No job runs or waits" in page
    assert 'href="/submit/"' in page
    assert "python manage.py taskmanager" in page


def test_the_overview_shows_slots_jobs_and_why_one_waits(client: Client) -> None:
    running = pages.make_job()
    pages.make_checkpoint(pages.make_attempt(running), 7)
    pages.make_job("waits", JobState.CREATED, waiting_for="needs 4 slots; 1 is free")
    pages.make_job("done", JobState.FINISHED, ended_at=timezone.now(), started_at=timezone.now())
    pages.make_taskmanager(taken_by=running)
    page = text(client, "/")
    for expected in ("flight delays", "needs 4 slots; 1 is free", "done", "tm-1", "2.00 GiB"):
        assert expected in page
    assert '<span class="big">1</span> free<span class="sub">of 2</span>' in page
    assert f'href="/jobs/{running.pk}/"' in page


def test_slots_of_a_lost_taskmanager_are_not_counted(client: Client) -> None:
    lost = pages.make_taskmanager()
    lost.state = "LOST"
    lost.save()
    page = text(client, "/")
    assert '<span class="big">0</span> free<span class="sub">of 0</span>' in page
    assert '<span class="slot-job">away</span>' in page


def test_a_late_heartbeat_and_a_missing_leader_are_told(client: Client) -> None:
    taskmanager = pages.make_taskmanager()
    taskmanager.last_heartbeat -= timedelta(seconds=21)
    taskmanager.save()
    Lease.objects.create(name="jobmanager", expires_at=timezone.now() - timedelta(minutes=2))
    page = text(client, "/")
    assert "Heartbeat late" in page
    assert "No JobManager leads" in page


def test_the_overview_takes_as_many_queries_for_thirty_jobs_as_for_three(client: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            client.get("/")
        return len(captured)

    def more(jobs: int) -> None:
        for _ in range(jobs):
            job = pages.make_job()
            attempt = pages.make_attempt(job)
            for number in range(3):
                pages.make_checkpoint(attempt, number)
            pages.make_taskmanager(f"tm-{job.pk}", taken_by=job)

    more(3)
    few = queries()
    more(27)
    assert queries() == few <= 14


# --- jobs ----------------------------------------------------------------------------------------


def test_jobs_are_found_by_state_and_by_words(client: Client) -> None:
    first = pages.make_job("orders to lake")
    pages.make_job("clicks", JobState.FAILED)
    assert "clicks" not in text(client, "/jobs/?state=RUNNING")
    assert "orders to lake" not in text(client, "/jobs/?q=CLICK")
    assert "orders to lake" in text(client, f"/jobs/?q={first.pk[:10]}")
    assert "No job matches" in text(client, "/jobs/?q=nothing")
    assert "clicks" in text(client, "/jobs/?state=NONSENSE")


def test_jobs_come_in_pages(client: Client) -> None:
    for number in range(60):
        pages.make_job(f"job number {number}", JobState.FINISHED)
    page = text(client, "/jobs/?page=2&state=FINISHED")
    assert "51 to 60 of 60" in page
    assert "?page=1&amp;state=FINISHED" in page
    assert "51 to 60" in text(client, "/jobs/?page=99")


# --- one job -------------------------------------------------------------------------------------


def test_a_job_shows_its_figures(client: Client) -> None:
    job = pages.make_job(restarts=2, parallelism=1)
    attempt = pages.make_attempt(job, 3)
    pages.make_taskmanager(taken_by=job)
    for number in range(1, 6):
        pages.make_checkpoint(attempt, number, age=5 - number)
    page = text(client, f"/jobs/{job.pk}/")
    for expected in ("Running", "5,000", "1.5 s", "3.00 MiB", "Dead letters", "Window by origin"):
        assert expected in page
    assert f"/jobs/{job.pk}/act/cancel/" in page
    assert "Resume" not in page


def test_a_job_is_offered_what_can_be_asked_of_it(client: Client) -> None:
    def offered(state: JobState, wanted: Wanted = Wanted.RUNNING) -> set[str]:
        page = text(client, f"/jobs/{pages.make_job('x', state, wanted=wanted).pk}/")
        return {
            verb for verb in ("cancel", "suspend", "resume", "restart") if f"/act/{verb}/" in page
        }

    assert offered(JobState.RUNNING) == {"cancel", "suspend", "restart"}
    assert offered(JobState.CREATED) == {"cancel", "suspend"}
    assert offered(JobState.SUSPENDED, Wanted.SUSPENDED) == {"cancel", "resume"}
    assert offered(JobState.FAILED) == {"restart"}
    assert offered(JobState.FINISHED) == set()
    assert offered(JobState.RUNNING, Wanted.CANCELED) == set()


def test_a_job_says_where_it_is_headed(client: Client) -> None:
    job = pages.make_job(wanted=Wanted.CANCELED)
    assert "to be canceled" in text(client, f"/jobs/{job.pk}/")


def test_a_failure_is_told_until_the_job_came_through_behind_it(client: Client) -> None:
    job = pages.make_job(state=JobState.RESTARTING)
    attempt = pages.make_attempt(job)
    pages.make_failure(attempt, "TypeError: no such field", "Traceback …\nTypeError: no such field")
    assert "Last attempt failed" in text(client, f"/jobs/{job.pk}/")
    assert "Traceback …" in text(client, f"/jobs/{job.pk}/exceptions/")
    Job.objects.filter(pk=job.pk).update(state=JobState.RUNNING)
    pages.make_checkpoint(attempt, 1, age=-1)
    assert "Last attempt failed" not in text(client, f"/jobs/{job.pk}/")
    assert "no such field" in text(client, f"/jobs/{job.pk}/exceptions/")


def test_old_figures_are_called_old(client: Client) -> None:
    since = timezone.now() - timedelta(hours=1)
    job = pages.make_job(state_changed_at=since)
    pages.make_checkpoint(pages.make_attempt(job), 1, age=90)
    page = text(client, f"/jobs/{job.pk}/")
    assert "Nothing has been committed for" in page
    assert "the job may be stuck" in page


def test_a_job_that_has_read_everything_is_not_late(client: Client) -> None:
    since = timezone.now() - timedelta(hours=1)
    job = pages.make_job(state_changed_at=since)
    pages.make_checkpoint(pages.make_attempt(job), 1, age=90, lag={"flights": {"0": 0}})
    page = text(client, f"/jobs/{job.pk}/")
    assert "Nothing has been committed" not in page
    assert "caught up" in page


def test_names_are_never_markup(client: Client) -> None:
    job = pages.make_job("<script>alert(1)</script>", waiting_for="<b>slots</b>")
    attempt = pages.make_attempt(job)
    pages.make_failure(attempt, "<img src=x>", "<i>")
    pages.make_checkpoint(attempt, 1, counters={"<u>": 1}, lag={"<s>": {"0": 1}})
    for path in ("/", "/jobs/", f"/jobs/{job.pk}/", f"/jobs/{job.pk}/exceptions/"):
        page = text(client, path)
        for tag in ("<script>alert", "<b>slots", "<img src=x", "<u>", "<s>"):
            assert tag not in page


def test_checkpoints_are_summed_up_and_paged(client: Client) -> None:
    job = pages.make_job()
    attempt = pages.make_attempt(job)
    for number in range(60):
        pages.make_checkpoint(attempt, number, duration=100 + number)
    page = text(client, f"/jobs/{job.pk}/checkpoints/")
    assert "159 ms" in page
    assert "?before=10" in page
    older = text(client, f"/jobs/{job.pk}/checkpoints/?before=10")
    assert f"/checkpoints/{9}/" in older
    assert f"/checkpoints/{10}/" not in older


def test_one_checkpoint_shows_all_that_is_known(client: Client) -> None:
    job = pages.make_job()
    pages.make_checkpoint(pages.make_attempt(job), 7)
    page = text(client, f"/jobs/{job.pk}/checkpoints/7/")
    for expected in ("addBatch", "90007", "2013-01-01 10:00:00 UTC", "to delays", "1.5 s"):
        assert expected in page


def test_lag_is_shown_per_partition(client: Client) -> None:
    job = pages.make_job()
    pages.make_checkpoint(pages.make_attempt(job), 7)
    page = text(client, f"/jobs/{job.pk}/kafka/")
    assert "2 partitions, 150 records behind" in page
    assert "90,007" in page


def test_configuration_shows_the_program(client: Client, tmp_path: Path) -> None:
    program = tmp_path / "job.py"
    program.write_text("print('the program')\n")
    job = pages.make_job(entry=str(program), arguments=["--rate", "5"], configuration={"a.b": "c"})
    page = text(client, f"/jobs/{job.pk}/configuration/")
    for expected in ("the program", "--rate 5", "a.b", "exponential delay from 1 s"):
        assert expected in page


def test_what_is_new_for_a_chart_joins_what_it_has(client: Client) -> None:
    job = pages.make_job()
    attempt = pages.make_attempt(job)
    now = timezone.now()

    def complete(numbers: range) -> None:
        for number in numbers:
            pages.make_checkpoint(attempt, number, completed_at=now + timedelta(seconds=number))

    complete(range(0, 100))
    had = charts.answer(job, "15m", None, now + timedelta(seconds=100))["series"]
    assert 33 <= len(had["t"]) <= 35
    complete(range(100, 110))
    complete(range(170, 175))  # after a pause
    later = now + timedelta(seconds=175)
    new = charts.answer(job, "15m", int(had["t"][-1]), later)["series"]
    whole = charts.answer(job, "15m", None, later)["series"]
    kept = [t for t in had["t"] if t < new["t"][0]]
    for name, column in whole.items():
        assert had[name][: len(kept)] + new[name] == column
    answer = client.get(f"/jobs/{job.pk}/series/?range=1h").json()
    assert (answer["range"], answer["attempts"][0][1]) == (3_600, 1)


# --- log -----------------------------------------------------------------------------------------


def test_the_log_is_shown_from_its_end_and_goes_on_from_there(
    client: Client, tmp_path: Path
) -> None:
    job = pages.make_job()
    pages.make_attempt(job, 1, tmp_path)
    log = tmp_path / rundir.LOG
    log.write_text("".join(f"line {n}\n" for n in range(50_000)))
    page = text(client, f"/jobs/{job.pk}/log/")
    assert "line 49999" in page
    assert "line 1000<" not in page
    with log.open("a") as file:
        file.write("<b>ERROR</b> more\n")
    size = log.stat().st_size
    answer = client.get(f"/jobs/{job.pk}/log/1/lines/?after={size - 18}").json()
    assert answer["html"].strip() == (
        '<div class="line is-bad">&lt;b&gt;ERROR&lt;/b&gt; more</div>'
    )
    assert (answer["start"], answer["end"], answer["size"]) == (size - 18, size, size)
    file_answer = client.get(f"/jobs/{job.pk}/log/1/file/")
    assert "attachment" in file_answer["Content-Disposition"]
    assert len(b"".join(file_answer)) == size


def test_the_whole_log_is_searched_and_read_from_a_match_on(client: Client, tmp_path: Path) -> None:
    job = pages.make_job()
    pages.make_attempt(job, 1, tmp_path)
    written = "".join(f"line {n}\n" for n in range(40_000))
    (tmp_path / rundir.LOG).write_text(f"{written}<b>Needle</b> \xe9\n{written}")
    page = text(client, f"/jobs/{job.pk}/log/?q=needle")
    assert "1 line with" in page
    assert "&lt;b&gt;Needle&lt;/b&gt;" in page
    there = text(client, f"/jobs/{job.pk}/log/?attempt=1&at={len(written)}")
    assert '<div class="line">&lt;b&gt;Needle' in there
    assert "Later lines" in there
    assert "line 39999" not in there
    many = text(client, f"/jobs/{job.pk}/log/?q=LINE")
    assert many.count('class="line"><a') == 200
    assert "Search on" in many
    for odd in ("at=x", "at=99999999999", "q=%00", "q=x&from=-1", "from=99999999999&q=line"):
        assert client.get(f"/jobs/{job.pk}/log/?{odd}").status_code == 200


def test_a_log_on_another_machine_is_named(client: Client) -> None:
    job = pages.make_job()
    assert "No attempt yet" in text(client, f"/jobs/{job.pk}/log/")
    attempt = pages.make_attempt(job)
    attempt.taskmanager = pages.make_taskmanager()
    attempt.save()
    assert "its TaskManager is tm-1 on node-1" in text(client, f"/jobs/{job.pk}/log/")
    assert client.get(f"/jobs/{job.pk}/log/1/file/").status_code == 404


# --- submit --------------------------------------------------------------------------------------


def submit(client: Client, content: bytes, **values: str) -> str:
    file = SimpleUploadedFile("word_count.py", content)
    answer = client.post(
        "/submit/", {"file": file, "name": "", "arguments": "", "parallelism": "1", **values}
    )
    return answer["Location"] if answer.status_code == 302 else answer.content.decode()


def test_a_file_is_submitted_with_its_arguments(client: Client, alice: User) -> None:
    where = submit(client, b"print(1)\n", arguments="--path 'a b' -x", parallelism="2")
    job = Job.objects.get()
    assert where == f"/jobs/{job.pk}/"
    assert (job.name, job.arguments, job.parallelism) == ("word_count", ["--path", "a b", "-x"], 2)
    assert job.submitted_by == alice
    assert Event.objects.filter(job=job, kind=Event.Kind.SUBMITTED).exists()


@pytest.mark.parametrize(
    ("content", "values", "words"),
    [
        (b"def broken(:\n", {}, "SyntaxError"),
        (b"print(1)\n", {"arguments": "'open"}, "no arguments of a command line"),
        (b"print(1)\n", {"parallelism": "0"}, "greater than or equal to 1"),
        (b"print(1)\n", {"parallelism": "many"}, "Enter a whole number"),
        (b"#" * (artifacts.MAX_BYTES + 1), {}, "at most 5242880 are taken"),
        (b"", {}, "empty"),
    ],
)
def test_what_cannot_run_is_refused_with_the_reason(
    client: Client, content: bytes, values: dict[str, str], words: str
) -> None:
    page = submit(client, content, **values)
    assert words in page
    assert "Nothing was submitted" in page
    assert not Job.objects.exists()


# --- regions -------------------------------------------------------------------------------------


def test_polling_answers_with_the_regions_of_the_page(client: Client) -> None:
    job = pages.make_job()
    pages.make_checkpoint(pages.make_attempt(job), 7)
    answer = json.loads(client.get(f"/jobs/{job.pk}/live/overview/?poll").content)
    assert set(answer["regions"]) == {"head", "notice", "figures", "graph", "state", "latest"}
    assert answer["newest"] == 7
    assert answer["title"] == "flight delays · Running"
    head_only = json.loads(client.get(f"/jobs/{job.pk}/live/log/?poll").content)
    assert set(head_only["regions"]) == {"head", "notice"}


def test_time_that_passes_is_no_news(client: Client) -> None:
    from dashboard import pages as live_pages

    job = pages.make_job()
    pages.make_checkpoint(pages.make_attempt(job), 7, age=3)
    regions = live_pages.TABS["overview"].regions
    first = live_pages.job_again(job.pk, regions)
    Job.objects.filter(pk=job.pk).update(created_at=job.created_at)
    second = live_pages.job_again(job.pk, regions)
    assert second.changed(first.digests()) == {}
    pages.make_checkpoint(Job.objects.get().attempts.get(), 8)
    third = live_pages.job_again(job.pk, regions)
    assert {"figures", "latest"} <= set(third.changed(first.digests()))
