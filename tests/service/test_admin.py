"""The admin console shows every table, edits none, and steers jobs through actions."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from jobs import actions, attempts, taskmanagers
from jobs.models import (
    Attempt,
    Checkpoint,
    Event,
    Job,
    JobVersion,
    Lease,
    Slot,
    TaskManager,
    Upgrade,
)
from jobs.states import AttemptState, JobState, change_state

pytestmark = pytest.mark.django_db
TABLES = [Job, JobVersion, Upgrade, Attempt, Checkpoint, Event, TaskManager, Slot, Lease]


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root", password="root-password"))
    return client


@pytest.fixture
def job() -> Job:
    job = actions.submit("mine", (b"pass\n", "job.py"))
    row = taskmanagers.register("tm", "here", 1, 2, 1024)
    change_state(job, JobState.CREATED)
    attempt = attempts.begin(job, row.pk, [row.slot_set.get(index=0).pk])
    attempts.deploy(attempt)
    change_state(attempt, AttemptState.FAILED, error="broken", traceback="Traceback <b>")
    return job


@pytest.mark.parametrize("table", TABLES)
def test_every_table_is_listed_searched_and_shown(root: Client, job: Job, table: type) -> None:
    name = f"admin:jobs_{table._meta.model_name}"  # type: ignore[attr-defined]

    assert root.get(reverse(f"{name}_changelist"), {"q": "mine"}).status_code == 200
    for row in table.objects.all()[:1]:  # type: ignore[attr-defined]
        page = root.get(reverse(f"{name}_change", args=[row.pk]))
        assert page.status_code == 200
        assert b'name="_save"' not in page.content
    assert root.get(reverse(f"{name}_add")).status_code == 403


def test_every_table_is_registered() -> None:
    assert set(TABLES) <= set(admin.site._registry)


def test_traceback_is_escaped(root: Client, job: Job) -> None:
    page = root.get(reverse("admin:jobs_attempt_change", args=[job.attempts.get().pk]))

    assert b"<pre>Traceback &lt;b&gt;</pre>" in page.content


def test_action_steers_and_tells(root: Client, job: Job) -> None:
    page = root.post(
        reverse("admin:jobs_job_changelist"),
        {"action": "cancel", "_selected_action": [job.pk]},
        follow=True,
    )

    assert b"asked for" in page.content
    job.refresh_from_db()
    assert job.wanted == "canceled"
    assert job.events.filter(message="cancel by root").exists()


def test_action_that_is_not_possible_says_why(root: Client, job: Job) -> None:
    change_state(job, JobState.FINISHED)

    page = root.post(
        reverse("admin:jobs_job_changelist"),
        {"action": "resume", "_selected_action": [job.pk]},
        follow=True,
    )

    assert b"cannot be resumed" in page.content
