"""One chaos run: three parts, a broker, a schedule that follows from the seed."""

from __future__ import annotations

import math
import random
import tempfile
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from headrace.connectors.twophase.steps import Step
from tests.chaos import faults, feed, miniature, processes, verification
from tests.chaos.broker import Broker
from tests.chaos.faults import MINIATURE_WEIGHTS, SPARK_WEIGHTS, Fault, Kind, Victim
from tests.chaos.injection import Hit, Injector
from tests.chaos.life import PATIENCE_SECONDS, Life, Unrecovered
from tests.chaos.miniature import Miniature
from tests.chaos.watch import Watch
from tests.chaos.workloads import Job, Progress, Query, Site, Totals, Workload
from workers.embedded import jars

RECORDS_PER_SECOND = 240
TIMEOUT_MS = 10_000
TRIES = 3
STOP_SECONDS = 120.0

#: What of the faults goes where; the rest is the miniature's.
JOB_SHARE = 0.35
QUERY_SHARE = 0.25


@dataclass
class Outcome:
    """What happened to one of the three parts."""

    name: str
    planned: list[Fault]
    hits: list[Hit] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    #: Drivers that ended by themselves, by error.
    ends: Counter[str] = field(default_factory=Counter)
    totals: Totals = field(default_factory=Totals)
    starts: int = 0
    batches: int = 0
    records: int = 0
    #: Of the live consumer, in seconds.
    longest_stall: float = 0.0
    seconds: float = 0.0
    #: Time was up before every fault was tried.
    cut_short: bool = False
    #: No fault is begun later than this, by the monotonic clock.
    until: float = math.inf
    #: Of transactions at the end, if it had to be raised.
    timeout_ms: int = 0


@dataclass(frozen=True)
class Schedule:
    """Of all three parts. The same seed and count give the same one."""

    seed: int
    job: list[Fault]
    query: list[Fault]
    miniature: list[Fault]

    @classmethod
    def of(cls, seed: int, count: int) -> Schedule:
        """Of a long run, job and query get every kind of fault; of a short one, each kind once
        between them."""
        chance = random.Random(seed)
        kinds = list(Kind)
        chance.shuffle(kinds)
        job_kinds = query_kinds = kinds
        job, query = round(count * JOB_SHARE), round(count * QUERY_SHARE)
        if query < len(kinds):
            half = len(kinds) // 2
            job_kinds, query_kinds = kinds[:half], kinds[half:]
            job, query = min(count, half), min(max(count - half, 0), half)
        alone = frozenset({Step.REPORTED})  # a step of jobs
        small = faults.schedule(chance, count - job - query, MINIATURE_WEIGHTS, without=alone)
        return cls(
            seed,
            faults.schedule(chance, job, _only(job_kinds), without=frozenset()),
            faults.schedule(chance, query, _only(query_kinds), without=alone),
            # its driver is one process
            [
                replace(fault, victim=Victim.ITSELF) if fault.victim is Victim.DRIVER else fault
                for fault in small
            ],
        )

    def lines(self) -> list[str]:
        parts = {"job": self.job, "query": self.query, miniature.NAME: self.miniature}
        return [f"{name}: {fault}" for name, part in parts.items() for fault in part]


def _only(kinds: list[Kind]) -> dict[Kind, int]:
    return {kind: weight for kind, weight in SPARK_WEIGHTS.items() if kind in kinds}


@dataclass
class Run:
    schedule: Schedule
    jar_folder: Path
    #: Hears of each fault that hit.
    listener: Callable[[str], None]
    #: Of transactions. Pauses are longer; commits that take as long are recomputed.
    timeout_ms: int = TIMEOUT_MS
    #: No fault is begun later than so long after the start, apart from the first of each part.
    seconds: float = math.inf
    home: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="headrace-chaos-")))
    outcomes: list[Outcome] = field(default_factory=list)
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    _parts_left: int = 3
    _begun: float = field(default_factory=time.monotonic)

    def execute(self) -> list[Outcome]:
        """All parts. What went wrong is in their `problems`."""
        (self.home / "schedule.txt").write_text("\n".join(self.schedule.lines()) + "\n")
        broker = Broker(self.home / "broker", self.jar_folder)
        try:
            site = Site(
                run=self.id,
                home=self.home,
                servers=broker.servers,
                jars=jars.resolve("spark", self.jar_folder),
                timeout_ms=self.timeout_ms,
            )
            plan = self.schedule
            self._part(miniature.NAME, plan.miniature, broker, self._miniature)
            self._part("job", plan.job, broker, lambda *part: self._workload(Job(site), *part))
            self._part(
                "query", plan.query, broker, lambda *part: self._workload(Query(site), *part)
            )
        finally:
            processes.kill_all(f"{self.id}/")
            broker.stop()
        return self.outcomes

    def say(self, line: str) -> None:
        with (self.home / "hits.txt").open("a") as file:
            file.write(f"{time.strftime('%H:%M:%S')} {line}\n")
        self.listener(line)

    def _part(
        self,
        name: str,
        planned: list[Fault],
        broker: Broker,
        run: Callable[[Outcome, Broker], None],
    ) -> None:
        """An error of the harness itself, or of the broker, is a problem of the part: the report is
        not lost, and the other parts still run."""
        self._parts_left -= 1
        if not planned:
            return
        outcome = Outcome(name, planned)
        self.outcomes.append(outcome)
        begun = time.monotonic()
        outcome.until = begun + (self._begun + self.seconds - begun) / (self._parts_left + 1)
        try:
            broker.start()  # found running, unless the part before could not start it again
            run(outcome, broker)
        except Exception as error:
            self._note(outcome, error)
        outcome.seconds = time.monotonic() - begun

    def _note(self, outcome: Outcome, error: Exception) -> None:
        outcome.problems.append(f"{type(error).__name__}: {error}")
        with (self.home / "errors.txt").open("a") as file:
            file.writelines(traceback.format_exception(error))

    def _workload(self, workload: Workload, outcome: Outcome, broker: Broker) -> None:
        injector = Injector(workload, broker, self.say)
        outcome.hits, outcome.ends = injector.hits, injector.life.ends
        input_ = feed.Feed(workload.site.servers, workload.source, RECORDS_PER_SECOND)
        watch = Watch(
            workload.site.servers, workload.outputs, feed.PARTITIONS, counted=workload.counted
        )
        with ExitStack() as ends:
            for end in (injector.life.end, watch.finish, lambda: input_.finish(60)):
                ends.callback(end)
            try:
                _inject_all(injector.inject, outcome)
                injector.life.settle()
                outcome.records = input_.finish(60)
                _drain(injector.life, watch, outcome.records)
                if code := workload.stop(STOP_SECONDS):
                    outcome.problems.append(f"the last driver ended with code {code}")
            except Exception as error:
                self._note(outcome, error)
        outcome.starts, outcome.longest_stall = workload.attempts, watch.stall.seconds
        outcome.timeout_ms = workload.timeout_ms
        outcome.problems += injector.life.problems + watch.problems
        try:
            outcome.problems += verification.problems_of(workload)
            outcome.totals = Totals.of(workload.recoveries())
            outcome.batches = Progress.of(workload.checkpoint()).completed + 1
        except Exception as error:
            self._note(outcome, error)
        if outcome.problems:
            folder = self.home / "evidence"
            verification.keep_evidence(workload.site.servers, workload, folder)

    def _miniature(self, outcome: Outcome, broker: Broker) -> None:
        small = Miniature(self.home / miniature.NAME, broker, self.say)
        outcome.hits, outcome.ends = small.hits, small.ends
        try:
            _inject_all(small.inject, outcome)
            small.finish()
        except Exception as error:
            self._note(outcome, error)
        outcome.problems += small.problems
        outcome.totals = Totals.of(small.recoveries)
        outcome.starts, outcome.records = small.runs, small.records
        outcome.batches = small.jobs * miniature.BATCHES


def _inject_all(inject: Callable[[Fault], bool], outcome: Outcome) -> None:
    """Each until it hits, a few times at most; no more once the part's time is up."""
    for number, fault in enumerate(outcome.planned):
        if number and time.monotonic() > outcome.until:
            outcome.cut_short = True
            return
        for _ in range(TRIES):
            if inject(fault) or time.monotonic() > outcome.until:
                break


def _drain(life: Life, watch: Watch, records: int) -> None:
    """Until the live consumer has seen as many records as came in."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while watch.records() < records:
        if time.monotonic() > deadline:
            raise Unrecovered(f"the live consumer saw {watch.records()} of {records} records")
        life.revive()
        time.sleep(0.2)
