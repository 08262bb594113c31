"""Runs a side's process, and starts it anew where a program hangs or takes it down."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.differential import environment
from tests.differential.programs import Run

_SIDE = Path(__file__).parent / "side.py"
#: What can run programs on our side.
EXECUTORS = ("in-process", "spark")
#: For one program on a machine that has other things to do, the start of a JVM included.
TIMEOUT_SECONDS = 900.0
#: In its thread mode PyFlink leaves busy threads of each program behind, 2,900 after 200 programs.
PROGRAMS_PER_PROCESS = 25


@dataclass(frozen=True)
class Result:
    """What a program printed, and how it failed (None: it did not)."""

    lines: tuple[str, ...]
    error: str | None


#: Of a program that gave none.
NOTHING = Result((), "hung, or took the process down")


def flink(runs: list[Run]) -> Iterator[Result]:
    return _results([str(environment.python()), str(_SIDE), "flink"], environment.variables(), runs)


def headrace(runs: list[Run], executor: str = "in-process") -> Iterator[Result]:
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(environment.ROOT / "platform"), str(environment.ROOT)]),
        "HEADRACE_EXECUTOR": executor,
        "SPARK_MASTER": "local[2]",
        "JDK_JAVA_OPTIONS": environment.JAVA_OPTIONS,
        "TZ": "UTC",
    }
    return _results([sys.executable, str(_SIDE), "headrace"], variables, runs)


def _results(command: list[str], variables: dict[str, str], runs: list[Run]) -> Iterator[Result]:
    left = list(runs)
    while left:
        part = left[:PROGRAMS_PER_PROCESS]
        for result in _one_process(command, variables, part):
            yield result
            left.pop(0)
            part.pop(0)
        if part:
            yield NOTHING
            left.pop(0)


def _one_process(
    command: list[str], variables: dict[str, str], runs: list[Run]
) -> Iterator[Result]:
    """Results until all are there, or the process does not give the next."""
    with tempfile.TemporaryDirectory(prefix="differential-", ignore_cleanup_errors=True) as folder:
        answers = Path(folder) / "results"
        log = Path(folder) / "stderr"
        with log.open("wb") as stderr:
            process = subprocess.Popen(
                [*command, str(answers)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                env={**variables, "TMPDIR": folder},
                start_new_session=True,
            )
        try:
            assert process.stdin is not None
            for each in runs:
                asked = {
                    "path": str(each.path),
                    "pace": each.pace,
                    "parallelism": each.parallelism,
                    "alone": each.alone,
                }
                process.stdin.write(json.dumps(asked).encode() + b"\n")
            process.stdin.close()
            yield from _answers(process, answers, len(runs))
        finally:
            if os.environ.get("DIFFERENTIAL_LOG"):
                with Path(os.environ["DIFFERENTIAL_LOG"]).open("ab") as kept:
                    kept.write(log.read_bytes())
            _end(process)


def _answers(process: subprocess.Popen[bytes], answers: Path, expected: int) -> Iterator[Result]:
    seen = 0
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while seen < expected:
        ended = process.poll() is not None
        lines = answers.read_text().splitlines(keepends=True) if answers.exists() else []
        for line in lines[seen:]:
            if not line.endswith("\n"):
                break
            seen += 1
            answer = json.loads(line)
            yield Result(tuple(answer["lines"]), answer["error"])
            deadline = time.monotonic() + TIMEOUT_SECONDS  # the process went on while we were away
        if seen < expected and (ended or time.monotonic() > deadline):
            return
        time.sleep(0.05)


def _end(process: subprocess.Popen[bytes]) -> None:
    """With all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
