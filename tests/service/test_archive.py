"""Ended jobs are put away and shown again; what has no checkpoint is not started again."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from jobs import actions
from jobs.models import Job
from jobs.states import JobState

pytestmark = pytest.mark.django_db


def job(state: JobState, **fields: object) -> Job:
    columns = {"entry": "/x.py", "entry_name": "x.py", "artifact_sha256": "0" * 64}
    return Job.objects.create(name=state.value, state=state, **columns, **fields)


def test_an_ended_job_is_put_away_and_shown_again(alice: User) -> None:
    client = Client()
    client.force_login(alice)
    kept, gone = job(JobState.FINISHED), job(JobState.CANCELED)

    def listed(query: str = "") -> set[str]:
        rows = client.get(f"/api/jobs/{query}").json()["results"]
        return {row["id"] for row in rows}

    assert client.post(f"/api/jobs/{gone.pk}/archive/").status_code == 202
    assert (listed(), listed("?archived=true")) == ({kept.pk}, {gone.pk})
    assert gone.events.get().message == "archive by alice"
    assert client.get("/jobs/").content.decode().count(gone.pk) == 0
    assert client.post(f"/api/jobs/{gone.pk}/unarchive/").status_code == 202
    assert listed() == {kept.pk, gone.pk}


@pytest.mark.parametrize("state", [JobState.RUNNING, JobState.SUSPENDED])
def test_a_job_that_may_go_on_is_not_put_away(state: JobState) -> None:
    with pytest.raises(actions.Conflict, match="cannot be archived"):
        actions.archive(job(state))


def test_a_job_that_is_started_again_is_shown_again() -> None:
    failed = actions.archive(job(JobState.FAILED))
    assert actions.restart(failed).archived_at is None


def test_a_job_without_its_checkpoints_is_not_started_again() -> None:
    canceled = job(JobState.CANCELED, checkpoints_removed=True)
    with pytest.raises(actions.Conflict, match="checkpoints were removed at its end"):
        actions.restart(canceled)
