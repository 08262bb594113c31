"""A workload's drivers, one after the other: who starts them again, and why each ended."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Callable

from tests.chaos import processes
from tests.chaos.ends import End
from tests.chaos.faults import Part
from tests.chaos.workloads import Progress, Workload

#: What a restart or a batch may take on a slow machine.
PATIENCE_SECONDS = 480.0
#: How long the processes of a driver may outlive it.
END_SECONDS = 60.0
#: A machine on which so many drivers in a row end by themselves, and none completes a batch, is too
#: slow for the transaction timeout: it is doubled, up to the most.
FRUITLESS = 3
MOST_TIMEOUT_MS = 160_000


class Unrecovered(Exception):
    """The workload does not go on. Nothing more can be injected."""


class Life:
    """Of one workload."""

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        #: Why drivers ended, apart from being killed.
        self.ends: Counter[str] = Counter()
        self.problems: list[str] = []
        self._killed = False
        self._fruitless = 0
        self._completed = -1

    @property
    def mark(self) -> str:
        """Of the current attempt's processes."""
        return self._workload.mark

    def progress(self) -> Progress:
        return Progress.of(self._workload.checkpoint())

    def alive(self) -> bool:
        process = self._workload.process
        return process is not None and process.poll() is None

    def start(self) -> None:
        self._killed = False
        self._workload.start()

    def revive(self) -> None:
        """Start the workload again if its driver has ended."""
        if not self.alive():
            self.bury()
            self.start()

    def settle(self) -> None:
        """Until one more batch is completed, the workload started again if need be."""
        completed = self.progress().completed
        self._until(lambda: self.progress().completed > completed, "no batch ends")

    def next_batch(self) -> None:
        """Until a batch begins."""
        planned = self.progress().planned
        self._until(lambda: self.progress().planned > planned, "no batch begins")

    def _until(self, condition: Callable[[], bool], otherwise: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            if time.monotonic() > deadline:
                raise Unrecovered(f"{self._workload.name}: {otherwise}")
            self.revive()
            time.sleep(0.01)

    def kill(self, part: Part) -> bool:
        """SIGKILL; what is left of the driver has to notice by itself. Whether it was alive."""
        process = self._workload.process
        alive = self.alive()
        self._killed = self._killed or alive
        if part is Part.ALL:
            processes.kill_all(self.mark)
        if process is None or part is Part.ALL or not alive:
            return alive
        virtual_machine = processes.of_role(self.mark, processes.JVM)
        if part is Part.PYTHON or not virtual_machine:
            process.kill()
            return True
        processes.send(virtual_machine, signal.SIGKILL)
        if not processes.wait(lambda: process.poll() is not None, END_SECONDS):
            self.problems.append("a driver outlives its JVM")
            processes.kill_all(self.mark)
        return True

    def was_killed(self, pid: int) -> None:
        """By somebody else; it matters when that is the driver itself."""
        process = self._workload.process
        self._killed = self._killed or (process is not None and process.pid == pid)

    def bury(self) -> None:
        """Note the end of the current attempt, if there was one."""
        process = self._workload.process
        if process is None:
            return
        code = process.wait()
        if not self._killed:
            self.note_end(self._workload.attempts, code)
            self._note_fruit()
        self._workload.process = None

    def _note_fruit(self) -> None:
        completed = self.progress().completed
        self._fruitless = self._fruitless + 1 if completed == self._completed else 1
        self._completed = completed
        if self._fruitless >= FRUITLESS:
            self._fruitless = 0
            doubled = 2 * self._workload.timeout_ms
            self._workload.timeout_ms = max(
                self._workload.timeout_ms, min(doubled, MOST_TIMEOUT_MS)
            )

    def note_end(self, attempt: int, code: int) -> None:
        """An attempt ended by itself."""
        ended = self._workload.end_of(attempt) if code else End("ended with code 0", overcome=False)
        self.ends[ended.error] += 1
        if not ended.overcome:
            self.problems.append(
                f"{self._workload.name}, attempt {attempt}: {ended.error} ({code})"
            )

    def end(self) -> None:
        """Whatever of the current attempt still runs is killed."""
        if self.alive():
            self.kill(Part.ALL)
            self.bury()
