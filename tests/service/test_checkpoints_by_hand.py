"""Checkpoints that are asked for, and what is left of jobs and savepoints whose driver died."""

from __future__ import annotations

import uuid
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from headrace.wire import events, savepoint
from headrace.wire.journal import Entry
from jobs import actions, checkpoint_requests, recording, savepoints, taskmanagers
from jobs.models import Attempt, Job, Savepoint
from jobs.states import AttemptState, JobState, SavepointState
from tests.service.conftest import Cluster, attempt_of, driver_of
from workers import checkpoint_commands, savepoint_commands

DELETE = {"execution.checkpointing.externalized-checkpoint-retention": "DELETE_ON_CANCELLATION"}


def asked(job: Job, user: User, **body: Any) -> tuple[Client, str]:
    client = Client()
    client.force_login(user)
    answer = client.post(f"/jobs/{job.pk}/checkpoints", body, content_type="application/json")
    assert answer.status_code == 202, answer.content
    return client, f"/jobs/{job.pk}/checkpoints/{answer.json()['request-id']}"


def test_one_is_made_and_told_as_flink_does(running: Cluster, alice: User) -> None:
    job = running.wait(running.submit(), JobState.RUNNING)
    running.until(lambda: job.checkpoints.exists())
    before = job.checkpoints.order_by("-checkpoint_id")[0].checkpoint_id
    wish = {"checkpointType": "FULL", "triggerId": uuid.uuid4().hex}

    client, status = asked(job, alice, **wish)
    assert asked(job, alice, **wish)[1] == status  # the same request is one
    assert status.endswith(wish["triggerId"])
    running.until(lambda: client.get(status).json()["status"]["id"] == "COMPLETED")
    made = client.get(status).json()["operation"]["checkpointId"]
    assert made > before
    running.until(lambda: job.checkpoints.filter(checkpoint_id=made).exists())

    for body in ({"checkpointType": "INCREMENTAL"}, {"triggerId": "x"}):
        address = f"/jobs/{job.pk}/checkpoints"
        assert client.post(address, body, content_type="application/json").status_code == 400
    assert client.get(f"/jobs/{job.pk}/checkpoints/{'b' * 32}").status_code == 404
    bob = Client()
    bob.force_login(User.objects.create_user("bob", password="bob-password"))
    assert bob.post(f"/jobs/{job.pk}/checkpoints").status_code == 403


def test_one_fails_with_its_driver_and_where_no_job_runs(running: Cluster, alice: User) -> None:
    job = running.wait(running.submit("--deaf"), JobState.RUNNING)
    client, status = asked(job, alice)
    assert client.get(status).json() == {"status": {"id": "IN_PROGRESS"}, "operation": None}
    actions.cancel(job)
    driver_of(attempt_of(job, 1)).kill()
    running.wait(job, JobState.CANCELED)

    def cause(status: str) -> str:
        said: str = client.get(status).json()["operation"]["failureCause"]["stack-trace"]
        return said

    assert cause(status).endswith("its driver ended, or was lost, before it was complete")
    assert "the job is canceled, and checkpoints are" in cause(asked(job, alice)[1])


def test_a_cancelled_job_whose_driver_died_leaves_no_checkpoints(running: Cluster) -> None:
    kept = running.submit("--deaf")
    gone = running.submit("--deaf", configuration=DELETE)
    for job in (kept, gone):
        running.wait(job, JobState.RUNNING)
        running.until((job.checkpoint_dir / "last").exists)
        actions.cancel(job)
        driver_of(attempt_of(job, 1)).kill()
        running.wait(job, JobState.CANCELED)

    assert (gone.checkpoints_removed, kept.checkpoints_removed) == (True, False)
    running.until(lambda: not Job.objects.get(pk=gone.pk).checkpoints_left)
    assert not gone.checkpoint_dir.exists()
    assert (kept.checkpoint_dir / "last").exists()
    with pytest.raises(actions.Conflict, match="checkpoints were removed"):
        actions.restart(gone)


def attempt(user: User) -> Attempt:
    """Of a job whose TaskManager is not there any more."""
    job = actions.submit("job", (b"", "job.py"), user=user)
    tm = taskmanagers.register("gone", "elsewhere", 1, 1, 1024)
    taskmanagers.leave(tm)
    return Attempt.objects.create(job=job, number=1, taskmanager=tm, run_dir="/none")


def running_in(user: User, run_dir: str) -> Attempt:
    row = attempt(user)
    Job.objects.filter(pk=row.job_id).update(current_attempt=row.number)
    Attempt.objects.filter(pk=row.pk).update(state=AttemptState.RUNNING, run_dir=run_dir)
    row.refresh_from_db()
    return row


@pytest.mark.django_db
def test_one_that_cannot_be_asked_for_keeps_no_other_back(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, whole = running_in(alice, "/broken"), running_in(alice, "/whole")
    for each in (broken, whole):
        checkpoint_requests.trigger(each.job)
    told = []

    def send(run_dir: Path, _: object) -> None:
        if str(run_dir) == broken.run_dir:
            raise OSError("no space left")
        told.append(str(run_dir))

    monkeypatch.setattr(checkpoint_commands.commands, "send", send)
    assert whole.taskmanager is not None
    checkpoint_commands.carry(whole.taskmanager)

    assert told == [whole.run_dir]


@pytest.mark.django_db
def test_a_savepoint_that_nobody_sees_is_not_disposed_of_for_ever(alice: User) -> None:
    row = Savepoint.objects.create(
        job_name="job", path="/elsewhere/it", attempt=attempt(alice), state="COMPLETED"
    )
    here = taskmanagers.register("here", "here", 1, 1, 1024)
    client = Client()
    client.force_login(alice)
    posted = {"savepoint-path": row.path}
    at = client.post("/savepoint-disposal", posted, content_type="application/json").json()
    status = f"/savepoint-disposal/{at['request-id']}"

    savepoint_commands.carry(here)
    savepoint_commands.give_up_unreached(timezone.now(), nullcontext)
    assert client.get(status).json()["status"]["id"] == "IN_PROGRESS"
    later = timezone.now() + timedelta(seconds=savepoints.DISPOSE_SECONDS + 1)
    savepoint_commands.give_up_unreached(later, nullcontext)
    said = client.get(status).json()["operation"]["failure-cause"]["stack-trace"]
    assert "none of the TaskManagers that run sees /elsewhere/it" in said
    row.refresh_from_db()
    assert row.state == SavepointState.COMPLETED
    savepoints.disposed(row)  # somebody saw it after all
    row.refresh_from_db()
    assert (row.state, row.failure) == (SavepointState.DISPOSED, "")


@pytest.mark.django_db
def test_what_a_killed_driver_left_of_a_savepoint_is_removed(alice: User, tmp_path: Path) -> None:
    mine = attempt(alice)
    rows = [
        Savepoint.objects.create(
            job=mine.job, job_name="job", path=str(tmp_path / name), attempt=mine, state=state
        )
        for name, state in (("one", "FAILED"), ("two", "IN_PROGRESS"))
    ]
    left, made = (savepoint.partial(tmp_path, mine.job_id, row.pk) for row in rows)
    for each in (left, made):
        (each / "checkpoint").mkdir(parents=True)
    savepoint_commands.clear_up(mine)
    assert (left.exists(), made.exists()) == (False, True)


@pytest.mark.django_db
def test_a_program_says_where_its_savepoints_go_and_what_becomes_of_its_checkpoints(
    alice: User,
) -> None:
    mine = attempt(alice)
    mine.job.configuration = {"execution.checkpointing.savepoint-dir": "/submitted"}
    mine.job.save()
    said = {"execution.checkpointing.savepoint-dir": "file:/said", **DELETE}
    planned = events.Planned({"nodes": []}, checkpoint_settings=said)
    assert recording.record(mine, [Entry(1, 10, planned, 10)])
    job = Job.objects.get(pk=mine.job_id)
    Attempt.objects.filter(pk=mine.pk).update(state="RUNNING")
    Job.objects.filter(pk=job.pk).update(state="RUNNING", current_attempt=1)

    assert Path(savepoints.trigger(job).path).parent == Path("/said")
    assert Path(savepoints.trigger(job, directory="/asked").path).parent == Path("/asked")
    job.refresh_from_db()
    assert job.entering(JobState.CANCELED)["checkpoints_left"]
