"""The long run: `make chaos SEED=7 FAULTS=200 REPORT=docs/chaos.md`."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from tests.chaos import report
from tests.chaos.run import Run, Schedule

ROOT = Path(__file__).parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--report", type=Path, help="file that the report is written to")
    parser.add_argument("--keep", action="store_true", help="keep logs and topics of a good run")
    options = parser.parse_args()
    # many JVMs that live a minute each: compile quickly rather than well
    os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")
    jar_folder = Path(os.environ.get("HEADRACE_HOME", ROOT / ".headrace")) / "jars"

    # like Ctrl-C: what was started is ended
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    schedule = Schedule.of(options.seed, options.faults)
    run = Run(schedule, jar_folder, say)
    say(f"seed {options.seed}, {options.faults} faults; logs and checkpoints in {run.home}")
    outcomes = run.execute()
    answer = report.text(schedule, outcomes)
    print(f"\n{answer}", flush=True)
    if options.report:
        report.write(options.report, answer)
    if report.passed(outcomes):
        if not options.keep:
            shutil.rmtree(run.home)
        return 0
    print(f"seed {options.seed}; schedule, logs, topics and checkpoints: {run.home}")
    return 1


def say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
