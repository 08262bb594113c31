"""A short run: what the platform consists of dies, process by process, under two real jobs."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from tests.chaos.control import report
from tests.chaos.control.faults import Schedule
from tests.chaos.control.installation import Limits
from tests.chaos.control.run import Run

JOBS = 2
#: For injecting; a slow machine manages fewer faults.
SECONDS = 150.0
#: Longer than a slow machine keeps anything silent by itself.
LIMITS = Limits(taskmanager=60, driver=30)


@pytest.mark.timeout(3600)
def test_jobs_run_on_and_their_output_is_exact_whatever_of_the_platform_dies(
    jar_folder: Path,
) -> None:
    seed = int(os.environ.get("HEADRACE_CHAOS_SEED", random.randrange(1_000_000)))
    print(f"HEADRACE_CHAOS_SEED={seed}")  # told also when the run does not come to its report
    schedule = Schedule.short(seed, JOBS)
    run = Run(schedule, jar_folder, print, seconds=SECONDS, limits=LIMITS)
    outcome = run.execute()
    told = report.text(schedule, outcome)
    print(told)
    assert not outcome.harness, f"the run itself, {run.home}\n{told}"
    assert not outcome.problems, f"{run.home}\n{told}"
    assert outcome.hits, told
    if not outcome.cut_short:
        assert len(outcome.hits) >= len(schedule.faults) - 2, told
    shutil.rmtree(run.home)
