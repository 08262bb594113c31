"""What parts of a run are given in tests that start none."""

from __future__ import annotations

from pathlib import Path

from headrace.runtime.context import Reporter, RunContext, StopRequest


def run_context(folder: Path, reporter: Reporter) -> RunContext:
    """Of the first attempt of a job with one slot, whose files are all in `folder`."""
    return RunContext(
        job_id="a" * 32,
        name="words",
        attempt=1,
        parallelism=1,
        master="local[1]",
        memory_mib=1600,
        run_dir=folder,
        checkpoint_dir=folder,
        jars=[],
        configuration={},
        reporter=reporter,
        stop=StopRequest(),
    )
