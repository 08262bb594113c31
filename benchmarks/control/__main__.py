"""`make bench-control`: the JobManager with many jobs and TaskManagers; drivers are simulated.

Real: JobManager, TaskManagers (a Celery worker each), launchers, Redis, PostgreSQL, a process for
each driver that beats, journals batches and obeys commands. Not there: Spark, Kafka, the web.
Report in Markdown on standard output.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks.control import cluster


def main() -> None:
    asked = _arguments()
    # Ended from outside, it ends what it started, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
        home = Path(folder)
        with cluster.environment(home, sqlite=asked.sqlite) as server:
            _measure(asked, home, server)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.control", description=__doc__)
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--taskmanagers", type=int, default=50)
    parser.add_argument("--coming", type=float, default=100, help="seconds in which the jobs come")
    parser.add_argument("--steady", type=float, default=15, help="seconds that they run on")
    parser.add_argument("--unrest", type=float, default=40, help="seconds of failures and cancels")
    parser.add_argument("--every", type=float, default=5, help="seconds between a job's batches")
    parser.add_argument("--ended", type=int, default=5000, help="jobs in the database before")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sqlite", action="store_true", help="instead of PostgreSQL")
    return parser.parse_args()


def _measure(asked: argparse.Namespace, home: Path, server: int | None) -> None:
    """Django is set up here: only now is it known where the database is."""
    import django

    django.setup()
    from django.core.management import call_command

    from benchmarks.control import history, report, rounds, tables

    call_command("migrate", verbosity=0)
    history.fill(asked.ended)
    slots = -(-asked.jobs * 4 // (3 * asked.taskmanagers))  # a quarter stays free
    load = rounds.Load(
        asked.jobs, asked.coming, asked.steady, asked.unrest, asked.every, asked.rounds
    )
    with cluster.running(home, asked.taskmanagers, slots, server) as running:
        report.wait_for_taskmanagers(asked.taskmanagers)
        tables.analyse()
        before = tables.look()
        busy = psutil.cpu_times()
        found = rounds.run(running, load)
        others = _others(busy, psutil.cpu_times(), found)
        time.sleep(2)  # until the statistics are written
        after = tables.look()
    print(
        f"{os.cpu_count()} cores, Python {platform.python_version()}, {running.database}, "
        f"{asked.jobs} jobs, {asked.taskmanagers} TaskManagers of {slots} slots, {asked.rounds} "
        f"rounds: median (least to greatest); all else on the machine took {others:.2f} cores\n"
    )
    print(report.text(found))
    if before is not None and after is not None:
        print(report.of_tables(after.since(before), found))


def _others(before: Any, after: Any, found: Any) -> float:
    """Cores that were busy with something else: the load under which the figures came about."""
    idle = ("idle", "iowait")
    spent = sum(getattr(after, name) - getattr(before, name) for name in after._fields)
    spent -= sum(getattr(after, name) - getattr(before, name) for name in idle)
    phases = [phase for phases in found.values() for phase in phases]
    own = sum(sum(phase.cpu_seconds.values()) for phase in phases)
    return float((spent - own) / sum(phase.seconds for phase in phases))


if __name__ == "__main__":
    main()
