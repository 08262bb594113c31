"""A submitted job gets its slots, runs, finishes, and gives them back."""

from __future__ import annotations

from jobs.models import Slot
from jobs.states import JobState
from tests.service.conftest import Cluster, attempt_of


def test_job_is_launched_and_finishes(running: Cluster) -> None:
    job = running.submit("--batches", "20", parallelism=2)

    running.wait(job, JobState.FINISHED)

    attempt = attempt_of(job, 1)
    assert attempt.state == "FINISHED"
    assert attempt.exit_code == 0
    assert attempt.application_id == "fake-1"
    assert list(job.checkpoints.values_list("checkpoint_id", flat=True)) == list(range(20, 0, -1))
    assert not Slot.objects.exclude(job=None).exists()
    assert job.checkpoint_interval == 50
    states = ("INITIALIZING", "CREATED", "RUNNING", "FINISHED")
    entered = [job.timestamps[state] for state in states]
    assert entered == sorted(entered)
