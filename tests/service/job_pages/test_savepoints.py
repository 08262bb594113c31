"""Savepoints and versions of a job on its pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client

from jobs.models import (
    AuditEntry,
    Job,
    Savepoint,
    Upgrade,
)
from jobs.states import JobState
from tests.service import busy_job, pages
from tests.service.job_pages.conftest import text

pytestmark = pytest.mark.django_db


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
