"""TaskManagers register their slots, beat, get lost, come back and are replaced."""

from __future__ import annotations

import datetime
import os
import socket

import pytest
from django.utils import timezone
from pytest_django import Settings

from jobs import actions, attempts, taskmanagers
from jobs.models import Attempt, Slot, TaskManager
from jobs.states import AttemptState, JobState, TaskManagerState, change_state
from workers import decisions, taskmanager, views

pytestmark = pytest.mark.django_db


LONG = 3600.0
LONG_AGO = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)


def slots() -> list[int]:
    return list(Slot.objects.order_by("index").values_list("index", flat=True))


def test_registering_again_keeps_what_jobs_hold() -> None:
    row = taskmanagers.register("tm", "here", 1, 3, 3072)
    job = actions.submit("job", (b"pass\n", "job.py"))
    change_state(job, JobState.CREATED)
    attempts.begin(job, row.pk, [row.slot_set.get(index=2).pk])

    taskmanagers.register("tm", "here", 2, 1, 1024)

    assert slots() == [0, 2]
    assert Slot.objects.get(index=2).job == job
    taskmanagers.register("tm", "here", 3, 4, 1024)
    assert slots() == [0, 1, 2, 3]


def test_earlier_incarnation_finds_out_that_it_was_replaced() -> None:
    first = taskmanagers.register("tm", "here", 1, 1, 1024)
    second = taskmanagers.register("tm", "here", 2, 1, 1024)

    taskmanagers.beat(second)
    with pytest.raises(taskmanagers.Replaced):
        taskmanagers.beat(first)


def test_one_that_was_only_slow_comes_back() -> None:
    row = taskmanagers.register("tm", "here", 1, 1, 1024)

    assert taskmanagers.lose(row)
    assert taskmanagers.beat(row)
    assert not taskmanagers.beat(row)

    assert row.state == TaskManagerState.REGISTERED


def test_one_that_beats_in_time_is_not_lost() -> None:
    row = taskmanagers.register("tm", "here", 1, 1, 1024)
    TaskManager.objects.update(last_heartbeat=LONG_AGO)
    (silent,) = taskmanagers.awaited()
    taskmanagers.beat(row)

    assert not taskmanagers.lose(silent)


def test_heartbeats_carry_the_databases_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: LONG_AGO)  # of a machine whose clock is wrong
    row = taskmanagers.register("tm", "here", 1, 1, 1024)
    assert taskmanagers.silence(row) < LONG
    TaskManager.objects.update(last_heartbeat=LONG_AGO)
    assert taskmanagers.silence(row) > LONG

    taskmanagers.beat(row)

    assert taskmanagers.silence(row) < LONG
    with pytest.raises(taskmanager.NameTaken, match="host here"):
        taskmanager.check_name_free("tm")


def test_one_that_left_is_lost_if_it_stays_away_from_its_drivers(settings: Settings) -> None:
    idle, busy = (taskmanagers.register(name, "here", 1, 1, 1024) for name in ("idle", "busy"))
    job = actions.submit("job", (b"pass\n", "job.py"))
    change_state(job, JobState.CREATED)
    attempt = attempts.begin(job, busy.pk, [busy.slot_set.get().pk])
    TaskManager.objects.update(last_heartbeat=LONG_AGO)
    for row in (idle, busy):
        taskmanagers.leave(row)

    (awaited,) = taskmanagers.awaited()
    assert awaited == busy
    assert awaited.last_heartbeat > LONG_AGO, "it counts from when it left"
    assert taskmanagers.lose(awaited)
    settings.HEADRACE_SHARED_STORAGE = [settings.HEADRACE_HOME]
    attempt = Attempt.objects.get(pk=attempt.pk)
    job.state = JobState.RECONCILING
    step = decisions.next_step(views.of(job, attempt, timezone.now()))
    assert step == decisions.Abandon(AttemptState.FAILED)
    taskmanagers.beat(busy)
    assert busy.state == TaskManagerState.REGISTERED


def test_name_of_a_living_process_is_taken() -> None:
    parent = os.getppid()
    taskmanagers.register("tm", socket.gethostname(), parent, 1, 1024)

    with pytest.raises(taskmanager.NameTaken, match=f"process {parent}"):
        taskmanager.check_name_free("tm")

    TaskManager.objects.update(pid=2**22 - 1)
    taskmanager.check_name_free("tm")
