"""A program's plan without its run: `python -m headrace.runtime.show_plan P SETTINGS FILE ARGS...`.

SETTINGS is JSON; `-` reads it from stdin, where no list of processes shows it.
The program runs here up to its `execute`, where the plan is printed as one line of JSON and the
process ends. No query is started and no source or sink is asked for anything. Spark starts only
for a program that makes DataFrames.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from pyspark.sql.streaming.readwriter import DataStreamWriter

from headrace.runtime import context as run_context
from headrace.runtime import program_entry, sql_program
from headrace.sql.errors import SqlError
from headrace.wire import events, packages
from headrace.wire.spec import JobSpec


class _PlanPrinter:
    """The first thing that a run reports is its plan."""

    def __init__(self, folder: Path, answer: int) -> None:
        self._folder = folder
        self._answer = answer

    def report(self, event: events.Event) -> None:
        if isinstance(event, events.Planned):
            os.write(self._answer, (json.dumps(event.plan) + "\n").encode())
            shutil.rmtree(self._folder, ignore_errors=True)
            sys.stdout.flush()
            os._exit(0)  # from whichever thread runs the job


def main(parallelism: str, settings: str, file: str, *arguments: str) -> None:
    """Ends the process. What the program prints itself goes to stderr."""
    answer = os.dup(1)
    os.dup2(2, 1)
    folder = Path(tempfile.mkdtemp(prefix="headrace-plan-"))
    spec = JobSpec(
        job_id="0" * 32,
        name=Path(file).stem,
        attempt=1,
        entry=file,
        arguments=list(arguments),
        parallelism=int(parallelism),
        checkpoint_dir=str(folder / "checkpoints"),
        configuration=json.loads(sys.stdin.read() if settings == "-" else settings),
    )
    run_context.use(run_context.platform(spec, folder, _PlanPrinter(folder, answer)))
    DataStreamWriter.start = DataStreamWriter.toTable = _no_query  # type: ignore[method-assign]
    if file.endswith(".sql"):
        os.write(answer, (json.dumps(_of_script(Path(file), spec)) + "\n").encode())
        sys.exit()
    entry_class = spec.configuration.get(packages.ENTRY_CLASS, "")
    try:
        program_entry.run(Path(file), arguments, folder, entry_class)
        run_context.wait_for_jobs()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(f"{file} ended without executing a job")


def _of_script(file: Path, spec: JobSpec) -> dict[str, Any]:
    try:
        return sql_program.plan(sql_program.read(file), spec.parallelism)
    except SqlError as error:
        sys.exit(f"{file.name}: {error}")


def _no_query(*_: Any, **__: Any) -> Any:
    sys.exit("queries of a plain PySpark script have no plan of Headrace; they were not started")


if __name__ == "__main__":
    main(*sys.argv[1:])
