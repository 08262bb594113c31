"""Jobs come, run, fail and are cancelled in rounds, and end; what the JobManager did meanwhile."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from benchmarks.control import jobmanager
from benchmarks.control.cluster import Cluster
from benchmarks.control.driver import FAIL
from benchmarks.control.jobmanager import Tick
from headrace.wire import events, journal, rundir
from jobs import actions
from jobs.models import Attempt, Job
from jobs.states import Ends, JobState

PROGRAM = (b"# its driver is simulated\n", "simulated.py")
POLL_SECONDS = 1.0
TIMEOUT_SECONDS = 180.0


@dataclass(frozen=True)
class Load:
    jobs: int
    #: Seconds: over which they come, run undisturbed, and are disturbed; and between batches.
    coming: float
    steady: float
    unrest: float
    every: float
    #: How often they run undisturbed and then disturbed.
    rounds: int
    #: Of the jobs, so many fail, are cancelled, and come anew during each unrest.
    share: float = 0.1


@dataclass
class Phase:
    seconds: float
    cpu_seconds: dict[str, float]
    ticks: list[Tick]
    #: Seconds, one for each attempt begun in it: from the submission to the first decision; from
    #: the decision to the driver's process; from the decision to its first word.
    decided: list[float] = field(default_factory=list)
    launched: list[float] = field(default_factory=list)
    spoken: list[float] = field(default_factory=list)

    def cores(self, who: str) -> float:
        return self.cpu_seconds[who] / self.seconds


Phases = dict[str, list[Phase]]


def run(cluster: Cluster, load: Load) -> Phases:
    """By name, in order. All jobs have ended when it returns."""
    found: Phases = {}
    jobs: list[Job] = []
    with _phase(cluster, found, "coming"):
        _paced(load.coming, [lambda: jobs.append(_submit(load))] * load.jobs)
        _until(jobs, [JobState.RUNNING])
    for _ in range(load.rounds):
        with _phase(cluster, found, "steady"):
            time.sleep(load.steady)
        with _phase(cluster, found, "unrest"):
            _paced(load.unrest, _unrest(jobs, load))
            _until(jobs, [JobState.RUNNING])
    with _phase(cluster, found, "ending"):
        for job in jobs:
            _cancel(job)
        _until(jobs, [state for state in JobState if state.ends is Ends.FOR_GOOD])
    return found


def _submit(load: Load) -> Job:
    return actions.submit("simulated", PROGRAM, ["--every", str(load.every)])


def _unrest(jobs: list[Job], load: Load) -> list[Callable[[], object]]:
    """Jobs that fail, jobs that are cancelled, and new ones in their places, in turns. Those that
    were cancelled leave the list."""
    part = int(load.jobs * load.share)
    leaving, failing = jobs[:part], jobs[part : 2 * part]
    del jobs[:part]
    steps: list[Callable[[], object]] = []
    for fails, leaves in zip(failing, leaving, strict=True):
        steps += [
            partial(_fail, fails),
            partial(_cancel, leaves),
            lambda: jobs.append(_submit(load)),
        ]
    return steps


def _fail(job: Job) -> None:
    for attempt in job.attempts.order_by("-number")[:1]:
        (Path(attempt.run_dir) / FAIL).touch()


def _cancel(job: Job) -> None:
    """A job that changes its state this very moment is asked again."""
    while True:
        try:
            actions.cancel(job)
            return
        except actions.Conflict:
            if JobState(job.state).ends is Ends.FOR_GOOD:
                return


def _paced(seconds: float, steps: Sequence[Callable[[], object]]) -> None:
    """The steps, evenly over the time."""
    began = time.monotonic()
    for number, step in enumerate(steps):
        time.sleep(max(0.0, began + seconds * number / len(steps) - time.monotonic()))
        step()
    time.sleep(max(0.0, began + seconds - time.monotonic()))


def _until(jobs: Sequence[Job], states: Sequence[JobState]) -> None:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    ids = [job.pk for job in jobs]
    while left := Job.objects.filter(pk__in=ids).exclude(state__in=states).count():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{left} jobs are in none of the states {[*map(str, states)]}")
        time.sleep(POLL_SECONDS)


@contextmanager
def _phase(cluster: Cluster, found: Phases, name: str) -> Iterator[None]:
    began, used = time.time(), cluster.cpu_seconds()
    yield
    ended, now = time.time(), cluster.cpu_seconds()
    spent = {who: now[who] - used[who] for who in now}
    phase = Phase(ended - began, spent, jobmanager.read(cluster.notes, began, ended))
    _measure(phase, began, ended)
    found.setdefault(name, []).append(phase)
    cores = ", ".join(f"{who} {phase.cores(who):.2f}" for who in spent)
    print(f"{name}, {phase.seconds:.0f} s: {cores} cores", file=sys.stderr, flush=True)


def _measure(phase: Phase, began: float, ended: float) -> None:
    since, until = (datetime.fromtimestamp(at, UTC) for at in (began, ended))
    begun = Attempt.objects.filter(created_at__gte=since, created_at__lt=until)
    for attempt in begun.select_related("job").order_by("pk"):
        decision = attempt.created_at.timestamp()
        if attempt.number == 1:
            phase.decided.append(decision - attempt.job.created_at.timestamp())
        process = Path(attempt.run_dir) / rundir.PROCESS
        if not process.exists():
            continue  # cancelled before its launch
        phase.launched.append(process.stat().st_mtime - decision)
        first = next(journal.read(Path(attempt.run_dir), limit=1), None)
        if first is not None and isinstance(first.event, events.Started):
            phase.spoken.append(first.at / 1000 - decision)
