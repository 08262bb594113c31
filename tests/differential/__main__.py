"""`make differential`: exit status 1 where results differ and no reason is known."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.differential import environment, generated, programs, report, sides
from tests.differential.comparison import Compared, compare
from tests.differential.intended import INTENDED
from tests.differential.programs import Program

#: Lines of a difference.
SHOWN = 40


def main() -> int:
    asked = _arguments()
    environment.make()
    wanted = [] if asked.seeds and not asked.programs else programs.chosen(asked.programs)
    with tempfile.TemporaryDirectory(prefix="differential-") as folder:
        wanted += [generated.write(Path(folder), seed) for seed in asked.seeds]
        return _run(wanted, asked)


def _run(wanted: list[Program], asked: argparse.Namespace) -> int:
    compared = []
    for each in _compared(wanted, asked.executor):
        _show(each)
        compared.append(each)
    unexpected = [each for each in compared if not each.same and not _is_meant(each)]
    same = sum(each.same for each in compared)
    meant = len(compared) - same - len(unexpected)
    print(f"{len(compared)} runs: {same} the same, {meant} different as meant, ", end="")
    print(f"{len(unexpected)} unexpectedly different")
    for name in sorted(_no_longer(compared)):
        print(f"{name} is listed as different, but is the same: take it out of intended.py")
    if asked.report:
        report.write(asked.report, wanted, compared, asked.executor)
    return 1 if unexpected or not compared else 0


def _compared(wanted: list[Program], executor: str) -> Iterator[Compared]:
    """Both sides run at once, each in its own order of the same programs."""
    runs = [
        (program, run)
        for program in wanted
        for run in program.runs
        if executor != "spark" or run.pace == "whole"
    ]
    order = [run for _, run in runs]
    with ThreadPoolExecutor(1) as beside:
        ours = beside.submit(lambda: list(sides.headrace(order, executor)))
        theirs = sides.flink(order)
        for (program, run), their in zip(runs, theirs, strict=True):
            yield compare(program, run, their, ours.result()[order.index(run)])


def _show(each: Compared) -> None:
    if each.same:
        print(f"same       {each.run}", flush=True)
        return
    meant = _is_meant(each)
    print(f"{'meant' if meant else 'DIFFERENT':<10} {each.run}", flush=True)
    if not meant:
        for line in each.difference[2 : 2 + SHOWN]:
            print(f"           {line}", flush=True)


def _is_meant(each: Compared) -> bool:
    """No program is meant to fail here."""
    return each.run.program in INTENDED and each.headrace.error is None


def _no_longer(compared: list[Compared]) -> set[str]:
    """Programs that are listed as different and are not."""
    ran = {each.run.program for each in compared}
    differ = {each.run.program for each in compared if not each.same}
    return (set(INTENDED) & ran) - differ


def _range(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("programs", nargs="*", help="names, or patterns as 'windows_*'; else all")
    parser.add_argument(
        "--executor",
        choices=("in-process", "spark"),
        default="in-process",
        help="what runs them on our side; spark takes half a minute for a program, and only those "
        "of pace whole",
    )
    parser.add_argument(
        "--seeds", type=_range, default=range(0), help="programs by chance: 5, or 0-9; these alone"
    )
    parser.add_argument("--report", type=Path, help="where the table goes, as docs/differential.md")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
