"""TaskManagers register their slots, beat, get lost, come back and are replaced."""

from __future__ import annotations

import datetime
import os
import socket

import pytest
from django.utils import timezone

from jobs import actions, attempts, taskmanagers
from jobs.models import Slot, TaskManager
from jobs.states import JobState, TaskManagerState, change_state
from workers import taskmanager

pytestmark = pytest.mark.django_db


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
    deadline = timezone.now() + datetime.timedelta(seconds=1)
    (silent,) = taskmanagers.silent_since(deadline)

    assert taskmanagers.lose(silent, deadline)
    taskmanagers.beat(row)

    assert row.state == TaskManagerState.REGISTERED


def test_one_that_beats_in_time_is_not_lost() -> None:
    row = taskmanagers.register("tm", "here", 1, 1, 1024)
    deadline = timezone.now() - datetime.timedelta(seconds=1)

    assert not taskmanagers.lose(row, deadline)


def test_name_of_a_living_process_is_taken() -> None:
    parent = os.getppid()
    taskmanagers.register("tm", socket.gethostname(), parent, 1, 1024)

    with pytest.raises(taskmanager.NameTaken, match=f"process {parent}"):
        taskmanager.check_name_free("tm")

    TaskManager.objects.update(pid=2**22 - 1)
    taskmanager.check_name_free("tm")
