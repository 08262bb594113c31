"""A driver that takes more than its slots have is ended; its neighbours are not."""

from __future__ import annotations

import pytest

from jobs import taskmanagers
from jobs.models import TaskManager
from jobs.states import AttemptState, JobState
from tests.service.conftest import Cluster


def test_a_job_over_its_memory_ends_and_others_run_on(running: Cluster) -> None:
    neighbour = running.wait(running.submit(parallelism=2), JobState.RUNNING)
    running.start("small", "taskmanager", "--name", "small", "--slots", "1", "--memory-mib", "4")
    once = {"restart-strategy.type": "none"}
    large = running.wait(running.submit("--child", configuration=once), JobState.FAILED)

    attempt = large.attempts.get()
    assert attempt.error.startswith("out of memory: the job's processes took ")
    assert "its slots have 4 MiB; they were killed, so that other jobs keep theirs" in attempt.error
    assert "driver " in attempt.error
    assert attempt.cause == "memory"
    assert attempt.restartable
    neighbour.refresh_from_db()
    assert neighbour.state == JobState.RUNNING
    assert [row.state for row in neighbour.attempts.all()] == [AttemptState.RUNNING]


@pytest.mark.django_db
def test_memory_is_offered_as_it_was_registered() -> None:
    taskmanagers.register("tm", "here", 1, 2, 3200, "spark://master:7077")

    row = TaskManager.objects.get()
    assert (row.memory_mib, row.spark_master) == (3200, "spark://master:7077")
