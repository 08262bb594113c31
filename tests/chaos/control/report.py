"""What a run has to tell, as text and into a section of a Markdown file."""

from __future__ import annotations

import os
import platform
import re
import time
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from statistics import median

from tests.chaos.control.faults import Kind, Schedule
from tests.chaos.control.numbers import RECORDS_PER_SECOND
from tests.chaos.control.run import Outcome

#: What follows in the file up to the end of its first block of `text` is the run's.
HEADING = "## The newest run over the platform\n"
_BLOCK = re.compile(r"```text\n.*?```\n", re.DOTALL)
MOST_PROBLEMS = 40


def passed(schedule: Schedule, outcome: Outcome) -> bool:
    """Nothing wrong found, and no fault less than planned."""
    clean = not outcome.problems and not outcome.harness
    return clean and len(outcome.hits) == len(schedule.faults)


def text(schedule: Schedule, outcome: Outcome) -> str:
    lines = [
        f"seed {schedule.seed}, {len(schedule.faults)} faults planned, {len(outcome.hits)} hit, "
        f"in {outcome.seconds / 60:.0f} minutes",
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in ("pyspark", "confluent-kafka")),
        f"{schedule.jobs} jobs, {RECORDS_PER_SECOND} records/s each; 2 JobManagers, 2 TaskManagers",
        "",
        *_kinds(schedule, outcome),
        "",
        *_life(outcome),
        "",
        *_verdict(schedule, outcome),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _kinds(schedule: Schedule, outcome: Outcome) -> Iterator[str]:
    yield _row("faults", "hit", "attempts", "   until all jobs had gone on, s")
    yield _row("", "", "ended", "median", "longest")
    planned = Counter(fault.kind for fault in schedule.faults)
    for kind in Kind:
        hits = [hit for hit in outcome.hits if hit.fault.kind is kind]
        if not planned[kind]:
            continue
        times = [hit.seconds for hit in hits]
        told = (f"{median(times):.0f}", f"{max(times):.0f}") if times else ("-", "-")
        ended = sum(hit.attempts for hit in hits)
        yield _row(kind.value, f"{len(hits)} of {planned[kind]}", ended, *told)


def _life(outcome: Outcome) -> Iterator[str]:
    yield _row("records in, of all jobs", outcome.records)
    yield _row("attempts of all jobs", outcome.attempts)
    causes = ", ".join(f"{cause} {count}" for cause, count in outcome.ends.causes.most_common())
    yield f"  ended as: {causes or '-'}"
    yield f"  ended without a fault: {len(outcome.ends.unasked)}"
    yield from (f"    {each}" for each in outcome.ends.unasked)
    if outcome.takeovers:
        longest, middle = max(outcome.takeovers), median(outcome.takeovers)
        yield f"until another JobManager led: median {middle:.1f} s, longest {longest:.1f} s"
    yield f"longest time without a new record for a live consumer: {outcome.longest_stall:.0f} s"


def _verdict(schedule: Schedule, outcome: Outcome) -> Iterator[str]:
    if missed := len(schedule.faults) - len(outcome.hits):
        why = "; time was up before all were tried" if outcome.cut_short else ""
        yield f"{missed} planned faults did not hit{why}"
    for what, found in (
        ("THE RUN ITSELF COULD NOT GO ON", outcome.harness),
        ("WRONG", outcome.problems),
    ):
        if found:
            yield f"{what}: {len(found)}"
            yield from (f"  {problem}" for problem in found[:MOST_PROBLEMS])
    if not outcome.problems and not outcome.harness:
        yield (
            "verdict: all jobs ran at the end; every record once, in order per key, counted right,"
        )
        yield (
            "the same in both sinks; no open transaction, no consumer stuck, all slots free, no "
            "process left"
        )


def _row(first: str, *cells: object) -> str:
    return f"{first:44}" + "".join(f"{cell!s:>10}" for cell in cells)


def write(path: Path, report: str) -> None:
    """Into the file; in a Markdown file in place of the block of `text` behind its heading."""
    if path.suffix == ".md" and path.exists():
        before, heading, after = path.read_text().partition(HEADING)
        if not heading:
            raise ValueError(f"{path} has no section {HEADING.strip()!r}")
        report = _BLOCK.sub(lambda _: f"```text\n{report}```\n", after, count=1)
        report = before + heading + report
    path.write_text(report)
