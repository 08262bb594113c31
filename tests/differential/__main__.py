"""`make differential`: exit status 1 where results differ and no reason is known."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.differential import environment, generated, programs, report, sides
from tests.differential.comparison import Compared, compare
from tests.differential.intended import listed, reason
from tests.differential.kept import Kept
from tests.differential.programs import Program, Run
from tests.differential.sides import EXECUTORS, Result

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
    found = _kept(wanted, asked.executor) if asked.kept else _made(wanted, asked)
    for each in found:
        _show(each, asked.executor)
        compared.append(each)
    unexpected = [
        each for each in compared if not each.same and not _is_meant(each, asked.executor)
    ]
    same = sum(each.same for each in compared)
    meant = len(compared) - same - len(unexpected)
    print(f"{len(compared)} runs: {same} the same, {meant} different as meant, ", end="")
    print(f"{len(unexpected)} unexpectedly different")
    for name in sorted(_no_longer(compared, asked.executor)):
        print(f"{name} is listed as different, but is the same: take it out of intended.py")
    if asked.report:
        report.write(asked.report, wanted, {each: list(_kept(wanted, each)) for each in EXECUTORS})
    return 1 if unexpected or not compared else 0


def _made(wanted: list[Program], asked: argparse.Namespace) -> Iterator[Compared]:
    """Both sides run at once, each in its own order of the same programs."""
    runs = [(program, run) for program in wanted for run in program.runs]
    order = [run for _, run in runs]
    theirs = _flink(order, fresh=asked.fresh)
    ours = Kept(asked.executor).keep(order, sides.headrace(order, asked.executor))
    for (program, run), our, their in zip(runs, ours, theirs, strict=True):
        yield compare(program, run, their, our)


def _flink(runs: list[Run], *, fresh: bool) -> Iterator[Result]:
    """What is kept is not made again."""
    kept = Kept("flink")
    known = {run: kept.get(run) for run in runs if not fresh}
    missing = [run for run in runs if known.get(run) in (None, sides.NOTHING)]
    made = kept.keep(missing, sides.flink(missing))
    for run in runs:
        result = next(made) if run in missing else known[run]
        assert result is not None
        yield result


def _kept(wanted: list[Program], executor: str) -> Iterator[Compared]:
    """What earlier runs gave."""
    for program in wanted:
        for run in program.runs:
            their, our = Kept("flink").get(run), Kept(executor).get(run)
            if their is not None and our is not None:
                yield compare(program, run, their, our)


def _show(each: Compared, executor: str) -> None:
    if each.same:
        print(f"same       {each.run}", flush=True)
        return
    meant = _is_meant(each, executor)
    print(f"{'meant' if meant else 'DIFFERENT':<10} {each.run}", flush=True)
    if not meant:
        for line in each.difference[2 : 2 + SHOWN]:
            print(f"           {line}", flush=True)


def _is_meant(each: Compared, executor: str) -> bool:
    """No program is meant to fail here."""
    return reason(each.run.program, executor) is not None and each.headrace.error is None


def _no_longer(compared: list[Compared], executor: str) -> set[str]:
    """Programs that are listed as different and are not."""
    ran = {each.run.program for each in compared}
    differ = {each.run.program for each in compared if not each.same}
    return (listed(executor) & ran) - differ


def _range(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("programs", nargs="*", help="names, or patterns as 'windows_*'; else all")
    parser.add_argument(
        "--executor",
        choices=EXECUTORS,
        default="in-process",
        help="what runs them on our side",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="run on PyFlink what it has run before, too"
    )
    parser.add_argument(
        "--kept", action="store_true", help="run nothing: compare what earlier runs gave"
    )
    parser.add_argument(
        "--seeds", type=_range, default=range(0), help="programs by chance: 5, or 0-9; these alone"
    )
    parser.add_argument("--report", type=Path, help="where the table goes, as docs/differential.md")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
