"""Faults for the miniature engine: the same sink and broker, a driver that starts in a second."""

from __future__ import annotations

import os
import signal
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from headrace.connectors.twophase.steps import Step
from tests.chaos import processes, reading
from tests.chaos.broker import Broker
from tests.chaos.ends import FATAL
from tests.chaos.faults import TASK_STEPS, Fault, Kind, Victim
from tests.chaos.injection import SPARE_SECONDS, Hit
from tests.chaos.life import Unrecovered
from tests.kafka import brokers, engine
from tests.kafka.engine import Crash, Ended, Plan

NAME = "miniature"
BATCHES = 6
PARTITIONS = 2
SINKS = ("left", "right")
TIMEOUT_MS = 8000
TRIES = 5
RECOVERY = -1
HALT_SECONDS = 60.0


@dataclass
class Miniature:
    """One small job after the other, each with faults until it has run through."""

    home: Path
    broker: Broker
    say: Callable[[str], None]
    hits: list[Hit] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    recoveries: list[dict[str, int]] = field(default_factory=list)
    runs: int = 0
    jobs: int = 0
    records: int = 0
    plan: Plan | None = None

    def inject(self, fault: Fault) -> bool:
        """Whether it hit."""
        plan = self.plan = self.plan or self._new_plan()
        before = len(self.hits)
        crash = self._crash(plan, fault)
        if crash is None:
            self.finish()
            return self.inject(fault)
        if fault.kind is Kind.REPLACED:
            self._replace(plan, fault, crash)
        elif fault.victim in (Victim.ITSELF, Victim.DRIVER):
            if self._run(replace(plan, crash=crash)).code == -signal.SIGKILL:
                self._hit(fault, crash)
        else:
            self._halt(plan, fault, crash)
        return len(self.hits) > before

    def finish(self) -> None:
        """Let the current job run to its end, and verify it."""
        plan, self.plan = self.plan, None
        if plan is None:
            return
        for _ in range(TRIES):
            if self._run(plan).code == 0:
                break
        else:
            raise Unrecovered(f"{plan.prefix} does not run through, see {plan.directory}")
        self.jobs += 1
        self.problems += self._verify(plan)

    def _verify(self, plan: Plan) -> list[str]:
        problems = []
        right = plan.all_values()
        for topic in plan.topics.values():
            found = reading.committed(self.broker.servers, topic)
            problems += [f"{topic}: stuck at {where}" for where in found.stuck.values()]
            self.records += len(found.values)
            if sorted(found.values) != right:
                extra = Counter(found.values) - Counter(right)
                lost = Counter(right) - Counter(found.values)
                problems.append(f"{topic}: lost {dict(lost)}, more than once {dict(extra)}")
        problems += reading.transaction_problems(
            self.broker.servers, plan.prefix, list(SINKS), TIMEOUT_MS / 1000 + 30
        )
        return [f"{plan.prefix}: {problem}" for problem in problems]

    def _new_plan(self) -> Plan:
        prefix = f"chaos-{NAME}-{uuid.uuid4().hex[:6]}"
        servers = self.broker.servers
        return Plan(
            servers=servers,
            directory=str(self.home / prefix),
            topics={sink: brokers.new_topic(servers, PARTITIONS) for sink in SINKS},
            prefix=prefix,
            batches=BATCHES,
            partitions=PARTITIONS,
            transaction_timeout_ms=TIMEOUT_MS,
        )

    def _crash(self, plan: Plan, fault: Fault) -> Crash | None:
        """Where the fault's step comes in what is left of the job; None if nothing is left."""
        assert fault.step is not None
        done = [int(path.name) for path in (plan.home / "commits").glob("*")]
        left = range(max(done, default=-1) + 1, plan.batches)
        if not left:
            return None
        batch = left[0] if fault.hurry else left[:2][-1]
        if fault.kind is Kind.RECOVERY_POINT:
            return Crash(fault.step.value, RECOVERY)
        times = len(SINKS) * PARTITIONS if fault.step in TASK_STEPS else 1
        if fault.step in (Step.ENDING, Step.ENDED):
            times = len(SINKS)
        return Crash(fault.step.value, batch, 1 + int(fault.delay * 1000) % times)

    def _halt(self, plan: Plan, fault: Fault, crash: Crash) -> None:
        """The engine sleeps at the step while the broker dies, or its transactions time out."""
        plan = replace(plan, crash=replace(crash, signal="SIGSTOP"))
        with engine.started(plan) as process:
            if not _wait_until_halted(process.pid):
                return
            if fault.victim is Victim.BROKER:
                self.broker.kill()
                os.kill(process.pid, signal.SIGCONT)
                self.broker.come_back(fault.pause)
            else:
                time.sleep(TIMEOUT_MS / 1000 + SPARE_SECONDS)
                os.kill(process.pid, signal.SIGCONT)
            self._hit(fault, crash)
            self._note(engine.ended(plan, process))

    def _replace(self, plan: Plan, fault: Fault, crash: Crash) -> None:
        with engine.started(replace(plan, crash=replace(crash, signal="SIGSTOP"))) as paused:
            if not _wait_until_halted(paused.pid):
                return
            self._run(replace(plan, batches=min(crash.batch + 2, plan.batches)))
            os.kill(paused.pid, signal.SIGCONT)
            self._hit(fault, crash)
            ended = engine.ended(plan, paused)
            self._note(ended)
            if ended.code == 0 and not _had_all_answers(plan, crash):
                self.problems.append(f"{plan.prefix}: a driver that was replaced went on")

    def _run(self, plan: Plan) -> Ended:
        ended = engine.run(plan)
        self._note(ended)
        return ended

    def _note(self, ended: Ended) -> None:
        self.runs += 1
        if ended.recovered:
            self.recoveries.append(ended.recovered)
        if ended.error:
            self.ends[ended.error] += 1
        if ended.error in FATAL or (ended.code > 0 and not ended.error):
            self.problems.append(f"{NAME}: {ended.error} {ended.message}")

    def _hit(self, fault: Fault, crash: Crash) -> None:
        during = "in recovery" if crash.batch == RECOVERY else f"in batch {crash.batch}"
        self.hits.append(Hit(NAME, fault, during, time.time()))
        self.say(f"{len(self.hits):4} {NAME}: {fault}, {during}")


def _had_all_answers(plan: Plan, crash: Crash) -> bool:
    """Whether a driver that was replaced there may have had nothing left to be refused."""
    return crash.step == Step.ENDED.value and crash.batch == plan.batches - 1


def _wait_until_halted(pid: int) -> bool:
    """False when the engine ended before it got there."""
    process = psutil.Process(pid)

    def decided() -> bool:
        return process.status() in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE)

    return processes.wait(decided, HALT_SECONDS) and process.status() == psutil.STATUS_STOPPED
