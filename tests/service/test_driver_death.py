"""A driver that dies is noticed at once and followed by the next attempt, from its checkpoint."""

from __future__ import annotations

import os
import signal
import time

import psutil

from headrace.wire import journal
from jobs.models import Event
from jobs.states import JobState
from tests.service.conftest import Cluster, attempt_of, batches, driver_of

#: Well below the heartbeat's timeout, by which a driver that hangs is found.
AT_ONCE_SECONDS = 20.0
#: However often a busy machine makes a driver look hung.
AT_ONCE = {
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "1000",
    "restart-strategy.fixed-delay.delay": "10 ms",
}


def test_killed_driver_is_noticed_and_restarted_after_the_delay(running: Cluster) -> None:
    job = running.submit(
        configuration={
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": "3",
            "restart-strategy.fixed-delay.delay": "1500 ms",
        }
    )
    running.wait(job, JobState.RUNNING)
    first = attempt_of(job, 1)
    running.until(lambda: job.checkpoints.count() > 3)

    killed_at = time.monotonic()
    os.kill(first.pid or 0, signal.SIGKILL)
    restarting = job.events.filter(kind=Event.Kind.STATE, detail__to=JobState.RESTARTING)
    running.until(restarting.exists)
    noticed_after = time.monotonic() - killed_at
    running.until(lambda: job.attempts.count() == 2)
    followed_after = time.monotonic() - killed_at
    running.wait(job, JobState.RUNNING)

    assert noticed_after < AT_ONCE_SECONDS
    assert followed_after >= 1.5
    first.refresh_from_db()
    assert (first.state, first.exit_code) == ("FAILED", -9)
    assert "ended without a word (signal 9)" in first.error
    assert job.restarts == 1
    failure = job.events.get(kind=Event.Kind.FAILURE)
    assert failure.attempt_id == first.pk
    assert "fake driver of job, attempt 1" in failure.detail["log"]
    # What the first attempt wrote last was read before its end was recorded.
    assert first.journal_number == [e.number for e in journal.read(driver_of(first).run_dir)][-1]
    second = attempt_of(job, 2)
    assert second.restored_checkpoint == batches_of_pid(job, first.pid or 0)


def batches_of_pid(job: object, pid: int) -> int:
    """The last checkpoint that this driver made."""
    return max(checkpoint for checkpoint, by in batches(job) if by == pid)  # type: ignore[arg-type]


def test_attempt_ends_only_when_nothing_of_its_session_is_left(running: Cluster) -> None:
    job = running.submit("--child")
    running.wait(job, JobState.RUNNING)
    first = attempt_of(job, 1)
    session = [p for p in psutil.process_iter() if _session_of(p) == first.pid]
    assert len(session) == 2

    os.kill(first.pid or 0, signal.SIGKILL)
    running.until(lambda: job.attempts.count() == 2)

    assert not any(process.is_running() and _lives(process) for process in session)


def test_hung_driver_counts_as_dead(cluster: Cluster) -> None:
    cluster.environment["HEADRACE_DRIVER_TIMEOUT"] = "4"
    cluster.start_jobmanager()
    cluster.start_taskmanager()
    job = cluster.submit("--hang-at", "3", "--batches", "6", configuration=AT_ONCE)
    paused = cluster.wait(cluster.submit(configuration=AT_ONCE), JobState.RUNNING)
    os.kill(attempt_of(paused, 1).pid or 0, signal.SIGSTOP)

    cluster.wait(job, JobState.FINISHED)
    cluster.until(lambda: paused.attempts.filter(state="RUNNING", number__gte=2).exists())

    for first in (attempt_of(job, 1), attempt_of(paused, 1)):
        assert (first.state, first.cause) == ("FAILED", "hung")
        assert "gave no sign of life" in first.error
        assert not driver_of(first).remains()
    assert [checkpoint for checkpoint, _ in batches(job)] == [1, 2, 3, 4, 5, 6]


def _session_of(process: psutil.Process) -> int | None:
    try:
        return os.getsid(process.pid)
    except ProcessLookupError:
        return None


def _lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
