"""`make bench-metrics`: what recording, keeping and exporting the figures of many jobs cost.

Real: the tables, the code of the TaskManager that records, of the web process that answers
/metrics. Not there: drivers, HTTP. Report in Markdown on standard output.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
from pathlib import Path

from benchmarks.control import cluster


def main() -> None:
    asked = _arguments()
    with (
        tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder,
        cluster.environment(Path(folder), sqlite=asked.sqlite),
    ):
        import django

        django.setup()
        from django.core.management import call_command

        from benchmarks.metrics import costs, crowd

        call_command("migrate", verbosity=0)
        attempts = crowd.make(asked.jobs)
        database = "SQLite" if asked.sqlite else "PostgreSQL"
        print(
            f"{os.cpu_count()} cores, Python {platform.python_version()}, {database}, "
            f"{asked.jobs} jobs of {crowd.VERTICES} vertices with {crowd.PARALLELISM} subtasks\n"
        )
        print(costs.recording(attempts, asked.samples))
        print(costs.exporting())
        print(costs.reading(attempts))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.metrics", description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--samples", type=int, default=35, help="of each job; one each 2 seconds")
    parser.add_argument("--sqlite", action="store_true", help="instead of PostgreSQL")
    return parser.parse_args()


if __name__ == "__main__":
    main()
