"""TaskManagers, JobManagers, savepoints of all jobs and schedules."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from jobs.models import (
    Lease,
    Savepoint,
    Schedule,
)
from tests.service import pages
from tests.service.cluster_pages.conftest import actions, text_of

pytestmark = pytest.mark.django_db


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
