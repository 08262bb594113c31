"""One run: jobs on an installation of its own, faults by a schedule, and what is left."""

from __future__ import annotations

import math
import tempfile
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from headrace.cli.exits import Failure
from tests.chaos import processes, verification
from tests.chaos.control import audit, drivers, numbers
from tests.chaos.control.faults import Fault, Schedule
from tests.chaos.control.injection import PATIENCE_SECONDS, Injector, Unrecovered
from tests.chaos.control.installation import Installation, Limits
from tests.chaos.control.numbers import Numbers

TRIES = 3
#: How long the processes of drivers, or of a server, may outlive them.
END_SECONDS = 180.0


@dataclass(frozen=True)
class Hit:
    fault: Fault
    #: From the fault until every job had completed a further batch.
    seconds: float
    #: Attempts that ended meanwhile.
    attempts: int


@dataclass
class Outcome:
    hits: list[Hit] = field(default_factory=list)
    #: What is wrong with the platform.
    problems: list[str] = field(default_factory=list)
    #: What kept the run itself from going on.
    harness: list[str] = field(default_factory=list)
    ends: audit.Ends = field(default_factory=audit.Ends)
    takeovers: list[float] = field(default_factory=list)
    records: int = 0
    attempts: int = 0
    longest_stall: float = 0.0
    seconds: float = 0.0
    #: Time was up before every fault was tried.
    cut_short: bool = False


@dataclass
class Run:
    schedule: Schedule
    jar_folder: Path
    #: Hears of each fault that hit.
    listener: Callable[[str], None]
    #: No fault is begun later than so long after the start, apart from the first.
    seconds: float = math.inf
    limits: Limits = field(default_factory=Limits)
    home: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="headrace-chaos-")))
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    outcome: Outcome = field(default_factory=Outcome)
    _jobs: list[Numbers] = field(default_factory=list)
    _begun: float = field(default_factory=time.monotonic)

    def execute(self) -> Outcome:
        """All of it. What went wrong is told in the outcome, whatever it is."""
        faults = "\n".join(map(str, self.schedule.faults))
        (self.home / "schedule.txt").write_text(f"{faults}\n")
        finished = False
        with ExitStack() as ends, self._noted():
            slots = self.schedule.jobs  # one TaskManager takes all when the other is away
            self._site = Installation(self.id, self.home, self.jar_folder, slots, self.limits)
            ends.callback(self._site.end)
            with ExitStack() as ended_first, self._noted():
                ended_first.callback(self._tell)
                self._site.start()
                for number in range(self.schedule.jobs):
                    self._jobs.append(Numbers(self._site.broker.servers, number))
                    ended_first.callback(self._jobs[-1].end)
                self._course()
                finished = True
            if finished:  # else there is no saying what should be there
                self._verify()
        self.outcome.problems = list(dict.fromkeys(self.outcome.problems))
        self.outcome.seconds = time.monotonic() - self._begun
        return self.outcome

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """Errors become part of the outcome: of the platform, or of the run itself."""
        try:
            yield
        except (Unrecovered, Failure) as error:
            self._note(self.outcome.problems, error)
        except Exception as error:
            self._note(self.outcome.harness, error)

    def _note(self, where: list[str], error: Exception) -> None:
        where.append(f"{type(error).__name__}: {error}")
        with (self.home / "errors.txt").open("a") as file:
            file.writelines(traceback.format_exception(error))

    def say(self, line: str) -> None:
        with (self.home / "hits.txt").open("a") as file:
            file.write(f"{time.strftime('%H:%M:%S')} {line}\n")
        self.listener(line)

    # --- course ---

    def _course(self) -> None:
        for job in self._jobs:
            job.id = self._site.rest.send(
                job.name, numbers.PROGRAM, job.arguments, numbers.SETTINGS
            )
        self.settle()
        self.say(f"{len(self._jobs)} jobs run")
        injector = Injector(self._site, self._jobs, self.settle, self.outcome.takeovers)
        for number, fault in enumerate(self.schedule.faults):
            if number and time.monotonic() > self._begun + self.seconds:
                self.outcome.cut_short = True
                break
            self._inject(injector, fault)
            if self.outcome.problems:
                self.say("something is wrong: no more faults")
                break
        self._finish()

    def _inject(self, injector: Injector, fault: Fault) -> None:
        for _ in range(TRIES):
            begun = time.monotonic()
            hit = injector.inject(fault)
            self.settle()
            ended = self._look(fault)
            if hit:
                seconds = time.monotonic() - begun
                self.outcome.hits.append(Hit(fault, seconds, ended))
                self.say(
                    f"{len(self.outcome.hits)} {fault}: {seconds:.0f} s, {ended} attempts ended"
                )
                return
        self.say(f"did not hit: {fault}")

    def settle(self) -> None:
        """Until every job runs and has put out all that had come in when this was called."""
        goals = [(job, job.given()) for job in self._jobs]

        def there() -> bool:
            return all(job.watch.records() >= goal for job, goal in goals) and self._all_run()

        if not self._site.until(there, PATIENCE_SECONDS, pause=1.0):
            states = [
                f"{job.name} ({job.id}) is {row['state']} {row['waiting_for']}, "
                f"{job.watch.records()} of {goal} records put out"
                for job, goal in goals
                for row in [self._site.rest.all_jobs()[job.id]]
            ]
            raise Unrecovered("; ".join(states))

    def _all_run(self) -> bool:
        rows = self._site.rest.all_jobs()
        return all(rows[job.id]["state"] == "RUNNING" for job in self._jobs)

    def _look(self, fault: Fault | None) -> int:
        """Whether all is as it has to be; how many attempts have ended since the last look."""
        ended, lost = 0, self.outcome.ends.causes["lost"]
        for job in self._jobs:
            rows = self._site.rest.attempts(job.id)
            ended += self.outcome.ends.take(job.number, rows, fault)
            if sum(row["ended_at"] is None for row in rows) > 1:
                self.outcome.problems.append(f"{job.name} has several attempts under way")
        self.outcome.problems += self._seen_live()
        self.outcome.problems += self.outcome.ends.problems
        if self.outcome.ends.causes["lost"] > lost:  # the driver that was given up ends soon
            self._site.until(lambda: not audit.doubled(drivers.living(self.id)), PATIENCE_SECONDS)
        self.outcome.problems += audit.doubled(drivers.living(self.id))
        self.outcome.problems += audit.slot_problems(
            self._site.rest.taskmanagers_by_name(), {job.id: 1 for job in self._jobs}
        )
        return ended

    def _seen_live(self) -> list[str]:
        return [f"{job.name}: {problem}" for job in self._jobs for problem in job.watch.problems]

    # --- end ---

    def _finish(self) -> None:
        """All jobs run; no more comes in; everything is put out; they are stopped and cancelled."""
        self.settle()
        self._look(None)
        given = [(job, job.no_more()) for job in self._jobs]
        self.outcome.records = sum(count for _, count in given)
        self._must(
            lambda: all(job.watch.records() >= count for job, count in given),
            "not every record is put out",
        )
        for job in self._jobs:
            self._end(job)
        self._must(lambda: not drivers.living(self.id), "a driver outlives its job", END_SECONDS)
        self.outcome.problems += audit.slot_problems(self._site.rest.taskmanagers_by_name(), {})
        overview = self._site.rest.overview()
        if overview["slots_free"] != overview["slots_total"]:
            self.outcome.problems.append(f"slots are not free: {overview}")
        self.outcome.problems += [f"{each} did not stop" for each in self._site.stop()]
        left = processes.left_after(f"{self.id}/", END_SECONDS)
        self.outcome.problems += [f"still runs: {process}" for process in left]

    def _end(self, job: Numbers) -> None:
        """Every other one with a savepoint."""
        rest = self._site.rest
        if job.number % 2 == 0:
            trigger = rest.stop(job.id, {"drain": False})
            self._must(
                lambda: rest.savepoint(job.id, trigger)["status"]["id"] == "COMPLETED",
                f"no savepoint of {job.name}",
            )
            if cause := (rest.savepoint(job.id, trigger)["operation"] or {}).get("failure-cause"):
                self.outcome.problems.append(f"{job.name} was not stopped: {cause}")
                return
        else:
            rest.steer(job.id, "cancel")
        wanted = "CANCELED" if job.number % 2 else "FINISHED"
        self._must(
            lambda: rest.all_jobs()[job.id]["state"] == wanted, f"{job.name} does not end: {wanted}"
        )

    def _must(
        self, condition: Callable[[], bool], otherwise: str, seconds: float = PATIENCE_SECONDS
    ) -> None:
        if not self._site.until(condition, seconds):
            raise Unrecovered(otherwise)

    def _tell(self) -> None:
        """Before the consumers end, and however the run has gone."""
        self.outcome.longest_stall = max(
            (job.watch.stall.seconds for job in self._jobs), default=0.0
        )
        self.outcome.attempts = sum(self.outcome.ends.causes.values()) + len(self._jobs)
        self.outcome.problems += self._seen_live()
        for name, count in self._site.ends.items():
            if count:
                self.outcome.problems.append(f"{name} ended by itself {count} times")

    def _verify(self) -> None:
        """At the broker, when no driver writes any more."""
        servers = self._site.broker.servers
        for job in self._jobs:
            found = verification.broker_problems(servers, job)
            self.outcome.problems += [f"{job.name}: {problem}" for problem in found]
            if found:
                verification.keep_evidence(servers, job, self.home / "evidence")
