"""Schedules by REST, and the jobs that the leading JobManager starts for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from headrace.wire import savepoint
from jobs import beginnings
from jobs import schedules as kept
from jobs.models import Event, Job, Schedule, ScheduledRun
from jobs.states import JobState
from tests.service.conftest import PROGRAM
from workers import schedules

pytestmark = pytest.mark.django_db

HOURLY = "0 * * * *"
Outcome = ScheduledRun.Outcome


@pytest.fixture
def client(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


def post(client: Client, code: int = 201, **values: Any) -> dict[str, Any]:
    file = SimpleUploadedFile("nightly.py", PROGRAM)
    answer = client.post("/api/schedules/", {"file": file, **values})
    assert answer.status_code == code, answer.content
    found: dict[str, Any] = answer.json()
    return found


def schedule(user: User, **values: Any) -> Schedule:
    when = values or {"cron": HOURLY}
    return kept.create("nightly", (PROGRAM, "nightly.py"), user=user, **when)


def settle(now: datetime) -> None:
    """As the leader does with each tick."""
    schedules.settle(now, nullcontext)


def runs(row: Schedule) -> list[tuple[str, str]]:
    return [(run.outcome, run.why) for run in row.runs.order_by("planned_at")]


def test_one_is_made_looked_at_paused_and_deleted(client: Client) -> None:
    made = post(
        client,
        cron="0 6 * * *",
        time_zone="Europe/Berlin",
        parallelism=2,
        configuration='{"sasl.password": "geheim"}',
    )
    row = Schedule.objects.get(pk=made["id"])
    assert (row.name, row.parallelism, row.created_by_name) == ("nightly", 2, "alice")
    assert row.next_run_at is not None and row.next_run_at > timezone.now()
    assert "geheim" not in client.get(f"/api/schedules/{row.pk}/").content.decode()

    paused = client.post(f"/api/schedules/{row.pk}/pause/").json()
    assert paused["paused_at"] is not None and paused["next_run_at"] is None
    settle(timezone.now() + timedelta(days=2))
    assert not Job.objects.exists()
    resumed = client.post(f"/api/schedules/{row.pk}/resume/").json()
    assert resumed["paused_at"] is None and resumed["next_run_at"] is not None

    assert [each["id"] for each in client.get("/api/schedules/").json()["results"]] == [row.pk]
    assert client.delete(f"/api/schedules/{row.pk}/").status_code == 204
    assert not Schedule.objects.exists()
    assert Event.objects.filter(message="schedule nightly: deleted by alice").exists()


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({}, "say either when it starts (at) or how often (cron)"),
        ({"cron": HOURLY, "at": "2999-01-01T00:00:00Z"}, "say either"),
        ({"at": "2999-01-01T00:00:00"}, "say the zone, too"),
        ({"at": "2020-01-01T00:00:00Z"}, "has passed"),
        ({"cron": "every day"}, "has not five fields"),
        ({"cron": HOURLY, "grace": "a while"}, "is no duration"),
        ({"cron": HOURLY, "parallelism": 0}, "parallelism"),
    ],
)
def test_what_cannot_be_is_refused(client: Client, values: dict[str, Any], why: str) -> None:
    assert why in post(client, 400, **values)["errors"][0]
    assert not Schedule.objects.exists()


def test_who_may_not_submit_may_not_schedule(client: Client, alice: User) -> None:
    row = schedule(alice)
    alice.is_staff = False
    alice.save()
    post(client, 403, cron=HOURLY)
    for verb in ("pause", "resume"):
        assert client.post(f"/api/schedules/{row.pk}/{verb}/").status_code == 403
    assert client.delete(f"/api/schedules/{row.pk}/").status_code == 403


def test_each_time_is_a_job_of_its_own_once_the_one_before_has_ended(alice: User) -> None:
    row = schedule(alice)
    assert row.next_run_at is not None
    first = row.next_run_at
    settle(first - timedelta(seconds=1))
    assert runs(row) == []

    settle(first)
    job = Job.objects.get()
    assert (job.name, job.submitted_by, job.state) == ("nightly", alice, JobState.INITIALIZING)
    settle(first + timedelta(hours=1))
    Job.objects.update(state=JobState.FINISHED)
    settle(first + timedelta(hours=2))
    assert runs(row) == [
        (Outcome.STARTED, ""),
        (Outcome.SKIPPED, f"its job {job.pk} has not ended"),
        (Outcome.STARTED, ""),
    ]
    assert Job.objects.count() == 2


def test_two_that_believe_they_lead_start_one_job(alice: User) -> None:
    row = schedule(alice)
    assert row.next_run_at is not None
    same = Schedule.objects.get(pk=row.pk)
    at, following = row.next_run_at, row.next_run_at + timedelta(hours=1)

    job = kept.next_job(row)
    assert kept.settle(row, at, following, Outcome.STARTED, job=job)
    assert not kept.settle(same, at, following, Outcome.STARTED, job=job)
    assert Job.objects.count() == 1


def test_a_time_that_comes_again_because_the_clock_went_back_is_passed_over(alice: User) -> None:
    row = schedule(alice)
    assert row.next_run_at is not None
    first = row.next_run_at
    settle(first)
    Job.objects.update(state=JobState.FINISHED)
    Schedule.objects.update(next_run_at=first)

    settle(first)

    row.refresh_from_db()
    assert row.next_run_at is not None and row.next_run_at > first
    assert runs(row) == [(Outcome.STARTED, "")]
    assert Job.objects.count() == 1


def test_no_file_is_looked_at_while_the_lease_is_held(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = []
    looks = []

    def look(path: Path) -> savepoint.Manifest:
        assert not held, "a file system that hangs would hold the lease"
        looks.append(path)
        raise savepoint.BadSavepoint("none here")

    @contextmanager
    def guard() -> Iterator[None]:
        held.append(True)
        yield
        held.pop()

    monkeypatch.setattr(savepoint, "read", look)
    monkeypatch.setattr(beginnings, "check", lambda restore: None)
    settings = {"execution.state-recovery.path": "/savepoints/one"}
    row = schedule(alice, cron=HOURLY, configuration=settings)
    assert row.next_run_at is not None

    schedules.settle(row.next_run_at, guard)

    assert runs(row) == [(Outcome.STARTED, "")]
    assert looks


def test_once_is_once(alice: User) -> None:
    at = timezone.now() + timedelta(minutes=5)
    row = schedule(alice, at=at)
    settle(at + timedelta(minutes=10))
    settle(at + timedelta(minutes=20))
    assert runs(row) == [(Outcome.STARTED, "0:10:00 late: no JobManager was there")]
    row.refresh_from_db()
    assert row.next_run_at is None


def test_who_may_no_longer_submit_starts_nothing(client: Client, alice: User) -> None:
    row = schedule(alice)
    assert row.next_run_at is not None
    User.objects.filter(pk=alice.pk).update(is_active=False)
    settle(row.next_run_at)
    assert runs(row) == [(Outcome.REFUSED, "alice may no longer submit jobs")]
    assert not Job.objects.exists()


def test_what_became_of_its_times_is_told(client: Client, alice: User) -> None:
    row = schedule(alice)
    assert row.next_run_at is not None
    settle(row.next_run_at)
    told = client.get(f"/api/schedules/{row.pk}/runs/").json()["results"]
    assert [(run["outcome"], run["job"]) for run in told] == [("started", Job.objects.get().pk)]
    assert Job.objects.get().events.filter(kind=Event.Kind.SCHEDULE).exists()


def test_the_admin_console_shows_and_pauses_them(alice: User) -> None:
    boss = User.objects.create_superuser("boss", password="boss-password")
    client = Client()
    client.force_login(boss)
    row = schedule(alice)
    page = client.get(f"/admin/jobs/schedule/{row.pk}/change/")
    assert page.status_code == 200 and HOURLY in page.content.decode()
    asked = {"action": "pause", "_selected_action": [row.pk], "confirmed": "yes"}
    client.post("/admin/jobs/schedule/", asked)
    row.refresh_from_db()
    assert row.paused_at is not None
