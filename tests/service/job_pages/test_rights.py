"""Who sees and does what on a job's pages, and what they cost."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard import pages as live_pages
from jobs.models import (
    Attempt,
    Checkpoint,
    Job,
)
from jobs.states import AttemptState
from tests.service import busy_job
from tests.service.job_pages.conftest import TABS, text, vertex

pytestmark = pytest.mark.django_db


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
