"""A job leaves a machine that is lost, and what still ran there commits nothing more."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

import psutil
import pytest
from django.conf import settings

from headrace.connectors.files.staging import HIDDEN
from headrace.wire import events, journal
from jobs import actions
from jobs.models import Attempt, Event, Job, Slot, TaskManager
from jobs.states import JobState, TaskManagerState
from tests.service.conftest import Cluster, attempt_of, batches, driver_of, heartbeats

SPARK_SECONDS = 600.0
NUMBERS = b"""
import sys

from headrace.common import Encoder, RestartStrategies, WatermarkStrategy
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from headrace.datastream.connectors.file_system import FileSink

env = StreamExecutionEnvironment.get_execution_environment()
env.enable_checkpointing(200)
env.set_restart_strategy(RestartStrategies.fixed_delay_restart(7, 500))
numbers = DataGeneratorSource(str, rate_limiter_strategy=RateLimiterStrategy.per_checkpoint(10))
stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers")
encoder = Encoder.simple_string_encoder()
stream.sink_to(FileSink.for_row_format(sys.argv[1], encoder).build())
env.execute("numbers")
"""


def test_a_job_moves_and_what_it_left_behind_is_ended_when_the_machine_is_back(
    cluster: Cluster,
) -> None:
    cluster.environment |= {
        "HEADRACE_SHARED_STORAGE": str(settings.HEADRACE_HOME),
        "HEADRACE_PROPERTIES": heartbeats(timeout=40),
    }
    cluster.start_jobmanager()
    cluster.start_taskmanager("away", slots=1)
    job = cluster.wait(cluster.submit(), JobState.RUNNING)
    first = attempt_of(job, 1)
    cluster.start_taskmanager("here", slots=1)

    lose(cluster, "away", first)
    cluster.until(lambda: job.attempts.count() == 2)
    cluster.wait(job, JobState.RUNNING)
    first.refresh_from_db()
    assert (first.state, first.cause, first.abandoned) == ("FAILED", "lost", True)
    assert first.verdict.startswith("restart 1 in a row, after ")
    assert job.restarts == 1
    assert [slot.taskmanager.name for slot in job.slots.all()] == ["here"]
    assert first.error in job.events.get(kind=Event.Kind.FAILURE).message

    cluster.start_taskmanager("away", slots=1)
    cluster.until(lambda: not driver_of(first).remains())
    cluster.until(lambda: {tm.state for tm in TaskManager.objects.all()} == {"REGISTERED"})
    made = len(batches(job))
    cluster.until(lambda: len(batches(job)) > made + 5)
    assert job.attempts.count() == 2
    assert Slot.objects.exclude(job=None).count() == 1


@pytest.mark.timeout(2400)
def test_of_two_drivers_the_first_stops_itself_and_the_output_is_exact(
    cluster: Cluster, tmp_path: Path
) -> None:
    """The platform starts the second while the first is paused; then the first wakes up, while
    nobody is there to end it."""
    cluster.environment |= {
        "HEADRACE_DRIVER_COMMAND": f"{sys.executable},-m,headrace.runtime.driver",
        "HEADRACE_SHARED_STORAGE": str(settings.HEADRACE_HOME),
        "HEADRACE_PROPERTIES": heartbeats(timeout=40),
        "HEADRACE_DRIVER_TIMEOUT": "300",
        "HEADRACE_STOP_TIMEOUT": "300",
    }
    cluster.start_jobmanager()
    cluster.start_taskmanager("away", slots=1)
    job = actions.submit("numbers", (NUMBERS, "numbers_job.py"), [str(tmp_path / "out")], 1, {})
    cluster.until(lambda: checkpoints(job, 1) >= 3, SPARK_SECONDS)
    first = attempt_of(job, 1)

    lose(cluster, "away", first)
    cluster.start_taskmanager("here", slots=1)
    cluster.until(lambda: checkpoints(job, 2) >= 3, SPARK_SECONDS)
    wake(first)
    cluster.until(lambda: not driver_of(first).is_alive(), SPARK_SECONDS)

    said = [entry.event for entry in journal.read(driver_of(first).run_dir, limit=100_000)]
    assert isinstance(said[-1], events.Failed), said[-3:]
    assert (said[-1].cause, said[-1].restartable) == ("fenced", True), said[-1]
    first.refresh_from_db()
    assert (first.cause, first.verdict) == ("lost", "restart 1 of 7 in a row, after 0.5 s")
    known = checkpoints(job, 2)
    cluster.until(lambda: checkpoints(job, 2) >= known + 2, SPARK_SECONDS)
    assert job.attempts.count() == 2
    job.refresh_from_db()
    actions.cancel(job)
    cluster.wait(job, JobState.CANCELED, timeout=SPARK_SECONDS)
    numbers = written(tmp_path / "out")
    assert len(numbers) >= 60
    assert numbers == list(range(len(numbers)))


def lose(cluster: Cluster, taskmanager: str, attempt: Attempt) -> None:
    """As a machine that is gone for a while: the TaskManager ends, and its driver stands still."""
    cluster.until(lambda: Attempt.objects.get(pk=attempt.pk).pid is not None)
    cluster.kill(taskmanager)
    while any(_suspended(process) for process in session(attempt)):
        pass
    cluster.until(lambda: _is(taskmanager, TaskManagerState.LOST))


def _suspended(process: psutil.Process) -> bool:
    """Whether it ran until now. Spark starts processes that live for a moment: one of them may
    have ended since it was looked for, and another begun."""
    try:
        ran = process.status() not in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE)
        process.suspend()
    except psutil.NoSuchProcess:
        return False
    return ran


def wake(attempt: Attempt) -> None:
    for process in session(attempt):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.resume()


def session(attempt: Attempt) -> list[psutil.Process]:
    """The driver, its JVM and its Python workers."""
    identity = driver_of(attempt).identity
    assert identity is not None
    return [p for p in psutil.process_iter() if _session_of(p) == identity.pid]


def _session_of(process: psutil.Process) -> int | None:
    try:
        return os.getsid(process.pid)
    except ProcessLookupError:
        return None


def _is(taskmanager: str, state: TaskManagerState) -> bool:
    return TaskManager.objects.get(name=taskmanager).state == state


def checkpoints(job: Job, attempt: int) -> int:
    return job.checkpoints.filter(attempt__number=attempt, records_in__gt=0).count()


def written(base: Path) -> list[int]:
    parts = [path for path in base.rglob("part-*") if HIDDEN not in path.parts]
    return sorted(int(line) for path in parts for line in path.read_text().splitlines())
