"""A TaskManager that is drained gives its jobs away, as soon as others have room for them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from jobs import savepoints, taskmanagers
from jobs.models import Event, Job, Slot, TaskManager
from jobs.states import JobState, UpgradeState
from tests.service.conftest import Cluster
from tests.service.test_upgrades import ended


@pytest.fixture
def drained(running: Cluster) -> Iterator[Cluster]:
    """Two slots on `tm`, which offers them again afterwards."""
    yield running
    for row in TaskManager.objects.exclude(drained_at=None):
        taskmanagers.undrain(row)


def test_jobs_move_through_a_savepoint_when_there_is_room(drained: Cluster) -> None:
    job = drained.wait(drained.submit(parallelism=2), JobState.RUNNING)
    drained.until(job.checkpoints.exists)

    assert taskmanagers.drain(TaskManager.objects.get(name="tm"))
    drained.until(lambda: "which is drained: needs 2 slots" in _reason(job))
    assert job.state == JobState.RUNNING
    waiting = drained.submit()
    drained.until(lambda: _reason(waiting) != "")
    drained.start_taskmanager("other", slots=2)
    drained.until(lambda: _ran_on(job) == ["other", "tm"])
    drained.wait(job, JobState.RUNNING)

    move = ended(drained, job)
    assert (move.state, move.moves, job.version) == (UpgradeState.DONE, True, 1)
    assert move.savepoint.reason == "moves off tm, which is drained, through a savepoint"
    assert job.attempts.get(number=2).restored_checkpoint == move.savepoint.checkpoint_id
    assert {slot.taskmanager.name for slot in Slot.objects.filter(job=job)} == {"other"}
    assert job.restarts == 0
    waiting.refresh_from_db()
    assert waiting.state == JobState.CREATED


def test_they_move_from_their_checkpoint_when_no_savepoint_can_be_made(
    drained: Cluster, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    nowhere = {savepoints.DIRECTORY_KEYS[0]: str(tmp_path / "file" / "below")}
    job = drained.wait(drained.submit(configuration=nowhere), JobState.RUNNING)
    drained.until(job.checkpoints.exists)
    drained.start_taskmanager("other", slots=1)
    drained.until(TaskManager.objects.filter(name="other", state="REGISTERED").exists)

    taskmanagers.drain(TaskManager.objects.get(name=_ran_on(job)[0]))
    drained.until(lambda: job.attempts.count() == 2)
    drained.wait(job, JobState.RUNNING)

    assert ended(drained, job).state == UpgradeState.FAILED
    assert job.attempts.get(number=1).state == "SUSPENDED"
    assert len(set(_ran_on(job))) == 2
    assert Slot.objects.filter(job=job).count() == 1


def test_they_move_where_savepoints_are_seen_and_checkpoints_are_not(
    cluster: Cluster, tmp_path: Path
) -> None:
    shared = settings.HEADRACE_SAVEPOINTS, settings.HEADRACE_ARTIFACTS
    cluster.environment["HEADRACE_SHARED_STORAGE"] = os.pathsep.join(map(str, shared))
    cluster.start_jobmanager()
    cluster.start_taskmanager("tm", slots=1)
    job = cluster.wait(cluster.submit(), JobState.RUNNING)
    cluster.until(job.checkpoints.exists)
    cluster.environment["HEADRACE_HOME"] = str(tmp_path)  # disks of its own
    cluster.start_taskmanager("other", slots=1)

    taskmanagers.drain(TaskManager.objects.get(name="tm"))
    cluster.until(lambda: _ran_on(job) == ["other", "tm"])

    move = ended(cluster, job)
    assert move.state == UpgradeState.DONE, move.failure
    assert job.attempts.get(number=2).restored_checkpoint == move.savepoint.checkpoint_id
    assert {slot.taskmanager.name for slot in Slot.objects.filter(job=job)} == {"other"}


def test_a_drained_one_offers_its_slots_again_when_asked(drained: Cluster) -> None:
    row = TaskManager.objects.get(name="tm")
    taskmanagers.drain(row)
    job = drained.submit()
    drained.until(lambda: "TaskManager tm is drained" in _reason(job))

    taskmanagers.undrain(row)

    drained.wait(job, JobState.RUNNING)


@pytest.mark.django_db
def test_draining_is_asked_for_by_rest(admin_client: Client, client: Client) -> None:
    row = taskmanagers.register("tm", "here", 1, 1, 1024)

    for verb, is_drained in (("drain", True), ("drain", True), ("undrain", False)):
        answer = admin_client.post(f"/api/taskmanagers/tm/{verb}/")
        assert answer.status_code == 202
        row.refresh_from_db()
        assert (row.drained_at is not None) == is_drained
        assert (answer.json()["drained_at"] is not None) == is_drained
        overview = admin_client.get("/api/overview/").json()
        assert (overview["slots_total"], overview["slots_free"]) == (1, int(not is_drained))
    assert client.post("/api/taskmanagers/tm/drain/").status_code == 401
    client.force_login(User.objects.create_user("bob"))
    for verb in ("drain", "undrain"):
        assert client.post(f"/api/taskmanagers/tm/{verb}/").status_code == 403
    told = Event.objects.filter(kind=Event.Kind.TASKMANAGER, message__contains="asked for by admin")
    assert told.count() == 2


def _reason(job: Job) -> str:
    job.refresh_from_db()
    return job.waiting_for


def _ran_on(job: Job) -> list[str]:
    rows = job.attempts.order_by("-number").select_related("taskmanager")
    return [row.taskmanager.name for row in rows if row.taskmanager is not None]
