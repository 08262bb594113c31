"""What a job holds while TaskManagers are drained and undrained: its slots, once."""

from __future__ import annotations

import pytest
from django.db import transaction
from pytest_django import Settings

from jobs import actions, savepoints, taskmanagers
from jobs.models import Attempt, Job, Savepoint, TaskManager, Upgrade
from jobs.states import AttemptState, SavepointState, UpgradeState, change_state
from workers.round import Round
from workers.word import Word

pytestmark = pytest.mark.django_db

CLUSTER = "spark://master:7077"


@pytest.fixture(autouse=True)
def shared_storage(settings: Settings) -> None:
    settings.HEADRACE_SHARED_STORAGE = [settings.HEADRACE_HOME]


def offer(name: str, slots: int = 2, spark_master: str = "") -> TaskManager:
    return taskmanagers.register(name, "here", 1, slots, 8000, spark_master)


def look() -> None:
    """One round of the JobManager."""
    Round(transaction.atomic, lambda: None, Word()).run()


def running(parallelism: int) -> tuple[Job, Attempt]:
    job = actions.submit("job", (b"pass\n", "program.py"), parallelism=parallelism)
    look()
    attempt = job.attempts.get()
    change_state(attempt, AttemptState.DEPLOYING)
    change_state(attempt, AttemptState.RUNNING)
    look()
    return job, attempt


def held(job: Job) -> list[str]:
    return [str(slot) for slot in job.slots.select_related("taskmanager")]


def failed(row: Savepoint) -> None:
    change_state(row, SavepointState.FAILED, failure="the disk is full")


def test_a_job_that_does_not_leave_keeps_the_slots_in_which_it_runs() -> None:
    here = offer("a")
    job, _ = running(2)
    offer("b")
    taskmanagers.drain(here)
    look()
    assert held(job) == ["a/0", "a/1", "b/0", "b/1"]

    taskmanagers.undrain(here)
    failed(job.savepoints.get())
    look()

    assert Upgrade.objects.get().state == UpgradeState.FAILED
    assert held(job) == ["a/0", "a/1"]


def test_nor_does_it_lose_those_of_its_spark_cluster_elsewhere() -> None:
    offer("a", spark_master=CLUSTER)
    offer("b", spark_master=CLUSTER)
    job, attempt = running(3)
    assert held(job) == ["a/0", "a/1", "b/0"]
    offer("c", spark_master=CLUSTER)
    taskmanagers.drain(TaskManager.objects.get(attempts=attempt))
    look()
    assert held(job) == ["a/0", "a/1", "b/0", "b/1", "c/0"]

    failed(job.savepoints.get())
    TaskManager.objects.update(drained_at=None)
    look()

    assert held(job) == ["a/0", "a/1", "b/0"]


def test_no_slots_are_kept_for_a_job_that_a_user_stops() -> None:
    here = offer("a")
    job, _ = running(2)
    offer("b")
    asked = savepoints.trigger(job, then=Savepoint.Then.FINISH)
    taskmanagers.drain(here)
    look()
    assert held(job) == ["a/0", "a/1"]

    failed(asked)
    look()

    assert held(job) == ["a/0", "a/1", "b/0", "b/1"]
    assert Upgrade.objects.get().moves


def test_slots_that_are_lent_to_a_driver_elsewhere_are_exchanged() -> None:
    offer("a", spark_master=CLUSTER)
    lender = offer("b", spark_master=CLUSTER)
    job, attempt = running(3)
    taskmanagers.drain(lender)
    look()
    job.refresh_from_db()
    assert job.waiting_for.startswith(
        "is to leave a TaskManager which is drained: needs 3 slots; 2 exist, 0 free; "
        "TaskManager b is drained"
    )

    offer("elsewhere", slots=3, spark_master="spark://another:7077")
    offer("c", spark_master=CLUSTER)
    look()
    look()

    job.refresh_from_db()
    attempt.refresh_from_db()
    assert held(job) == ["a/0", "a/1", "c/0"]
    assert (job.waiting_for, attempt.command, job.savepoints.count()) == ("", "", 0)
