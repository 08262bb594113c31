"""Pages that are not of one job: what they cost, and who sees what."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard import urls
from jobs.models import (
    Alert,
    AlertChannel,
    AlertRule,
    Event,
    Membership,
    Savepoint,
    Schedule,
    Secret,
    Team,
    Upload,
)
from jobs.roles import Role
from jobs.states import AlertState, JobState
from tests.service import everything, pages
from tests.service.cluster_pages.conftest import as_user, person, text_of

pytestmark = pytest.mark.django_db


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
