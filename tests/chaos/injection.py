"""Brings one fault after the other over a running workload, and starts it again when it died."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import psutil

from headrace.connectors.twophase.steps import Step
from tests.chaos import processes, workloads
from tests.chaos.broker import Broker
from tests.chaos.faults import RECOVERY_STEPS, Fault, Kind, Part, Victim
from tests.chaos.workloads import Progress, Workload

#: What a restart, a batch, or the way to a crash point may take on a slow machine.
PATIENCE_SECONDS = 240.0
POINT_SECONDS = 120.0
#: How long a driver may live on after another took its job over.
REPLACED_SECONDS = 150.0
#: How long the processes of a driver may outlive it.
END_SECONDS = 60.0
#: Of threads that end transactions beside the one that is to halt.
LINGER_SECONDS = 0.7
#: Between the transaction timeout and the broker's abort.
SPARE_SECONDS = 1.5


class Unrecovered(Exception):
    """The workload does not go on. Nothing more can be injected."""


@dataclass(frozen=True)
class Hit:
    """A fault that happened, and what was going on."""

    workload: str
    fault: Fault
    during: str
    at: float


class Injector:
    def __init__(self, workload: Workload, broker: Broker, say: Callable[[str], None]) -> None:
        self._workload = workload
        self._broker = broker
        self._say = say
        self._timeout = workload.site.timeout_ms / 1000 + SPARE_SECONDS
        self.hits: list[Hit] = []
        self.problems: list[str] = []
        #: Why drivers ended, apart from being killed.
        self.ends: Counter[str] = Counter()
        self._killed = False

    def inject(self, fault: Fault) -> bool:
        """Whether it hit."""
        self._workload.points.clear()
        before = len(self.hits)
        _INJECT[fault.kind](self, fault)
        self._workload.points.clear()
        return len(self.hits) > before

    def settle(self, batches: int = 1) -> None:
        """Until the workload has completed more batches than it had, restarted if need be."""
        wanted = self._progress().completed + batches
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._progress().completed < wanted:
            if time.monotonic() > deadline:
                raise Unrecovered(f"{self._workload.name}: no batch in {PATIENCE_SECONDS:.0f} s")
            self.revive()
            time.sleep(0.05)

    def end(self) -> None:
        """No process of an earlier attempt sleeps on, and none of the current one runs."""
        self._workload.points.clear()
        if self._alive():
            processes.kill_all(self._mark)
            self._killed = True
            self._note_death()

    # --- faults

    def _kill_driver(self, fault: Fault) -> None:
        self._be_in_a_batch(fault)
        during = str(self._progress())
        if self._kill(fault.part):
            self._hit(fault, during)

    def _hit_worker(self, fault: Fault) -> None:
        self._be_in_a_batch(fault)
        workers = processes.of_role(self._mark, processes.WORKER)
        if not workers:
            return
        during = str(self._progress())
        victim = workers[int(fault.delay * 1000) % len(workers)]
        if fault.kind is Kind.WORKER_PAUSED:
            if processes.send([victim], signal.SIGSTOP):
                time.sleep(self._timeout + fault.pause)
                self._hit(fault, f"{during}, then {self._progress()}")
            processes.send([victim], signal.SIGCONT)
        elif processes.send([victim], signal.SIGKILL):
            self._hit(fault, during)

    def _kill_broker(self, fault: Fault) -> None:
        self._be_in_a_batch(fault)
        during = str(self._progress())
        self._broker.kill()
        self._broker.come_back(fault.pause)
        self._hit(fault, during)

    def _pause_driver(self, fault: Fault) -> None:
        self._be_in_a_batch(fault)
        during = str(self._progress())
        frozen = processes.freeze(self._mark)
        time.sleep(self._timeout + fault.pause)
        if processes.send(frozen, signal.SIGCONT):
            self._hit(fault, during)

    def _replace(self, fault: Fault) -> None:
        """The whole driver sleeps at a step; it wakes when its successor has begun to work."""
        halted = self._halt(fault)
        if halted is None:
            return
        during = str(self._progress())
        old, attempt = self._mark, self._workload.attempts
        old_process = self._workload.process
        frozen = processes.freeze(old)
        self._workload.points.clear()
        self._start()
        if fault.hurry:
            # it wakes while the other starts, and may still be the job's owner for a moment
            time.sleep(fault.delay * 10)
        else:
            self.settle()
        processes.send(frozen, signal.SIGCONT)
        self._hit(fault, f"{during}, woken {self._progress()}")
        assert old_process is not None
        if not processes.wait(lambda: old_process.poll() is not None, REPLACED_SECONDS):
            self.problems.append(f"a driver that was replaced ({fault}) did not stop")
        left = processes.left_after(old, END_SECONDS)
        self.problems += [f"a driver that was replaced left {process}" for process in left]
        processes.kill_all(old)
        self._note_end(attempt, old_process.wait())

    def _outage(self, fault: Fault) -> None:
        """Dead at a step, and nobody there until the broker has aborted what was open."""
        if self._halt(fault) is None:
            return
        during = str(self._progress())
        if self._kill(Part.ALL):
            self._hit(fault, during)
        time.sleep(self._timeout + fault.pause)

    def _at_point(self, fault: Fault) -> None:
        halted = self._halt(fault)
        if halted is None:
            return
        during = str(self._progress())
        if fault.victim is Victim.ITSELF:
            self._killed = halted.pid == self._pid
            processes.send([halted], signal.SIGKILL)
        elif fault.victim is Victim.DRIVER:
            self._kill(fault.part)
            processes.send([halted], signal.SIGKILL)
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
            if self._alive():
                self._kill(fault.part)
            self._note_death()
            points.arm(fault.step)
            self._start()
        else:
            self._be_alive(fault)
            points.arm(fault.step, fault.skip, _linger(fault.step))
        deadline = time.monotonic() + POINT_SECONDS
        while time.monotonic() < deadline:
            halted = points.halted()
            if halted and processes.mark_of(halted) == self._mark:
                return halted
            if halted:  # a straggler of an attempt that was killed
                processes.send([halted], signal.SIGKILL)
                points.arm(fault.step, fault.skip, _linger(fault.step))
            self.revive()
            time.sleep(0.02)
        return None

    def _be_alive(self, fault: Fault) -> None:
        if fault.hurry and self._alive():
            return
        self.settle()

    def _be_in_a_batch(self, fault: Fault) -> None:
        """At a random moment after a batch has begun; in a hurry also while a driver starts."""
        if fault.hurry and not self._alive():
            self.revive()
            time.sleep(fault.delay * 8)
            return
        self._be_alive(fault)
        planned = self._progress().planned
        if not processes.wait(lambda: self._progress().planned > planned, PATIENCE_SECONDS, 0.01):
            raise Unrecovered(f"{self._workload.name}: no batch begins")
        time.sleep(fault.delay)

    def _kill(self, part: Part) -> bool:
        """SIGKILL; what is left of the driver notices by itself, or does not."""
        self._killed = True
        if part is Part.ALL:
            return processes.kill_all(self._mark) > 0
        if part is Part.JVM and processes.send(
            processes.of_role(self._mark, processes.JVM), signal.SIGKILL
        ):
            assert self._workload.process is not None
            process = self._workload.process
            # a driver that waits for its own JVM for ever would be a finding
            if not processes.wait(lambda: process.poll() is not None, 60):
                self.problems.append("a driver outlives its JVM")
                processes.kill_all(self._mark)
            return True
        process = self._workload.process
        if process is None or process.poll() is not None:
            return False
        process.kill()
        return True

    # --- its life

    @property
    def _mark(self) -> str:
        return self._workload.mark

    @property
    def _pid(self) -> int:
        return self._workload.process.pid if self._workload.process else -1

    def _progress(self) -> Progress:
        return Progress.of(self._workload.checkpoint())

    def _alive(self) -> bool:
        process = self._workload.process
        return process is not None and process.poll() is None

    def _start(self) -> None:
        self._killed = False
        self._workload.start()

    def revive(self) -> None:
        """Start the workload again if its driver has ended."""
        if self._alive():
            return
        self._note_death()
        self._start()

    def _note_death(self) -> None:
        """Of the current attempt, if there was one."""
        process = self._workload.process
        if process is None:
            return
        code = process.wait()
        if not self._killed:
            self._note_end(self._workload.attempts, code)
        self._workload.process = None

    def _note_end(self, attempt: int, code: int) -> None:
        error = workloads.error_in(self._workload.log(attempt)) if code else "ended with code 0"
        self.ends[error] += 1
        if error in workloads.FATAL or code == 0:
            self.problems.append(f"{self._workload.name}, attempt {attempt}: {error}")

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
