"""docs/differential.md: what was compared, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.differential.comparison import Compared
from tests.differential.intended import reason
from tests.differential.programs import Program

_HEAD = """# The same programs on PyFlink and here

`make differential` runs the programs of `tests/differential/programs` on PyFlink 2.3, in its own
mini cluster, and on Headrace, with nothing changed but the import lines, and compares what they
print line by line: sorted where Flink gives no order, in order for each key where it does. A
program that fails on one side only is a difference.

Headrace has two executors, and both are compared: `in-process`, and `spark` with
`ARGS="--executor spark"`, where all programs share one Spark application. What PyFlink gave is
kept beside its environment and not made again until a program changes (`--fresh` makes it again),
so programs can be compared in portions: `ARGS="--executor spark windows_* state_*"`. This page is
the newest result of either executor; `ARGS="--kept '*' --seeds 0-5 --report docs/differential.md"`
writes it, and runs nothing.

A run does not depend on how fast it is: the bounded watermark generators of Flink are replaced by
ones that give a watermark behind each record (pace *each*; here one record in a micro-batch) or
none before the end of input (pace *whole*; here all records in one micro-batch). Programs of pace
*each* have one subtask; others run with one, with two, or with both. `--seeds 0-9` writes and runs
programs by chance: windows over events in disorder, with triggers and lateness. Where the clock
decides (state that expires, timers of processing time), functions wait much longer than what is to
pass, and much shorter than what is not. PyFlink's workers cache state and do not see it expire
there: programs with state that expires switch the cache off (`python.state.cache-size`).

On Spark a program takes seconds where the machine is idle, and minutes where it is not: those that
are marked *not run* have not been compared there yet.

PyFlink has no evictors, iterations, accumulators and joins of streams: joins and evictors are
compared with the same written out. Kafka's connector does not come with it: schemas of JSON and CSV
are called by hand.

Differences that were found and mended: rows print with Python's values (`+I[a,None]`), those of CSV
files as tables' rows; collected rows have names; `in` of a row finds names; a record without a time
has the smallest one in functions; task names tell the attempt; `put_all` takes pairs; what is no
function is refused at once; checkpointing that is off is at least once.
"""


def write(
    to: Path, programs: Sequence[Program], compared: Mapping[str, Sequence[Compared]]
) -> None:
    """`compared`: by executor."""
    text = [
        _HEAD,
        *(_figures(executor, found) for executor, found in compared.items()),
        "",
        f"| program | runs | {' | '.join(compared)} | why it differs |",
        f"|---|---|{'---|' * len(compared)}---|",
    ]
    text += [_row(program, compared) for program in programs]
    to.write_text("\n".join(text) + "\n")


def _figures(executor: str, compared: Sequence[Compared]) -> str:
    same = sum(each.same for each in compared)
    programs = len({each.run.program for each in compared})
    return (
        f"- {executor}: {len(compared)} runs of {programs} programs, {same} the same, "
        f"{len(compared) - same} different"
    )


def _row(program: Program, compared: Mapping[str, Sequence[Compared]]) -> str:
    ways = ", ".join(f"{run.pace} {run.parallelism}" for run in program.runs)
    results: list[str] = []
    reasons: dict[str, None] = {}
    for executor, found in compared.items():
        runs = [each for each in found if each.run.program == program.name]
        results.append(_result(program, runs))
        if not all(each.same for each in runs):
            reasons[reason(program.name, executor) or "**not explained**"] = None
    cells = [f"`{program.name}`: {program.title}", ways, *results, "; ".join(reasons)]
    return f"| {' | '.join(cells)} |"


def _result(program: Program, runs: Sequence[Compared]) -> str:
    if not runs:
        return "not run"
    result = "same" if all(each.same for each in runs) else "different"
    ways = ", ".join(f"{each.run.pace} {each.run.parallelism}" for each in runs)
    return result if len(runs) == len(program.runs) else f"{result} ({ways})"
