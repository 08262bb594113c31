"""The long run: `make chaos-control SEED=7 FAULTS=50 REPORT=docs/chaos.md`."""

from __future__ import annotations

import argparse
import math
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from tests.chaos.control import report
from tests.chaos.control.faults import Schedule
from tests.chaos.control.run import Run

ROOT = Path(__file__).parents[3]


def main() -> int:
    """0: all is well. 1: something is wrong with the platform. 2: the run could not go on."""
    parser = argparse.ArgumentParser(prog="make chaos-control", description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--faults", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no fault later")
    parser.add_argument("--short", action="store_true", help="the faults that `make test` has")
    parser.add_argument("--report", type=Path, help="file that the report is written to")
    parser.add_argument("--keep", action="store_true", help="keep logs and topics of a good run")
    options = parser.parse_args()
    # many JVMs that live a minute each: compile quickly rather than well
    os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")
    jar_folder = Path(os.environ.get("HEADRACE_HOME", ROOT / ".headrace")) / "jars"

    # like Ctrl-C: what was started is ended
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if options.short:
        schedule = Schedule.short(options.seed, options.jobs)
    else:
        schedule = Schedule.of(options.seed, options.faults, options.jobs)
    run = Run(schedule, jar_folder, say, seconds=options.seconds)
    say(f"seed {options.seed}, {len(schedule.faults)} faults; logs and state in {run.home}")
    outcome = run.execute()
    answer = report.text(schedule, outcome)
    print(f"\n{answer}", flush=True)
    if options.report:
        report.write(options.report, answer)
    if report.passed(schedule, outcome):
        if not options.keep:
            shutil.rmtree(run.home)
        return 0
    print(f"seed {options.seed}; schedule, logs, topics and checkpoints: {run.home}")
    return 1 if outcome.problems else 2


def say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
