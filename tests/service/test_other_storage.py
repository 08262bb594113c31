"""A TaskManager's name is started where its drivers' files are not: none is launched twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from jobs import actions, attempts, taskmanagers
from jobs.models import Attempt, Job, TaskManager
from jobs.states import AttemptState, JobState, change_state
from workers import allocation, decisions, drivers, views
from workers.slots import Grant, Refusal
from workers.supervisor import Limits, Supervisor

pytestmark = pytest.mark.django_db


def register(host: str, storage: str, name: str = "tm") -> TaskManager:
    return taskmanagers.register(name, host, 1, 1, 1024, storage=storage)


@pytest.fixture
def running() -> Attempt:
    """On a TaskManager that is gone since."""
    row = register("old", "disk-1")
    job = actions.submit("job", (b"pass\n", "job.py"))
    change_state(job, JobState.CREATED)
    attempt = attempts.begin(job, row.pk, [row.slot_set.get().pk])
    attempts.deploy(attempt)
    change_state(attempt, AttemptState.RUNNING)
    change_state(job, JobState.RUNNING)
    return attempt


def step(attempt: Attempt) -> decisions.Step:
    attempt = Attempt.objects.get(pk=attempt.pk)
    return decisions.next_step(views.of(attempt.job, attempt, timezone.now()))


@pytest.mark.parametrize("state", [AttemptState.CREATED, AttemptState.DEPLOYING])
def test_it_launches_no_driver_there(
    running: Attempt, state: AttemptState, monkeypatch: pytest.MonkeyPatch
) -> None:
    Attempt.objects.update(state=state)
    monkeypatch.setattr(drivers.Driver, "launch", lambda *_: pytest.fail("launched"))

    Supervisor(register("new", "disk-2"), ["/none"], Limits(30, 30)).tick()

    running.refresh_from_db()
    assert running.state == state


def test_its_job_waits_for_the_files_and_says_where_they_are(running: Attempt) -> None:
    register("new", "disk-2")
    assert step(running) == decisions.Change(JobState.RECONCILING)
    Job.objects.update(state=JobState.RECONCILING)

    waits = step(running)

    assert isinstance(waits, decisions.Wait)
    assert "which are on old" in waits.reason
    register("renamed", "disk-1")
    assert step(running) == decisions.Change(JobState.RUNNING)


def test_its_job_moves_when_others_see_the_files(
    running: Attempt, settings: Settings, tmp_path: Path
) -> None:
    register("new", "disk-2")
    settings.HEADRACE_SHARED_STORAGE = [settings.HEADRACE_HOME]
    Job.objects.update(state=JobState.RECONCILING)

    assert step(running) == decisions.Abandon(AttemptState.FAILED)


def test_the_next_attempt_begins_only_where_the_files_are(running: Attempt) -> None:
    register("new", "disk-2")
    attempts.abandon(running, AttemptState.FAILED)
    job = running.job
    attempts.free_slots(job)

    answer = allocation.allocate([job])[job.pk]

    assert isinstance(answer, Refusal)
    assert "on old, where its files are" in answer.reason
    other = register("new", "disk-1", "other")
    assert allocation.allocate([job])[job.pk] == Grant(other.pk, (other.slot_set.get().pk,))


@pytest.mark.parametrize("changed", [{}, {"storage": "", "process_started_at": None}])
def test_a_driver_whose_run_directory_is_gone_is_not_launched_again(
    running: Attempt, changed: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts.identify(running, 2**22 - 1, 1.0)
    Attempt.objects.update(**changed)
    monkeypatch.setattr(drivers.Driver, "launch", lambda *_: pytest.fail("launched"))

    Supervisor(register("old", "disk-1"), ["/none"], Limits(30, 30)).tick()

    running.refresh_from_db()
    assert (running.state, running.cause) == ("FAILED", "died")
