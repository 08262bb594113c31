"""Faults as they are done to an installation."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import psutil

from tests.chaos import processes
from tests.chaos.control import drivers
from tests.chaos.control.faults import Fault, Kind
from tests.chaos.control.installation import JOBMANAGERS, Installation, Service
from tests.chaos.control.numbers import Numbers
from tests.chaos.control.rest import Row
from tests.chaos.faults import Part

#: What a restart, or a batch of every job, may take on a slow machine.
PATIENCE_SECONDS = 900.0
#: A process that is paused within a transaction on SQLite keeps all others from writing: then it
#: goes on after this time, and the fault is tried again.
LOCKED_SECONDS = 20.0


class Unrecovered(Exception):
    """The platform does not go on. Nothing more can be injected."""


@dataclass
class Injector:
    installation: Installation
    jobs: list[Numbers]
    #: Until every job has completed a further batch.
    settle: Callable[[], None]
    #: Seconds from each leader's death, or pause, to the next one's lead.
    takeovers: list[float] = field(default_factory=list)

    def inject(self, fault: Fault) -> bool:
        """Whether it hit. What comes back has come back, but the jobs may still be starting."""
        time.sleep(fault.delay)
        return _HOW[fault.kind](self, fault)

    # --- JobManager, web, Redis ---

    def leader_killed(self, fault: Fault) -> bool:
        leader = self._leader()
        self._kill_leader(leader)
        leader.start()
        return True

    def leader_paused(self, fault: Fault) -> bool:
        leader = self._leader()
        deposed = self._deposed(leader)
        leader.send(signal.SIGSTOP)
        if not self._taken_over(leader, LOCKED_SECONDS):
            leader.send(signal.SIGCONT)
            return False
        time.sleep(fault.pause)
        leader.send(signal.SIGCONT)
        self._wait(lambda: self._deposed(leader) > deposed, f"{leader.name} is not deposed")
        return True

    def web_killed(self, fault: Fault) -> bool:
        web = self.installation.services["web"]
        web.kill()
        time.sleep(fault.pause)
        web.start()
        known = self.installation.rest.all_jobs()
        if missing := {job.id for job in self.jobs} - known.keys():
            raise Unrecovered(f"the web that was started again knows no jobs {missing}")
        return True

    def redis_killed(self, fault: Fault) -> bool:
        """Jobs go on meanwhile."""
        redis = self.installation.services["redis"]
        redis.kill()
        self.settle()
        redis.start()
        return True

    def _kill_leader(self, leader: Service) -> None:
        leader.kill()
        if not self._taken_over(leader, PATIENCE_SECONDS):
            raise Unrecovered(f"nobody leads after {leader.name} was killed")

    def _leader(self) -> Service:
        self._wait(lambda: self._who_leads() in JOBMANAGERS, "nobody leads")
        return self.installation.services[self._who_leads() or JOBMANAGERS[0]]

    def _who_leads(self) -> str | None:
        found: str | None = self.installation.rest.overview()["jobmanager"]
        return found

    def _taken_over(self, leader: Service, seconds: float) -> bool:
        begun = time.monotonic()
        there = self.installation.until(
            lambda: self._who_leads() not in (None, leader.name), seconds
        )
        if there:
            self.takeovers.append(time.monotonic() - begun)
        return there

    def _deposed(self, jobmanager: Service) -> int:
        return self.installation.log(jobmanager.name).count("deposed")

    # --- TaskManager ---

    def taskmanager_killed(self, fault: Fault) -> bool:
        taskmanager = self._taskmanager_of(fault)
        taskmanager.kill()
        time.sleep(fault.pause)
        self._bring_back(taskmanager)
        return True

    def taskmanager_away(self, fault: Fault) -> bool:
        """Its jobs move, and run elsewhere when it comes back."""
        taskmanager = self._taskmanager_of(fault)
        taskmanager.kill()
        if not self._lost(taskmanager, PATIENCE_SECONDS):
            raise Unrecovered(f"{taskmanager.name} is not noticed to be lost")
        self.settle()
        self._bring_back(taskmanager)
        self._wait_for_single_drivers()
        return True

    def taskmanager_paused(self, fault: Fault) -> bool:
        taskmanager = self._taskmanager_of(fault)
        taskmanager.send(signal.SIGSTOP)
        limit = self.installation.limits.taskmanager + LOCKED_SECONDS
        if not self._lost(taskmanager, limit):
            taskmanager.send(signal.SIGCONT)
            return False
        self.settle()
        taskmanager.send(signal.SIGCONT)
        self._wait(lambda: self._is(taskmanager, "REGISTERED"), "a woken TaskManager is not back")
        self._wait_for_single_drivers()
        return True

    def _taskmanager_of(self, fault: Fault) -> Service:
        job = self.jobs[fault.job].id
        for name, row in self.installation.rest.taskmanagers_by_name().items():
            if any(slot["job"] == job for slot in row["slot_set"]):
                return self.installation.services[name]
        raise Unrecovered(f"no TaskManager has slots of job {fault.job}, which runs")

    def _bring_back(self, taskmanager: Service) -> None:
        taskmanager.start()
        self._wait(lambda: self._is_back(taskmanager), f"{taskmanager.name} is not back")

    def _is_back(self, taskmanager: Service) -> bool:
        row = self._row(taskmanager)
        child = taskmanager.child
        return row["state"] == "REGISTERED" and child is not None and row["pid"] == child.pid

    def _is(self, taskmanager: Service, state: str) -> bool:
        return bool(self._row(taskmanager)["state"] == state)

    def _lost(self, taskmanager: Service, seconds: float) -> bool:
        return self.installation.until(lambda: self._is(taskmanager, "LOST"), seconds)

    def _row(self, taskmanager: Service) -> Row:
        return self.installation.rest.taskmanagers_by_name()[taskmanager.name]

    def _wait_for_single_drivers(self) -> None:
        """Of the two drivers that a job may have had, one is left."""
        self._wait(
            lambda: all(len(each) == 1 for each in self._living().values()),
            "a driver that was given up outlives the return of its TaskManager",
        )

    # --- driver ---

    def driver_killed(self, fault: Fault) -> bool:
        return self._kill_driver(fault, fault.part) > 0

    def driver_starting(self, fault: Fault) -> bool:
        job = self.jobs[fault.job].id
        before = max(self._living().get(job, {0: []}))
        if not self._kill_driver(fault, Part.ALL):
            return False
        self._wait(
            lambda: max(self._living().get(job, {0: []})) > before, "no driver follows a killed one"
        )
        time.sleep(fault.pause)
        return self._kill_driver(fault, Part.ALL) > 0

    def driver_paused(self, fault: Fault) -> bool:
        found = self._driver(fault)
        for process in (*drivers.leader(found), *found):
            processes.send([process], signal.SIGSTOP)
        self._wait(
            lambda: not any(map(_alive, found)), "a driver that gives no sign of life is not killed"
        )
        return bool(found)

    def driver_unseen(self, fault: Fault) -> bool:
        taskmanager = self._taskmanager_of(fault)
        taskmanager.kill()
        killed = self._kill_driver(fault, Part.ALL)
        time.sleep(fault.pause)
        self._bring_back(taskmanager)
        return killed > 0

    def driver_leaderless(self, fault: Fault) -> bool:
        leader = self._leader()
        killed = self._kill_driver(fault, fault.part)
        self._kill_leader(leader)
        leader.start()
        return killed > 0

    def _kill_driver(self, fault: Fault, part: Part) -> int:
        found = self._driver(fault)
        if part is Part.PYTHON:
            found = drivers.leader(found)
        elif part is Part.JVM:
            found = [each for each in found if processes.role(each) == processes.JVM]
        return processes.send(found, signal.SIGKILL)

    def _driver(self, fault: Fault) -> list[psutil.Process]:
        """All processes of the newest attempt."""
        attempts = self._living().get(self.jobs[fault.job].id, {})
        return attempts[max(attempts)] if attempts else []

    # --- how ---

    def _living(self) -> drivers.Living:
        return drivers.living(self.installation.run)

    def _wait(self, condition: Callable[[], bool], otherwise: str) -> None:
        if not self.installation.until(condition, PATIENCE_SECONDS):
            raise Unrecovered(otherwise)


def _alive(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


_HOW: dict[Kind, Callable[[Injector, Fault], bool]] = {
    Kind.LEADER_KILLED: Injector.leader_killed,
    Kind.LEADER_PAUSED: Injector.leader_paused,
    Kind.WEB_KILLED: Injector.web_killed,
    Kind.REDIS_KILLED: Injector.redis_killed,
    Kind.TASKMANAGER_KILLED: Injector.taskmanager_killed,
    Kind.TASKMANAGER_AWAY: Injector.taskmanager_away,
    Kind.TASKMANAGER_PAUSED: Injector.taskmanager_paused,
    Kind.DRIVER_KILLED: Injector.driver_killed,
    Kind.DRIVER_STARTING: Injector.driver_starting,
    Kind.DRIVER_PAUSED: Injector.driver_paused,
    Kind.DRIVER_UNSEEN: Injector.driver_unseen,
    Kind.DRIVER_LEADERLESS: Injector.driver_leaderless,
}
