"""The pages that are not of one job: what they show, who sees what, what they change."""

from __future__ import annotations

import csv
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard import urls
from jobs import planning
from jobs.models import (
    Alert,
    AlertChannel,
    AlertDelivery,
    AlertRule,
    ApiToken,
    AuditEntry,
    Event,
    Job,
    Lease,
    Membership,
    Savepoint,
    Schedule,
    Secret,
    Team,
    Upload,
)
from jobs.roles import Role
from jobs.states import AlertState, JobState, Wanted
from tests.service import everything, pages

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(alice: User) -> Client:
    return as_user(alice)


def as_user(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def person(name: str, team: Team | None, role: Role) -> User:
    user = User.objects.create_user(name, password=f"{name}-password")
    Membership.objects.create(user=user, team=team, role=role)
    return user


def text_of(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, (path, answer.status_code)
    return answer.content.decode()


def actions() -> list[str]:
    """What was done, beside the logins."""
    rows = AuditEntry.objects.exclude(action="login").filter(result="ok").order_by("pk")
    return list(rows.values_list("action", flat=True))


# --- all pages ---


def test_every_page_opens_and_asks_the_database_a_bounded_number_of_times(
    admin: Client, alice: User, tmp_path: Path
) -> None:
    found = list(everything.make(alice, tmp_path).pages())
    visited = {name for name, _ in found}
    assert visited | everything.NO_PAGES == {str(pattern.name) for pattern in urls.urlpatterns}
    slow = []
    for name, address in found:
        with CaptureQueriesContext(
            connection,
        ) as asked:
            answer = admin.get(address)
        assert answer.status_code == 200, (name, address, answer.status_code)
        assert "unsafe" not in answer["Content-Security-Policy"], address
        if len(asked) > 40:
            slow.append((name, address, len(asked)))
    assert slow == []


def test_lists_take_as_many_queries_for_many_rows_as_for_few(admin: Client, alice: User) -> None:
    few = counted(admin)
    for number in range(20):
        job = pages.make_job(f"job {number}")
        pages.make_checkpoint(pages.make_attempt(job), 1)
        pages.make_taskmanager(f"tm-{number}", taken_by=job)
        Savepoint.objects.create(job=job, job_name=job.name, path=f"/s/{number}")
        Schedule.objects.create(name=str(number), cron="* * * * *", grace=1, created_by_name="x")
        Upload.objects.create(name=f"{number}.py", path="/x", sha256="0", size=1)
        team = Team.objects.create(name=str(number))
        Membership.objects.create(user=alice, team=team, role=Role.ADMIN)
        Secret.objects.create(name=f"S{number}", team=team, ciphertext="x")
        AlertChannel.objects.create(name=str(number), kind="email", address="a@example.org")
        AlertRule.objects.create(name=str(number), kind="lag", job=job)
    many = counted(admin)
    grown = {path: (few[path], many[path]) for path in few if many[path] > few[path] + 3}
    assert grown == {}


LISTS = (
    *("/", "/jobs/", "/taskmanagers/", "/savepoints/", "/schedules/", "/alerts/", "/audit/"),
    *("/alerts/rules/", "/alerts/channels/", "/alerts/deliveries/", "/teams/", "/secrets/"),
    *("/submit/", "/account/", "/jobmanager/"),
)


def counted(client: Client) -> dict[str, int]:
    found = {}
    for path in LISTS:
        with CaptureQueriesContext(connection) as asked:
            text_of(client, path)
        found[path] = len(asked)
    return found


# --- who sees what ---


def test_a_teams_rows_are_its_members_and_the_admins(admin: Client) -> None:
    team, other = Team.objects.create(name="payments"), Team.objects.create(name="fleet")
    job = pages.make_job("fraud scores", team=team)
    pages.make_checkpoint(pages.make_attempt(job), 1)
    pages.make_taskmanager(taken_by=job)
    Savepoint.objects.create(job=job, job_name=job.name, path="/s/1")
    Schedule.objects.create(
        name="fraud scores", cron="* * * * *", grace=1, created_by_name="x", team=team
    )
    member = as_user(person("mary", team, Role.VIEWER))
    stranger = as_user(person("sam", other, Role.ADMIN))
    for path in ("/", "/jobs/", "/taskmanagers/", "/savepoints/", "/schedules/"):
        assert "fraud scores" in text_of(admin, path), path
        assert "fraud scores" in text_of(member, path), path
        assert "fraud scores" not in text_of(stranger, path), path
    assert "of another team" in text_of(stranger, "/taskmanagers/")
    live = stranger.get("/live/jobs/?poll").json()["regions"]["rows"]
    assert "fraud scores" not in live
    assert "fraud scores" in member.get("/live/jobs/?poll").json()["regions"]["rows"]


def test_alerts_that_fire_are_counted_for_who_may_see_them(admin: Client) -> None:
    """In the navigation, on the page and in what is told to one that is open."""
    team = Team.objects.create(name="payments")
    rule = AlertRule.objects.create(name="behind", kind=AlertRule.Kind.LAG, threshold=1)
    for job in (pages.make_job(), pages.make_job("theirs", team=team)):
        Alert.objects.create(rule=rule, job=job, state=AlertState.FIRING, since=timezone.now())
    other = as_user(person("bill", Team.objects.create(name="other"), Role.VIEWER))
    for client, count in ((admin, 2), (other, 1)):
        assert f"<span>{count}</span>" in text_of(client, "/jobs/")
        assert client.get("/live/jobs/?poll").json()["firing"] == count
        assert f"{count} firing" in text_of(client, "/alerts/rules/")


def test_what_a_teams_schedule_did_is_no_event_for_others(admin: Client) -> None:
    Event.objects.create(kind=Event.Kind.SCHEDULE, message="schedule bonus payout: paused")
    Event.objects.create(kind=Event.Kind.TASKMANAGER, message="TaskManager tm-1: lost")
    other = as_user(person("bill", Team.objects.create(name="other"), Role.VIEWER))
    assert "bonus payout" in text_of(admin, "/")
    page = text_of(other, "/")
    assert "tm-1: lost" in page
    assert "bonus payout" not in page


def test_who_may_only_look_sees_no_way_to_change_anything(db: None) -> None:
    viewer = as_user(User.objects.create_user("bob", password="bob-password"))
    job = pages.make_job()
    pages.make_taskmanager()
    Savepoint.objects.create(job=job, job_name=job.name, path="/s/1", state="COMPLETED")
    AlertRule.objects.create(name="a rule", kind="lag")
    for path in ("/jobs/", "/taskmanagers/tm-1/", "/savepoints/", "/alerts/rules/", "/"):
        page = text_of(viewer, path)
        assert "data-verb" not in page, path
        assert "bulk-bar" not in page
        assert 'href="/submit/' not in page
        assert 'href="/audit/"' not in page
    for path in ("/submit/", "/audit/", "/audit/export/", "/alerts/rules/new/", "/secrets/"):
        assert viewer.get(path).status_code == 403, path
    for path in ("/taskmanagers/tm-1/act/drain/", "/teams/new/", "/teams/roles/"):
        assert viewer.post(path).status_code == 403, path
    assert job.state == JobState.RUNNING


# --- jobs ---


def test_jobs_are_found_by_state_team_and_words(admin: Client) -> None:
    team = Team.objects.create(name="payments")
    pages.make_job("orders", team=team)
    pages.make_job("clicks", JobState.FAILED)
    pages.make_job("old orders", JobState.FINISHED, archived_at=timezone.now())
    for query, names in (
        ("", {"orders", "clicks"}),
        ("state=FAILED", {"clicks"}),
        ("state=running", {"orders"}),
        ("state=completed", {"clicks"}),
        ("q=ORD", {"orders"}),
        (f"team={team.pk}", {"orders"}),
        ("team=none", {"clicks"}),
        ("archived=1", {"old orders"}),
        ("q=nothing", set()),
        ("state=bogus&team=x&sort=y&page=z", {"orders", "clicks"}),
    ):
        page = text_of(admin, f"/jobs/?{query}")
        assert {n for n in ("orders", "clicks", "old orders") if f">{n}</a>" in page} == names


def test_several_jobs_are_cancelled_at_once_after_a_question(admin: Client) -> None:
    running = [pages.make_job(name) for name in ("one", "two")]
    ended = pages.make_job("three", JobState.FINISHED)
    chosen = {"verb": "cancel", "job": [job.pk for job in (*running, ended)], "back": "/jobs/?q=o"}
    question = admin.post("/jobs/act/", chosen).content.decode()
    assert "Cancel: 2 jobs?" in question
    assert "it is finished" in question
    assert not Job.objects.filter(wanted=Wanted.CANCELED).exists()

    answer = admin.post("/jobs/act/", {**chosen, "confirmed": "1"}, follow=True)
    assert answer.redirect_chain == [("/jobs/?q=o", 302)]
    assert "Cancelling 2 jobs." in answer.content.decode()
    assert set(Job.objects.filter(wanted=Wanted.CANCELED)) == set(running)
    assert actions() == ["job.cancel", "job.cancel"]


@pytest.mark.parametrize("verb", ["savepoint", "stop", "suspend", "restart"])
def test_what_is_asked_of_several_jobs_is_asked_of_each(verb: str, admin: Client) -> None:
    for name in ("one", "two"):
        job = pages.make_job(name, current_attempt=1)
        pages.make_attempt(job)
    pks = list(Job.objects.values_list("pk", flat=True))
    admin.post("/jobs/act/", {"verb": verb, "job": pks, "confirmed": "1"})
    assert actions() == [f"job.{verb}"] * 2
    assert AuditEntry.objects.filter(action=f"job.{verb}", result="ok").count() == 2


def test_a_job_that_one_may_not_operate_is_left_alone(db: None) -> None:
    team = Team.objects.create(name="payments")
    mine, seen = pages.make_job("mine", team=team), pages.make_job("seen")
    hidden = pages.make_job("of others", team=Team.objects.create(name="other"))
    client = as_user(person("olga", team, Role.OPERATOR))
    jobs = [mine.pk, seen.pk, hidden.pk]
    question = client.post("/jobs/act/", {"verb": "cancel", "job": jobs}).content.decode()
    assert "your account may not act on it" in question
    assert "of others" not in question
    client.post("/jobs/act/", {"verb": "cancel", "job": jobs, "confirmed": "1"})
    assert list(Job.objects.filter(wanted=Wanted.CANCELED)) == [mine]


@pytest.mark.parametrize(
    "sent", [{}, {"verb": "explode", "job": "x"}, {"verb": "cancel"}, {"back": "//evil.example"}]
)
def test_a_wrong_request_about_several_jobs_changes_nothing(
    sent: dict[str, Any], admin: Client
) -> None:
    answer = admin.post("/jobs/act/", sent)
    assert (answer.status_code, answer["Location"]) == (302, "/jobs/")


# --- submitting ---


def test_a_program_is_uploaded_chosen_and_submitted(admin: Client) -> None:
    file = SimpleUploadedFile("hello.py", b"print('hello')\n")
    answer = admin.post("/submit/", {"file": file, "parallelism": 1, "do": "upload"})
    upload = Upload.objects.get()
    assert answer["Location"] == f"/submit/?program={upload.pk}"
    assert "hello.py" in text_of(admin, answer["Location"])

    wish = {
        "program": upload.pk,
        "name": "my job",
        "arguments": "--rate '5 6'",
        "parallelism": 3,
        "configuration": "# a comment\nexecution.checkpointing.interval: 10 s\n",
        "do": "submit",
    }
    answer = admin.post("/submit/", wish)
    job = Job.objects.get()
    assert answer["Location"] == f"/jobs/{job.pk}/"
    assert (job.name, job.arguments, job.parallelism) == ("my job", ["--rate", "5 6"], 3)
    assert job.configuration == {"execution.checkpointing.interval": "10 s"}
    assert actions() == ["program.upload", "job.submit"]


def test_an_example_is_submitted(admin: Client) -> None:
    admin.post("/submit/", {"program": "example:word_count", "parallelism": 1})
    assert Job.objects.get().entry_name == "word_count.py"


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({}, "Choose a program."),
        ({"program": "nothing"}, "this program is not there any more"),
        ({"program": "example:nothing"}, "there is no example of this name"),
        ({"program": "example:word_count", "configuration": "no colon"}, "Line 1 is no"),
        ({"program": "example:word_count", "arguments": "'open"}, "no arguments of a command"),
        ({"program": "example:word_count", "savepoint": "/nowhere"}, "/nowhere"),
        ({"program": "example:word_count", "parallelism": "0"}, "greater than or equal to 1"),
        ({"program": "example:word_count", "when": "cron", "cron": "x"}, "has not five fields"),
        ({"program": "example:word_count", "when": "at"}, "say either when it starts"),
    ],
)
def test_a_wrong_wish_is_refused_and_says_why(
    wish: dict[str, str], words: str, admin: Client
) -> None:
    answer = admin.post("/submit/", {"parallelism": 1, **wish})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Job.objects.exists()
    assert not Schedule.objects.exists()


def test_the_plan_is_shown_and_nothing_starts(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(planning, "plan", lambda *wish: asked.append(wish) or pages.PLAN)
    wish = {"program": "example:word_count", "parallelism": 2, "arguments": "-x", "do": "plan"}
    page = admin.post("/submit/", wish).content.decode()
    assert "The plan of word_count.py" in page
    assert "Window by origin" in page
    assert asked[0][1:] == (["-x"], 2, {})
    assert not Job.objects.exists()


PROGRAM = b"""
from headrace.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1]).key_by(lambda x: x).reduce(max).name("largest").print()
env.execute("planned")
"""


def test_a_file_is_uploaded_and_planned_as_it_is(admin: Client) -> None:
    wish = {"file": SimpleUploadedFile("largest.py", PROGRAM), "parallelism": 3, "do": "plan"}
    page = admin.post("/submit/", wish).content.decode()
    assert "The plan of largest.py" in page
    assert "<title>largest</title>" in page
    assert "parallelism 3" in page
    assert ">HASH<" in page
    assert f'name="program" value="{Upload.objects.get().pk}"' in page
    assert not Job.objects.exists()


def test_a_program_without_a_plan_says_what_it_printed(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise planning.NoPlan("word_count.py has no plan: boom", "Traceback: boom")

    monkeypatch.setattr(planning, "plan", none)
    wish = {"program": "example:word_count", "parallelism": 1, "do": "plan"}
    answer = admin.post("/submit/", wish)
    assert answer.status_code == 422
    assert "Traceback: boom" in answer.content.decode()


def test_a_job_is_scheduled(admin: Client) -> None:
    wish = {
        "program": "example:word_count",
        "name": "nightly",
        "parallelism": 1,
        "when": "cron",
        "cron": "0 3 * * *",
        "time_zone": "Europe/Berlin",
    }
    answer = admin.post("/submit/", wish)
    row = Schedule.objects.get()
    assert answer["Location"] == f"/schedules/{row.pk}/"
    assert (row.cron, row.time_zone) == ("0 3 * * *", "Europe/Berlin")
    assert "nightly" in text_of(admin, "/schedules/")
    assert not Job.objects.exists()


def test_a_developer_of_a_team_submits_for_it_alone(db: None) -> None:
    team, other = Team.objects.create(name="payments"), Team.objects.create(name="fleet")
    client = as_user(person("dora", team, Role.DEVELOPER))
    wish = {"program": "example:word_count", "parallelism": 1}
    for wrong in ("", str(other.pk)):
        assert client.post("/submit/", {**wish, "team": wrong}).status_code == 422
    assert client.post("/submit/", {**wish, "team": str(team.pk)}).status_code == 302
    assert Job.objects.get().team == team


def test_an_uploaded_program_is_deleted(admin: Client) -> None:
    row = Upload.objects.create(name="a.py", path="/x", sha256="0", size=1)
    address = f"/submit/{row.pk}/delete/"
    assert "Delete a.py?" in text_of(admin, address)
    admin.post(address)
    assert not Upload.objects.exists()
    assert actions() == ["program.delete"]


def test_uploading_can_be_switched_off(admin: Client, settings: Any) -> None:
    settings.HEADRACE_UPLOADS = False
    assert 'type="file"' not in text_of(admin, "/submit/")
    file = SimpleUploadedFile("hello.py", b"print('hello')\n")
    assert admin.post("/submit/", {"file": file, "parallelism": 1}).status_code == 422
    assert not Upload.objects.exists()


# --- the cluster ---


def test_a_taskmanager_is_drained_and_offers_itself_again(admin: Client) -> None:
    row = pages.make_taskmanager()
    address = "/taskmanagers/tm-1/act/drain/"
    assert "It gets no new jobs" in text_of(admin, address)
    row.refresh_from_db()
    assert row.drained_at is None
    assert admin.post(address)["Location"] == "/taskmanagers/tm-1/"
    row.refresh_from_db()
    assert row.drained_at is not None
    assert "Offer again" in text_of(admin, "/taskmanagers/tm-1/")
    admin.post("/taskmanagers/tm-1/act/undrain/")
    row.refresh_from_db()
    assert row.drained_at is None
    assert actions() == ["taskmanager.drain", "taskmanager.undrain"]


def test_the_job_manager_page_says_who_leads_and_hides_secrets(
    admin: Client, settings: Any
) -> None:
    now = timezone.now()
    assert "No JobManager has led yet" in text_of(admin, "/jobmanager/")
    lease = Lease.objects.create(name="jobmanager", holder="jm-a", epoch=3, expires_at=now)
    Lease.objects.update(expires_at=now + timedelta(minutes=1))
    page = text_of(admin, "/jobmanager/")
    assert "jm-a" in page
    Lease.objects.filter(pk=lease.pk).update(expires_at=now - timedelta(minutes=1))
    assert "No JobManager leads" in text_of(admin, "/jobmanager/")
    settings.HEADRACE_PROPERTIES = {"s3.secret-key": "hush", "parallelism.default": "4"}
    page = text_of(admin, "/jobmanager/configuration/")
    assert "s3.secret-key" in page
    assert "hush" not in page


@pytest.mark.parametrize("path", ["/live/nothing/", "/live/taskmanager/?poll&name=nobody"])
def test_streams_of_what_is_not_there(path: str, admin: Client) -> None:
    assert admin.get(path).status_code in (404, 410)
    assert Client().get("/live/overview/").status_code == 401


def test_logs_of_processes_are_read_by_range(admin: Client, tmp_path: Path, settings: Any) -> None:
    settings.HEADRACE_LOGS = tmp_path
    pages.make_taskmanager()
    assert "writes no log where" in text_of(admin, "/taskmanagers/tm-1/log/")
    log = tmp_path / "taskmanager-tm-1.log"
    log.write_text("first\nERROR password=hunter2 \nlast\n")
    page = text_of(admin, "/taskmanagers/tm-1/log/")
    assert "last" in page
    assert "hunter2" not in page
    part = "/taskmanagers/tm-1/log/taskmanager-tm-1.log"
    assert "last" in admin.get(f"{part}/lines/?after=6").json()["html"]
    assert "first" not in admin.get(f"{part}/lines/?after=6").json()["html"]
    assert "first" in admin.get(f"{part}/lines/?before=6").json()["html"]
    for odd in ("after=x", "after=99999999999999999999", "before=-1"):
        assert admin.get(f"{part}/lines/?{odd}").status_code == 200
    assert admin.get("/taskmanagers/tm-1/log/?file=nothing").status_code == 404
    assert admin.get("/taskmanagers/nobody/log/").status_code == 404
    (tmp_path / "jobmanager.log").write_text("leads\n")
    assert "leads" in text_of(admin, "/jobmanager/log/")


@pytest.mark.parametrize("path", ["/charts/", "/jobmanager/charts/", "/taskmanagers/tm-1/charts/"])
def test_charts_have_their_points(path: str, admin: Client) -> None:
    pages.make_taskmanager()
    for query in ("", "range=1y", "range=nonsense"):
        found = admin.get(f"{path}?{query}").json()
        assert found["names"]
        assert found["range"] in (900, 31_536_000)


# --- savepoints and schedules ---


def test_savepoints_are_searched_and_disposed_of(admin: Client) -> None:
    job = pages.make_job("orders")
    row = Savepoint.objects.create(
        job=job, job_name="orders", path="/s/one", state="COMPLETED", reason="before the upgrade"
    )
    Savepoint.objects.create(job_name="clicks", path="/s/two", state="FAILED")
    assert "/s/one" in text_of(admin, "/savepoints/?q=upgrade")
    assert "/s/two" not in text_of(admin, "/savepoints/?q=upgrade")
    assert "/s/one" not in text_of(admin, "/savepoints/?state=FAILED")
    assert "Dispose of the savepoint of orders?" in text_of(admin, f"/savepoints/{row.pk}/dispose/")
    admin.post(f"/savepoints/{row.pk}/dispose/")
    row.refresh_from_db()
    assert row.state == "DISPOSING"
    assert actions() == ["savepoint.dispose"]


def test_schedules_are_paused_resumed_and_deleted(admin: Client) -> None:
    row = Schedule.objects.create(
        name="nightly", cron="0 3 * * *", grace=1, created_by_name="x", next_run_at=timezone.now()
    )
    admin.post(f"/schedules/{row.pk}/pause/")
    row.refresh_from_db()
    assert row.paused_at is not None
    admin.post(f"/schedules/{row.pk}/resume/")
    row.refresh_from_db()
    assert row.paused_at is None
    assert admin.post(f"/schedules/{row.pk}/delete/")["Location"] == "/schedules/"
    assert not Schedule.objects.exists()
    assert actions() == ["schedule.pause", "schedule.resume", "schedule.delete"]
    assert admin.get(f"/schedules/{row.pk}/").status_code == 404


# --- alerts ---


def test_a_rule_is_made_changed_and_deleted(admin: Client) -> None:
    channel = AlertChannel.objects.create(name="mail", kind="email", address="a@example.org")
    wish = {
        "name": "far behind",
        "kind": "lag",
        "threshold": 1000,
        "seconds": 60,
        "channels": [channel.pk],
        "enabled": "on",
    }
    assert admin.post("/alerts/rules/new/", wish)["Location"] == "/alerts/rules/"
    rule = AlertRule.objects.get()
    assert list(rule.channels.all()) == [channel]
    admin.post(f"/alerts/rules/{rule.pk}/", {**wish, "threshold": 5, "enabled": ""})
    rule.refresh_from_db()
    assert (rule.threshold, rule.enabled) == (5, False)
    wrong = admin.post("/alerts/rules/new/", {**wish, "kind": "restarts", "seconds": 0})
    assert wrong.status_code == 422
    admin.post(f"/alerts/rules/{rule.pk}/delete/")
    assert not AlertRule.objects.exists()
    assert actions() == ["alert-rule.create", "alert-rule.change", "alert-rule.delete"]


def test_a_channels_secret_and_path_are_never_shown_and_stay_when_left_empty(
    admin: Client,
) -> None:
    wish = {
        "name": "on call",
        "kind": "webhook",
        "address": "https://hooks.example.org/T0/hush",
        "secret": "0123456789abcdef0123",
    }
    admin.post("/alerts/channels/new/", wish)
    row = AlertChannel.objects.get()
    for path in ("/alerts/channels/", f"/alerts/channels/{row.pk}/"):
        page = text_of(admin, path)
        assert "hush" not in page
        assert "0123456789abcdef" not in page
        assert "hooks.example.org" in page
    changed = {"name": "on call 2", "kind": "webhook", "address": "", "secret": ""}
    assert admin.post(f"/alerts/channels/{row.pk}/", changed).status_code == 302
    row.refresh_from_db()
    assert (row.name, row.address, row.secret) == ("on call 2", wish["address"], wish["secret"])


def test_a_channel_is_tried_out(admin: Client) -> None:
    row = AlertChannel.objects.create(name="mail", kind="email", address="a@example.org")
    admin.post(f"/alerts/channels/{row.pk}/test/")
    assert AlertDelivery.objects.get().about == "test"
    assert "A test" in text_of(admin, "/alerts/deliveries/")
    assert actions() == ["alert-channel.test"]


# --- people ---


def test_a_token_is_shown_once_and_revoked(admin: Client, alice: User) -> None:
    wish = {"name": "pipeline", "role": Role.OPERATOR.value, "days": "30"}
    answer = admin.post("/account/tokens/", wish)
    row = ApiToken.objects.get()
    page = answer.content.decode()
    start = page.index('id="new-token"')
    key = page[page.index(">", start) + 1 : page.index("<", start)]
    assert key.startswith(row.prefix)
    assert Client().get("/api/overview/", HTTP_AUTHORIZATION=f"Bearer {key}").status_code == 200
    assert key not in text_of(admin, "/account/")
    assert row.expires_at is not None

    stranger = as_user(User.objects.create_user("bob", password="bob-password"))
    assert stranger.post(f"/account/tokens/{row.pk}/revoke/").status_code == 404
    admin.post(f"/account/tokens/{row.pk}/revoke/")
    assert not ApiToken.objects.exists()
    assert Client().get("/api/overview/", HTTP_AUTHORIZATION=f"Bearer {key}").status_code == 401
    assert actions() == ["token.create", "token.revoke"]


def test_nobody_makes_a_token_that_may_more(db: None) -> None:
    client = as_user(User.objects.create_user("bob", password="bob-password"))
    answer = client.post("/account/tokens/", {"name": "x", "role": Role.ADMIN.value, "days": ""})
    assert answer.status_code == 422
    assert not ApiToken.objects.exists()


def test_the_password_is_changed(admin: Client, alice: User) -> None:
    wish = {"old_password": "wrong", "new_password1": "a-new-one-9", "new_password2": "a-new-one-9"}
    assert admin.post("/account/password/", wish).status_code == 422
    alice.set_password("alice-password")
    alice.save()
    client = as_user(alice)
    client.post("/account/password/", {**wish, "old_password": "alice-password"})
    alice.refresh_from_db()
    assert alice.check_password("a-new-one-9")
    assert client.get("/").status_code == 200


def test_teams_and_members(admin: Client) -> None:
    User.objects.create_user("bob", password="bob-password")
    admin.post("/teams/new/", {"name": "payments", "description": "money"})
    team = Team.objects.get()
    give = f"/teams/{team.pk}/members/"
    assert admin.post(give, {"username": "nobody", "role_number": 2}).status_code == 422
    admin.post(give, {"username": "bob", "role_number": Role.OPERATOR.value})
    row = Membership.objects.get()
    assert (row.user.username, row.role, row.team) == ("bob", Role.OPERATOR, team)
    assert "bob" in text_of(admin, f"/teams/{team.pk}/")
    admin.post(f"/teams/members/{row.pk}/take/")
    assert not Membership.objects.exists()
    admin.post("/teams/roles/", {"username": "bob", "role_number": Role.DEVELOPER.value})
    assert Membership.objects.get().team is None

    job = pages.make_job(team=team)
    admin.post(f"/teams/{team.pk}/delete/")
    assert Team.objects.exists()
    job.delete()
    admin.post(f"/teams/{team.pk}/delete/")
    assert not Team.objects.exists()


def test_a_teams_admin_keeps_its_members_and_no_others(db: None) -> None:
    team, other = Team.objects.create(name="payments"), Team.objects.create(name="fleet")
    client = as_user(person("tina", team, Role.ADMIN))
    User.objects.create_user("bob", password="bob-password")
    wish = {"username": "bob", "role_number": Role.VIEWER.value}
    assert client.post(f"/teams/{team.pk}/members/", wish).status_code == 302
    assert client.post(f"/teams/{other.pk}/members/", wish).status_code == 404
    assert client.post("/teams/roles/", wish).status_code == 403
    assert client.post("/teams/new/", {"name": "x"}).status_code == 403
    row = Membership.objects.create(user=User.objects.get(username="bob"), team=other, role=1)
    assert client.post(f"/teams/members/{row.pk}/take/").status_code == 404


def test_a_secret_goes_in_and_never_comes_out(admin: Client) -> None:
    wish = {"name": "DATABASE_PASSWORD", "value": "correct horse", "description": "of orders"}
    assert admin.post("/secrets/", wish)["Location"] == "/secrets/"
    page = text_of(admin, "/secrets/")
    assert "DATABASE_PASSWORD" in page
    assert "correct horse" not in page
    wrong = admin.post("/secrets/", {**wish, "name": "lower case"})
    assert wrong.status_code == 422
    assert "correct horse" not in wrong.content.decode()
    entry = AuditEntry.objects.get(action="secret.keep")
    assert "correct horse" not in str(entry.detail)
    admin.post(f"/secrets/{Secret.objects.get().pk}/delete/")
    assert not Secret.objects.exists()


# --- the audit log ---


def test_the_audit_log_is_filtered_and_exported(admin: Client, alice: User) -> None:
    job = pages.make_job("orders")
    admin.post(f"/jobs/{job.pk}/act/suspend/")
    AuditEntry.objects.create(username="=cmd()", action="try", via="login", address="10.1.2.3")
    assert "10.1.2.3" in text_of(admin, "/audit/?q=10.1.")
    assert "10.1.2.3" not in text_of(admin, "/audit/?who=alice")
    assert "orders" in text_of(admin, "/audit/?action=job")
    for odd in ("since=x", "until=2026-13-45", "since=2020-01-01&until=9999-12-31", "result=no"):
        assert admin.get(f"/audit/?{odd}").status_code == 200
    answer = admin.get("/audit/export/?action=try")
    text = b"".join(answer).decode()  # type: ignore[arg-type]
    rows = list(csv.DictReader(StringIO(text)))
    assert [row["address"] for row in rows] == ["10.1.2.3"]
    assert rows[0]["username"] == "'=cmd()"  # no formula
