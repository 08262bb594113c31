"""What the faults hit: a job in a real driver, and a plain PySpark script with the sink."""

from __future__ import annotations

import abc
import ast
import os
import re
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from headrace.wire import events, rundir
from tests.chaos import feed, points, processes, reading
from tests.chaos.ends import FATAL, REPLACED, UNKNOWN, End, error_in
from tests.driving import DrivenJob
from workers.embedded.kafka import ensure_topics

#: Two cores, and a task is tried four times, as on a cluster.
MASTER = "local[2,4]"
ROOT = Path(__file__).parents[2]
MOST_RECORDS = 5000
OUTPUTS = ["job-first", "job-second"]


@dataclass(frozen=True)
class Site:
    """Where a workload runs."""

    run: str
    home: Path
    servers: str
    jars: list[Path]
    timeout_ms: int


@dataclass
class Workload(abc.ABC):
    """Attempts of one application, one after the other, on one checkpoint."""

    site: Site
    name: str
    #: Whether its records carry a count.
    counted: bool
    outputs: list[str]
    #: Names of its sinks, in transactional ids.
    sinks: list[str]
    attempts: int = 0
    process: subprocess.Popen[bytes] | None = None
    #: Of its transactions.
    timeout_ms: int = 0

    def __post_init__(self) -> None:
        self.timeout_ms = self.site.timeout_ms
        self.home = self.site.home / self.name
        self.home.mkdir(parents=True)
        self.prefix = f"chaos-{self.name}-{uuid.uuid4().hex[:6]}"
        self.source = f"{self.name}-in"
        self.points = points.Points(self.home / "points")
        self.points.clear()
        topics = dict.fromkeys([self.source, *self.outputs], feed.PARTITIONS)
        ensure_topics(self.site.servers, topics, {"retention.ms": "-1"})
        reading.keep_markers(self.site.servers)

    @property
    def mark(self) -> str:
        """Of the processes of the current attempt."""
        return f"{self.site.run}/{self.name}/{self.attempts}/"

    def environment(self) -> dict[str, str]:
        path = f"{ROOT / 'tests/chaos/site'}:{ROOT}:{ROOT / 'platform'}"
        return {
            points.VARIABLE: str(self.points.folder),
            processes.VARIABLE: self.mark,
            "PYTHONPATH": path,
        }

    @abc.abstractmethod
    def start(self) -> None: ...

    @abc.abstractmethod
    def stop(self, seconds: float) -> int:
        """End it in order; its exit code. Raises subprocess.TimeoutExpired."""

    @abc.abstractmethod
    def checkpoint(self) -> Path:
        """Spark's."""

    @abc.abstractmethod
    def log(self, attempt: int) -> str: ...

    @abc.abstractmethod
    def end_of(self, attempt: int) -> End:
        """Why the attempt ended by itself, and not with code 0."""

    @abc.abstractmethod
    def recoveries(self) -> list[dict[str, int]]:
        """What each recovery so far did."""


class Job(Workload):
    """`job.py`, launched as a TaskManager would."""

    def __init__(self, site: Site) -> None:
        super().__init__(site, "job", counted=True, outputs=OUTPUTS, sinks=OUTPUTS)
        self._driven = DrivenJob(
            folder=self.home,
            jars=site.jars,
            entry=ROOT / "tests/chaos/job.py",
            kafka=site.servers,
            configuration={"source.max-records-per-batch": str(MOST_RECORDS)},
            master=MASTER,
        )

    def start(self) -> None:
        self.attempts += 1
        topics = [self.source, *self.outputs]
        self._driven.arguments = [*topics, self.prefix, str(self.timeout_ms)]
        self._driven.environment = self.environment()
        self._driven.start()
        self.process = self._driven.process

    def stop(self, seconds: float) -> int:
        assert self.process is not None
        self._driven.terminate()
        return self.process.wait(seconds)

    def checkpoint(self) -> Path:
        return self.home / "checkpoint" / "spark"

    def log(self, attempt: int) -> str:
        path = self.home / "runs" / str(attempt) / rundir.LOG
        return path.read_text(errors="replace") if path.exists() else ""

    def end_of(self, attempt: int) -> End:
        """What the driver itself says: a JobManager decides by it too."""
        self._driven.attempts = attempt
        reported = self._driven.events(events.Failed)
        self._driven.attempts = self.attempts
        if not reported:
            return End(UNKNOWN, overcome=False)
        failed = reported[-1]
        error = error_in(failed.error)
        if error == UNKNOWN:
            error = error_in(failed.traceback)
        if error == UNKNOWN:
            error = failed.error[:120]
        return End(error, overcome=failed.restartable or error == REPLACED)

    def recoveries(self) -> list[dict[str, int]]:
        found = []
        for attempt in range(1, self.attempts + 1):
            self._driven.attempts = attempt
            found += [each.recovered for each in self._driven.events(events.Running)]
        return found


class Query(Workload):
    """`query.py`, launched as a user would."""

    def __init__(self, site: Site) -> None:
        super().__init__(site, "query", counted=False, outputs=["query-out"], sinks=["sink"])

    def start(self) -> None:
        self.attempts += 1
        arguments = [
            *(",".join(map(str, self.site.jars)), self.site.servers),
            *(self.source, *self.outputs, self.prefix, str(self.timeout_ms)),
            *(str(self.checkpoint()), str(self._stop_file)),
        ]
        with self._log(self.attempts).open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(ROOT / "tests/chaos/query.py"), *arguments],
                stdout=log,
                stderr=log,
                cwd=self.home,
                env={**os.environ, **self.environment()},
                start_new_session=True,
            )

    @property
    def _stop_file(self) -> Path:
        return self.home / "stop"

    def _log(self, attempt: int) -> Path:
        return self.home / f"{attempt}.log"

    def stop(self, seconds: float) -> int:
        assert self.process is not None
        self._stop_file.touch()
        return self.process.wait(seconds)

    def checkpoint(self) -> Path:
        return self.home / "checkpoint"

    def log(self, attempt: int) -> str:
        path = self._log(attempt)
        return path.read_text(errors="replace") if path.exists() else ""

    def end_of(self, attempt: int) -> End:
        error = error_in(self.log(attempt))
        return End(error, overcome=error not in {*FATAL, UNKNOWN})

    def recoveries(self) -> list[dict[str, int]]:
        """Its recoveries run in Spark's workers, which say so in the log."""
        found = []
        for attempt in range(1, self.attempts + 1):
            lines = re.findall(r"recovered as epoch \d+: (\{[^}]*\})", self.log(attempt))
            found += [ast.literal_eval(line) for line in lines]
        return found


@dataclass
class Progress:
    """How far a checkpoint is: batches planned and completed, by Spark's own logs."""

    planned: int = -1
    completed: int = -1

    @classmethod
    def of(cls, checkpoint: Path) -> Progress:
        return cls(_newest(checkpoint / "offsets"), _newest(checkpoint / "commits"))

    def __str__(self) -> str:
        if self.planned > self.completed:
            return f"in batch {self.planned}"
        return f"after batch {self.completed}"


def _newest(log: Path) -> int:
    if not log.is_dir():
        return -1
    return max((int(each.name) for each in log.iterdir() if each.name.isdigit()), default=-1)


@dataclass
class Totals:
    """Of all recoveries of a workload."""

    recoveries: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, found: list[dict[str, int]]) -> Totals:
        totals = cls(len(found))
        for each in found:
            totals.counts.update(_plain(each))
        return totals


def _plain(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: int(count) for name, count in counts.items()}
