"""The programs, and what each says in its first lines of how it is run and compared.

    # runs: each 1, whole 2        what is run: pace and parallelism
    # order: key                   none (the default): lines are compared sorted; key: in order
                                   for each key, the first field; all: in order
    # alone: yes                   on Spark its application ends with it, as in a process of its own

Pace `each`: a watermark behind each record (here: one record in a micro-batch). `whole`: no
watermark before the end of input (here: all records in one micro-batch)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

FOLDER = Path(__file__).parent / "programs"
_RUNS = "whole 1, whole 2"


@dataclass(frozen=True)
class Run:
    """One program in one way of running it."""

    program: str
    path: Path
    pace: str
    parallelism: int
    alone: bool = False

    def __str__(self) -> str:
        return f"{self.program} ({self.pace}, {self.parallelism})"


@dataclass(frozen=True)
class Program:
    name: str
    path: Path
    title: str
    order: str
    runs: tuple[Run, ...]


def read(path: Path) -> Program:
    text = path.read_text()
    name = path.stem
    runs = []
    for each in (_said(text, "runs") or _RUNS).split(","):
        pace, parallelism = each.split()
        alone = _said(text, "alone") is not None
        runs.append(Run(name, path, pace, int(parallelism), alone))
    title = text.split('"""')[1].split("\n")[0].rstrip(".")
    return Program(name, path, title, _said(text, "order") or "none", tuple(runs))


def chosen(patterns: Iterable[str]) -> list[Program]:
    """All whose name fits one of the patterns; all if there is none."""
    wanted = list(patterns) or ["*"]
    found = [read(path) for path in sorted(FOLDER.glob("[a-z]*.py"))]
    return [each for each in found if any(fnmatch(each.name, p) for p in wanted)]


def _said(text: str, what: str) -> str | None:
    found = re.search(rf"^# {what}: (.+)$", text, re.MULTILINE)
    return found.group(1) if found else None
