"""The admin console steers jobs through actions, confirmed and written down."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from jobs import actions, attempts, taskmanagers
from jobs.models import AuditEntry, Job
from jobs.states import AttemptState, JobState, change_state

pytestmark = pytest.mark.django_db


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


def test_traceback_is_escaped(root: Client, job: Job) -> None:
    page = root.get(reverse("admin:jobs_attempt_change", args=[job.attempts.get().pk]))

    assert b"<pre>Traceback &lt;b&gt;</pre>" in page.content


def test_action_steers_and_tells(root: Client, job: Job) -> None:
    page = root.post(
        reverse("admin:jobs_job_changelist"),
        {"action": "cancel", "_selected_action": [job.pk], "confirmed": "yes"},
        follow=True,
    )

    assert b"asked for" in page.content
    job.refresh_from_db()
    assert job.wanted == "canceled"
    assert job.events.filter(message="cancel by root").exists()
    entry = AuditEntry.objects.get(action="job.cancel")
    assert (entry.username, entry.via, entry.target_id) == ("root", "console", job.pk)


def test_an_action_is_confirmed_first(root: Client, job: Job) -> None:
    asked = {"action": "cancel", "_selected_action": [job.pk]}
    page = root.post(reverse("admin:jobs_job_changelist"), asked)
    assert "free their slots" in page.content.decode()
    job.refresh_from_db()
    assert job.wanted == "running"


def test_action_that_is_not_possible_says_why(root: Client, job: Job) -> None:
    change_state(job, JobState.FINISHED)

    page = root.post(
        reverse("admin:jobs_job_changelist"),
        {"action": "resume", "_selected_action": [job.pk], "confirmed": "yes"},
        follow=True,
    )

    assert b"cannot be resumed" in page.content
