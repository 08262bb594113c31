"""What is the same in two results, and what is not."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from difflib import unified_diff

from tests.differential.programs import Program, Run
from tests.differential.sides import Result

#: Before a printed line where there are several subtasks: which one is left to each side.
_SUBTASK = re.compile(r"^(?:([^>:]+):)?\d+> ")


@dataclass(frozen=True)
class Compared:
    run: Run
    flink: Result
    headrace: Result
    difference: tuple[str, ...]

    @property
    def same(self) -> bool:
        return not self.difference


def compare(program: Program, run: Run, flink: Result, headrace: Result) -> Compared:
    theirs = lines(flink, run, program.order)
    ours = lines(headrace, run, program.order)
    difference = tuple(unified_diff(theirs, ours, "PyFlink", "Headrace", lineterm="", n=1))
    return Compared(run, flink, headrace, difference)


def lines(result: Result, run: Run, order: str) -> list[str]:
    """In the order in which they are compared; how the program failed is one of them."""
    found = [plain(line, run.parallelism) for line in result.lines]
    if order == "none":
        found.sort()
    elif order == "key":
        found = by_key(found)
    return found if result.error is None else [*found, f"!! {result.error}"]


def plain(line: str, parallelism: int) -> str:
    if parallelism == 1:
        return line
    return _SUBTASK.sub(lambda found: f"{found.group(1)}> " if found.group(1) else "", line)


def by_key(found: list[str]) -> list[str]:
    keys: defaultdict[str, list[str]] = defaultdict(list)
    for line in found:
        keys[line.partition(",")[0]].append(line)
    return [line for key in sorted(keys) for line in keys[key]]
