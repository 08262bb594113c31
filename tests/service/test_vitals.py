"""TaskManagers and JobManagers say how they fare, and Flink's names say what of it."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

import psutil
import pytest
from django.utils import timezone

from jobs import cluster_figures, history, jobmanagers, leases, taskmanagers
from jobs.models import JobManagerProcess, TaskManager
from jobs.states import JobState
from tests.service.pages import make_job, make_taskmanager
from workers.jobmanager import JobManager
from workers.supervisor import Limits, Supervisor
from workers.vitals import Gauge

pytestmark = pytest.mark.django_db

LOAD, HEAP = "Status.JVM.CPU.Load", "Status.JVM.Memory.Heap.Used"
MANAGED = "Status.Flink.Memory.Managed"


def test_a_beat_says_how_a_taskmanager_fares() -> None:
    now = 1000.0
    row = taskmanagers.register("tm", "here", 1, 1, 2048)
    supervisor = Supervisor(row, ["/none"], Limits(30, 30), clock=lambda: now)
    supervisor.tick()
    now += 60
    supervisor.tick()

    figures = cluster_figures.of_taskmanager(TaskManager.objects.get())
    assert figures[f"{MANAGED}.Total"] == 2048 << 20
    assert figures[f"{MANAGED}.Used"] == 0  # it has no drivers
    assert 0 <= figures[LOAD] <= 1
    assert figures[HEAP] > 10 << 20
    assert figures["Status.JVM.Threads.Count"] >= 1
    assert figures["Status.JVM.FileDescriptor.Open"] < figures["Status.JVM.FileDescriptor.Max"]
    assert history.latest(history.of_taskmanager("tm"), [HEAP]).keys() == {HEAP}

    taskmanagers.leave(row)
    assert cluster_figures.of_taskmanager(TaskManager.objects.get()) == {}


def test_vitals_that_cannot_be_had_cost_no_heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("no /proc")

    row = taskmanagers.register("tm", "here", 1, 1, 2048)
    TaskManager.objects.update(last_heartbeat=timezone.now() - timedelta(days=1))
    monkeypatch.setattr("workers.vitals.Gauge.look", fail)

    Supervisor(row, ["/none"], Limits(30, 30)).tick()

    found = TaskManager.objects.get()
    assert timezone.now() - found.last_heartbeat < timedelta(minutes=1)
    assert found.vitals == {}


def test_an_older_incarnation_says_nothing_about_the_newer_one() -> None:
    old = taskmanagers.register("tm", "here", 1, 1, 2048)
    taskmanagers.register("tm", "here", 2, 1, 2048)

    taskmanagers.report(old, {LOAD: 1.0})

    assert TaskManager.objects.get().vitals == {}
    assert history.names(history.of_taskmanager("tm")) == []


def test_drivers_count_as_what_their_taskmanager_uses() -> None:
    now = 0.0
    gauge = Gauge(lambda: now)
    busy = "while True: pass"
    child = subprocess.Popen([sys.executable, "-c", busy])
    try:
        first = gauge.look([child.pid], 1024)
        before = psutil_cpu(child.pid)
        while psutil_cpu(child.pid) < before + 0.2:
            pass
        now = 1.0
        second = gauge.look([child.pid, 2**22 + 1], 1024)
    finally:
        child.kill()
        child.wait()

    assert LOAD not in first  # nothing to compare with
    assert second[LOAD] > 0
    assert second[f"{MANAGED}.Used"] > 1 << 20
    assert second["Status.JVM.CPU.Time"] > first["Status.JVM.CPU.Time"]


def psutil_cpu(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


def test_jobmanagers_report_whether_they_lead_or_not() -> None:
    leader, standby = JobManager("one"), JobManager("two")
    leader.tick()
    standby.tick()

    assert [row.name for row in JobManagerProcess.objects.all()] == ["one", "two"]
    found = jobmanagers.leader()
    assert found is not None and found.name == "one"
    assert found.vitals[HEAP] > 0
    assert not jobmanagers.is_silent(found, timezone.now())
    leases.give_up(leader._lease())
    assert jobmanagers.leader() is None


def test_one_that_ended_is_gone_and_one_that_is_silent_for_long_is_forgotten() -> None:
    for name in ("ended", "died", "lives"):
        jobmanagers.report(name, "here", 1, timezone.now(), {})
    long_ago = timezone.now() - 2 * jobmanagers.FORGOTTEN
    JobManagerProcess.objects.filter(name="died").update(last_heartbeat=long_ago)

    jobmanagers.leave("ended")
    jobmanagers.report("lives", "here", 1, timezone.now(), {})

    assert [row.name for row in JobManagerProcess.objects.all()] == ["lives"]


def test_the_cluster_is_counted_as_flink_does() -> None:
    JobManager("one").tick()
    make_taskmanager("one", 3, make_job("holds a slot"))
    make_job("waits", JobState.CREATED)
    left = make_taskmanager("left", 5)
    TaskManager.objects.filter(pk=left.pk).update(state="LEFT")

    found = cluster_figures.of_jobmanager()

    assert found["numRegisteredTaskManagers"] == 1
    assert found["numRunningJobs"] == 1
    assert (found["taskSlotsTotal"], found["taskSlotsAvailable"]) == (3, 2)
    assert HEAP in found
