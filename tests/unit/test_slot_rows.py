"""Rows of slots that a TaskManager no longer offers."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.overview import Overview
from jobs import actions, attempts, taskmanagers, upgrades
from jobs.models import Job, Slot, TaskManager

pytestmark = pytest.mark.django_db

ENTRY = (b"pass\n", "program.py")


@pytest.fixture
def job() -> Job:
    """Holds two of the four slots of a TaskManager that came back with one."""
    job = actions.submit("job", ENTRY)
    row = taskmanagers.register("tm", "here", 1, 4, 8000)
    attempts.hold(job, list(row.slot_set.filter(index__in=[0, 3]).values_list("pk", flat=True)))
    taskmanagers.register("tm", "here", 2, 1, 8000)
    return job


def test_they_go_when_no_job_holds_them(job: Job) -> None:
    assert list(Slot.objects.values_list("index", flat=True)) == [0, 3]

    attempts.free_slots(job)

    left = Slot.objects.get()
    assert (left.index, left.job) == (0, None)


def test_they_are_no_room_for_anybody(job: Job, client: Client) -> None:
    job.slots.update(job=None)  # freed while the TaskManager registered
    client.force_login(User.objects.create_user("alice"))

    overview = Overview(timezone.now())
    [shown] = client.get("/api/taskmanagers/").json()["results"]

    assert (overview.slots, overview.free_slots) == (1, 1)
    assert [slot["index"] for slot in shown["slot_set"]] == [0]
    with pytest.raises(actions.Conflict, match="needs 2 slots, and 1 are free or its own"):
        upgrades.ask(job, parallelism=2)


def test_who_drains_sees_those_in_which_a_job_still_runs(job: Job, client: Client) -> None:
    client.force_login(User.objects.create_user("alice"))

    shown = client.get("/api/taskmanagers/tm/").json()["slot_set"]

    assert [(slot["index"], slot["job"]) for slot in shown] == [(0, job.pk), (3, job.pk)]
    assert TaskManager.objects.get().slots == 1
