"""What a run prints: what was planned, what hit, what was found."""

from __future__ import annotations

import os
import platform
import re
import time
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from headrace.connectors.twophase.steps import Step
from tests.chaos.faults import Kind, Victim
from tests.chaos.run import RECORDS_PER_SECOND, TIMEOUT_MS, Outcome, Schedule

_BLOCK = re.compile(r"```text\n.*?```\n", re.DOTALL)
MOST_PROBLEMS = 40


def passed(outcomes: list[Outcome]) -> bool:
    """Nothing wrong found, and no fault less than planned."""
    return all(not each.problems and len(each.hits) >= len(each.planned) for each in outcomes)


def text(schedule: Schedule, outcomes: list[Outcome], timeout_ms: int = TIMEOUT_MS) -> str:
    planned = sum(len(each.planned) for each in outcomes)
    hit = sum(len(each.hits) for each in outcomes)
    seconds = sum(each.seconds for each in outcomes)
    lines = [
        f"seed {schedule.seed}, {planned} faults planned, {hit} hit, in {seconds / 60:.0f} minutes",
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in ("pyspark", "confluent-kafka")),
        f"transaction timeout {timeout_ms / 1000:.0f} s, {RECORDS_PER_SECOND} records/s",
        *(
            f"{each.name}: transaction timeout raised to {each.timeout_ms / 1000:.0f} s, "
            "as the machine is slow"
            for each in outcomes
            if each.timeout_ms > timeout_ms
        ),
        "",
        *_kinds(outcomes),
        "",
        *_points(outcomes),
        "",
        *_life(outcomes),
        "",
        *_verdict(outcomes),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _kinds(outcomes: list[Outcome]) -> Iterator[str]:
    yield _row("faults, hit of planned", *(each.name for each in outcomes), "all")
    for kind in Kind:
        hits = [sum(hit.fault.kind is kind for hit in each.hits) for each in outcomes]
        planned = [sum(fault.kind is kind for fault in each.planned) for each in outcomes]
        if any(planned):
            cells = [
                f"{done} of {of}" if of else "-" for done, of in zip(hits, planned, strict=True)
            ]
            yield _row(kind.value, *cells, f"{sum(hits)} of {sum(planned)}")


def _points(outcomes: list[Outcome]) -> Iterator[str]:
    """Who was hit while a process was halted between two steps of the protocol."""
    victims: Counter[tuple[Step, str]] = Counter()
    for outcome in outcomes:
        for hit in outcome.hits:
            if hit.fault.step is not None:
                victims[hit.fault.step, _victim(hit.fault.kind, hit.fault.victim)] += 1
    columns = [*(each.value for each in Victim), Kind.REPLACED.name.lower(), "outage"]
    yield _row("crash points, who was hit", *columns)
    for step in Step:
        yield _row(step.value, *(victims[step, column] or "-" for column in columns))


def _victim(kind: Kind, victim: Victim) -> str:
    return kind.name.lower() if kind in (Kind.REPLACED, Kind.OUTAGE) else victim.value


def _life(outcomes: list[Outcome]) -> Iterator[str]:
    yield _row("what happened", *(each.name for each in outcomes), "all")
    for name, values in (
        ("driver starts", [each.starts for each in outcomes]),
        ("recoveries", [each.totals.recoveries for each in outcomes]),
        *(
            (f"  transactions {what}", [each.totals.counts[what] for each in outcomes])
            for what in ("recommitted", "aborted", "recomputed")
        ),
        ("batches", [each.batches for each in outcomes]),
        ("records in", [each.records for each in outcomes]),
    ):
        yield _row(name, *values, sum(values))
    stalls = [each.longest_stall for each in outcomes]
    cells = [f"{stall:.0f} s" if stall else "-" for stall in stalls]
    yield _row("longest stall of the live consumer", *cells, f"{max(stalls):.0f} s")
    ends = sum((each.ends for each in outcomes), Counter[str]())
    if ends:
        told = ", ".join(f"{error} {count}" for error, count in ends.most_common())
        yield f"drivers that ended by themselves: {told}"


def _verdict(outcomes: list[Outcome]) -> Iterator[str]:
    problems = [f"{each.name}: {problem}" for each in outcomes for problem in each.problems]
    missed = [each for each in outcomes if len(each.hits) < len(each.planned)]
    for each in missed:
        yield f"{each.name}: {len(each.planned) - len(each.hits)} planned faults did not hit"
    if problems:
        yield f"WRONG: {len(problems)} problems"
        yield from (f"  {problem}" for problem in problems[:MOST_PROBLEMS])
    else:
        yield (
            "verdict: every record once, in order per key, counted right, the same in all sinks; "
            "no open transaction, no consumer stuck, no process left"
        )


def _row(first: str, *cells: object) -> str:
    return f"{first:36}" + "".join(f"{cell!s:>13}" for cell in cells)


def write(path: Path, report: str) -> None:
    """Into the file; in a Markdown file in place of its block of `text`."""
    if path.suffix == ".md" and path.exists():
        content = path.read_text()
        report = _BLOCK.sub(lambda _: f"```text\n{report}```\n", content, count=1)
    path.write_text(report)
