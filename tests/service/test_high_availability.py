"""Two JobManagers: one leads, the other takes over, and running jobs do not notice."""

from __future__ import annotations

import datetime
import os
import signal
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import psutil
import pytest
from django.utils import timezone

from jobs import actions
from jobs.models import Event, Job, Lease
from jobs.states import JobState
from tests.service.conftest import ROOT, Cluster, attempt_of, batches

#: After the lease of the one before has run out: ten seconds are promised with the lease, of five.
PROMISED = datetime.timedelta(seconds=10)
PAUSED = Path(__file__).with_name("paused_jobmanager.py")


@pytest.mark.alone
def test_a_standby_takes_over_from_a_killed_leader(own: Cluster) -> None:
    job = own.wait(own.submit(), JobState.RUNNING)
    pid = attempt_of(job, 1).pid
    start_standby(own, "standby")
    made = len(batches(job))

    own.kill("jobmanager")
    killed_at, expiry = timezone.now(), Lease.objects.get().expires_at
    second = own.submit()
    own.until(lambda: leaders()[-1] == "standby")
    assert took_over("standby", killed_at) - expiry < PROMISED
    own.wait(second, JobState.RUNNING)

    own.until(lambda: len(batches(job)) > made + 20)
    job.refresh_from_db()
    assert job.state == JobState.RUNNING
    assert {by for _, by in batches(job)} == {pid}
    assert (job.restarts, second.attempts.count()) == (0, 1)


def test_a_paused_leader_is_deposed_its_late_write_refused_and_it_stands_by(
    cluster: Cluster, tmp_path: Path
) -> None:
    pause = tmp_path / "pause"
    leader = start_pausing(cluster, "paused", pause)
    cluster.start_taskmanager()
    job = cluster.wait(cluster.submit(), JobState.RUNNING)

    # It stops with a decision made and not written: the first step of the second job.
    pause.touch()
    second = cluster.submit()
    cluster.until(lambda: psutil.Process(leader.pid).status() == psutil.STATUS_STOPPED)
    cluster.start_jobmanager("standby")
    cluster.wait(second, JobState.RUNNING)
    assert leaders() == ["paused", "standby"]

    leader.send_signal(signal.SIGCONT)
    cluster.until(lambda: "deposed" in log_of(cluster, "paused"))
    cluster.until(lambda: "stands by" in log_of(cluster, "paused"))
    assert not Event.objects.filter(message="a late write").exists()
    assert states_of(second) == ["CREATED", "RUNNING"]
    assert (job.attempts.count(), second.attempts.count()) == (1, 1)

    cluster.kill("standby")
    cluster.until(lambda: leaders()[-1] == "paused")
    actions.cancel(second)
    cluster.wait(second, JobState.CANCELED)


def start_standby(cluster: Cluster, name: str) -> None:
    """A JobManager that has seen another one lead."""
    cluster.start_jobmanager(name)
    cluster.until(lambda: "stands by" in log_of(cluster, name))


def start_pausing(cluster: Cluster, name: str, pause: Path) -> subprocess.Popen[bytes]:
    with (cluster.logs / f"{name}.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, str(PAUSED), name, str(pause)],
            stdout=log,
            stderr=log,
            env={**cluster.variables, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'platform'}"},
            start_new_session=True,
        )
    cluster.processes[name] = process
    cluster.until(lambda: name in leaders())
    return process


def leaders() -> list[str]:
    """Who has led, one after the other."""
    events = Event.objects.filter(kind=Event.Kind.JOBMANAGER).order_by("id")
    return [name for name, _ in groupby(event.detail["holder"] for event in events)]


def took_over(name: str, after: datetime.datetime) -> datetime.datetime:
    """Or `after`, if it led before: on a busy machine a lease may run out at any time."""
    events = Event.objects.filter(kind=Event.Kind.JOBMANAGER, at__gt=after).order_by("id")
    return next((event.at for event in events if event.detail["holder"] == name), after)


def states_of(job: Job) -> list[str]:
    """Those it has entered, in order."""
    events = job.events.filter(kind=Event.Kind.STATE).order_by("id")
    return [event.detail["to"] for event in events]


def log_of(cluster: Cluster, name: str) -> str:
    path = cluster.logs / f"{name}.log"
    return path.read_text() if path.exists() else ""
