"""Failures that a restart cannot help, or may no longer help, end the job with the reason."""

from __future__ import annotations

from jobs.models import Event, Slot
from jobs.states import JobState
from tests.service.conftest import Cluster, attempt_of


def test_error_of_the_program_fails_the_job_at_once(running: Cluster) -> None:
    job = running.submit("--fail-for-good")

    running.wait(job, JobState.FAILED)

    attempt = attempt_of(job, 1)
    assert job.attempts.count() == 1
    assert attempt.exit_code == 1
    failure = job.events.get(kind=Event.Kind.FAILURE)
    assert failure.message == "ImportError: No module named 'nonsense'"
    assert failure.detail["traceback"].startswith("Traceback (most recent call last)")
    assert failure.detail["traceback"].endswith("ImportError: No module named 'nonsense'")
    assert not Slot.objects.exclude(job=None).exists()
    assert job.events.filter(message__contains="another attempt would meet the same").exists()


def test_job_fails_when_its_restarts_are_used_up(running: Cluster) -> None:
    job = running.submit(
        "--crash",
        configuration={
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": "2",
            "restart-strategy.fixed-delay.delay": "10 ms",
        },
    )

    running.wait(job, JobState.FAILED)

    assert job.attempts.count() == 3
    assert job.restarts == 2
    assert job.events.filter(kind=Event.Kind.FAILURE).count() == 3
    told = job.events.filter(message__startswith="not restarted").get()
    assert "allows 2 restarts" in told.message
    verdicts = [attempt.verdict for attempt in job.attempts.order_by("number")]
    assert verdicts[:2] == [f"restart {n} of 2 in a row, after 0.01 s" for n in (1, 2)]
    assert verdicts[2] == told.message[:300]
    assert job.restart_attempts_left == 0


def test_without_restarts_the_first_failure_is_the_last(running: Cluster) -> None:
    job = running.submit("--fail", configuration={"restart-strategy.type": "none"})

    running.wait(job, JobState.FAILED)

    assert job.attempts.count() == 1
