"""Brings one fault after the other over a running workload, and starts it again when it died."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

import psutil

from headrace.connectors.twophase.steps import Step
from tests.chaos import processes
from tests.chaos.broker import Broker
from tests.chaos.faults import RECOVERY_STEPS, Fault, Kind, Part, Victim
from tests.chaos.life import END_SECONDS, Life
from tests.chaos.workloads import Workload

#: What the way to a crash point may take on a slow machine.
POINT_SECONDS = 240.0
#: How long a driver may live on after another took its job over.
REPLACED_SECONDS = 150.0
#: Of threads that end transactions beside the one that is to halt.
LINGER_SECONDS = 0.7
#: Between the transaction timeout and the broker's abort.
SPARE_SECONDS = 1.5


@dataclass(frozen=True)
class Hit:
    """A fault that happened, and what was going on."""

    workload: str
    fault: Fault
    during: str
    at: float


class Injector:
    """Of one workload."""

    def __init__(self, workload: Workload, broker: Broker, say: Callable[[str], None]) -> None:
        self._workload = workload
        self._broker = broker
        self._say = say
        self.life = Life(workload)
        self.hits: list[Hit] = []

    @property
    def _timeout(self) -> float:
        return self._workload.timeout_ms / 1000 + SPARE_SECONDS

    def inject(self, fault: Fault) -> bool:
        """Whether it hit."""
        self._workload.points.clear()
        before = len(self.hits)
        _INJECT[fault.kind](self, fault)
        self._workload.points.clear()
        return len(self.hits) > before

    # --- faults

    def _kill_driver(self, fault: Fault) -> None:
        self._be_in_a_batch(fault)
        during = str(self.life.progress())
        if self.life.kill(fault.part):
            self._hit(fault, during)

    def _hit_worker(self, fault: Fault) -> None:
        self._be_in_a_batch(fault)
        workers = processes.of_role(self.life.mark, processes.WORKER)
        if not workers:
            return
        during = str(self.life.progress())
        victim = workers[int(fault.delay * 1000) % len(workers)]
        if fault.kind is Kind.WORKER_PAUSED:
            if processes.send([victim], signal.SIGSTOP):
                time.sleep(self._timeout + fault.pause)
                self._hit(fault, f"{during}, then {self.life.progress()}")
            processes.send([victim], signal.SIGCONT)
        elif processes.send([victim], signal.SIGKILL):
            self._hit(fault, during)

    def _kill_broker(self, fault: Fault) -> None:
        self._be_in_a_batch(fault)
        during = str(self.life.progress())
        self._broker.kill()
        self._broker.come_back(fault.pause)
        self._hit(fault, during)

    def _pause_driver(self, fault: Fault) -> None:
        self._be_in_a_batch(fault)
        during = str(self.life.progress())
        frozen = processes.freeze(self.life.mark)
        time.sleep(self._timeout + fault.pause)
        if processes.send(frozen, signal.SIGCONT):
            self._hit(fault, during)

    def _replace(self, fault: Fault) -> None:
        """The whole driver sleeps at a step; it wakes when its successor has begun to work."""
        halted = self._halt(fault)
        if halted is None:
            return
        during = str(self.life.progress())
        old, attempt = self.life.mark, self._workload.attempts
        old_process = self._workload.process
        frozen = processes.freeze(old)
        self._workload.points.clear()
        self.life.start()
        if fault.hurry:
            # it wakes while the other starts, and may still be the job's owner for a moment
            time.sleep(fault.delay * 10)
        else:
            self.life.settle()
        processes.send(frozen, signal.SIGCONT)
        self._hit(fault, f"{during}, woken {self.life.progress()}")
        assert old_process is not None

        def ended() -> bool:
            self.life.revive()  # the one that had not taken over yet may end for the other
            return old_process.poll() is not None

        if processes.wait(ended, REPLACED_SECONDS):
            self.life.note_end(attempt, old_process.wait())
        else:
            self.life.problems.append(f"a driver that was replaced ({fault}) did not stop")
        left = processes.left_after(old, END_SECONDS)
        self.life.problems += [f"a driver that was replaced left {process}" for process in left]
        processes.kill_all(old)

    def _outage(self, fault: Fault) -> None:
        """Dead at a step, and nobody there until the broker has aborted what was open."""
        if self._halt(fault) is None:
            return
        during = str(self.life.progress())
        if self.life.kill(Part.ALL):
            self._hit(fault, during)
        time.sleep(self._timeout + fault.pause)

    def _at_point(self, fault: Fault) -> None:
        halted = self._halt(fault)
        if halted is None:
            return
        during = str(self.life.progress())
        if fault.victim is Victim.ITSELF:
            self.life.was_killed(halted.pid)
            processes.send([halted], signal.SIGKILL)
        elif fault.victim is Victim.DRIVER:
            # first the one that is halted: it may be the driver, and would never notice
            self.life.was_killed(halted.pid)
            processes.send([halted], signal.SIGKILL)
            self.life.kill(fault.part)
        elif fault.victim is Victim.BROKER:
            self._broker.kill()
            processes.send([halted], signal.SIGCONT)
            self._broker.come_back(fault.pause)
        else:
            time.sleep(self._timeout + fault.pause)
            processes.send([halted], signal.SIGCONT)
        self._hit(fault, during)

    # --- on the way there

    def _halt(self, fault: Fault) -> psutil.Process | None:
        """The process of the current attempt that is halted at the fault's step."""
        assert fault.step is not None
        points = self._workload.points
        if fault.step in RECOVERY_STEPS:
            if self.life.alive():
                self.life.kill(fault.part)
            self.life.bury()
            points.arm(fault.step)
            self.life.start()
        else:
            self._be_alive(fault)
            points.arm(fault.step, fault.skip, _linger(fault.step))
        deadline = time.monotonic() + POINT_SECONDS
        while time.monotonic() < deadline:
            halted = points.halted()
            if halted and processes.mark_of(halted) == self.life.mark:
                return halted
            if halted:  # a straggler of an attempt that was killed
                processes.send([halted], signal.SIGKILL)
                points.arm(fault.step, fault.skip, _linger(fault.step))
            self.life.revive()
            time.sleep(0.02)
        return None

    def _be_alive(self, fault: Fault) -> None:
        if not (fault.hurry and self.life.alive()):
            self.life.settle()

    def _be_in_a_batch(self, fault: Fault) -> None:
        """At a random moment after a batch has begun; in a hurry also while a driver starts."""
        if fault.hurry and not self.life.alive():
            self.life.revive()
            time.sleep(fault.delay * 8)
            return
        self._be_alive(fault)
        self.life.next_batch()
        time.sleep(fault.delay)

    def _hit(self, fault: Fault, during: str) -> None:
        self.hits.append(Hit(self._workload.name, fault, during, time.time()))
        self._say(f"{len(self.hits):4} {self._workload.name}: {fault}, {during}")


def _linger(step: Step) -> float:
    return LINGER_SECONDS if step is Step.ENDING else 0.0


_INJECT: dict[Kind, Callable[[Injector, Fault], None]] = {
    Kind.DRIVER_KILLED: Injector._kill_driver,
    Kind.WORKER_KILLED: Injector._hit_worker,
    Kind.WORKER_PAUSED: Injector._hit_worker,
    Kind.BROKER_KILLED: Injector._kill_broker,
    Kind.DRIVER_PAUSED: Injector._pause_driver,
    Kind.REPLACED: Injector._replace,
    Kind.OUTAGE: Injector._outage,
    Kind.TASK_POINT: Injector._at_point,
    Kind.COMMIT_POINT: Injector._at_point,
    Kind.RECOVERY_POINT: Injector._at_point,
}
