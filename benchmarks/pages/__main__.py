"""`make bench-pages`: the server's time for each page with 1,000 jobs and 100,000 checkpoints.

The pages are asked for within this process, without a network: what is measured is what the server
does. SQLite in a folder of its own, or the server that DATABASE_URL names, in a database of its
own. Report in Markdown on standard output.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

#: Milliseconds that a page may take.
PROMISED = 200


@dataclass(frozen=True, slots=True)
class Took:
    """Milliseconds: median, of that this process's own CPU, longest; queries; bytes."""

    address: str
    median: float
    cpu: float
    longest: float
    queries: int
    size: int


def main() -> None:
    asked = _arguments()
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
        os.environ["HEADRACE_HOME"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        os.environ["HEADRACE_ALLOWED_HOSTS"] = "testserver"
        _measure(asked)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.pages", description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--running", type=int, default=200)
    parser.add_argument("--checkpoints", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    return parser.parse_args()


def _measure(asked: argparse.Namespace) -> None:
    """Django is set up here: only now is it known where the database is."""
    import django

    django.setup()
    from django.db import connection
    from django.test.utils import setup_databases, teardown_databases

    from benchmarks.pages import rows

    made = setup_databases(verbosity=0, interactive=False, serialized_aliases=set())
    try:
        begun = time.perf_counter()
        job = rows.fill(asked.jobs, asked.checkpoints, asked.running)
        filled = time.perf_counter() - begun
        print(f"\n{asked.jobs:,} jobs, {asked.running:,} of them running, ", end="")
        print(f"{asked.checkpoints:,} checkpoints; {connection.vendor}; filled in {filled:.0f} s\n")
        _report([_timed(address, asked.rounds) for address in addresses(job)])
    finally:
        teardown_databases(made, verbosity=0)


def addresses(job: Any) -> Iterator[str]:
    """Of the pages whose work grows with the database."""
    yield from ("/", "/jobs/", "/jobs/?state=running&size=200", "/jobs/?q=running-1")
    yield from ("/jobs/?sort=name&page=9", "/taskmanagers/", "/taskmanagers/tm-1/", "/jobmanager/")
    yield from ("/savepoints/", "/schedules/", "/alerts/", "/alerts/rules/", "/audit/")
    yield from ("/audit/?q=running-1&action=job", "/submit/", "/account/", "/teams/", "/secrets/")
    yield f"/jobs/{job.pk}/"
    for tab in ("checkpoints", "savepoints", "exceptions", "timeline", "kafka", "latency"):
        yield f"/jobs/{job.pk}/{tab}/"
    for tab in ("metrics", "log", "events", "attempts", "versions", "configuration"):
        yield f"/jobs/{job.pk}/{tab}/"
    yield from ("/live/overview/?poll", "/live/jobs/?poll", "/live/taskmanagers/?poll")
    yield f"/jobs/{job.pk}/series/?range=1h"


def _timed(address: str, rounds: int) -> Took:
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client()
    client.force_login(User.objects.get(username="bench"))
    client.get(address)  # templates are compiled, connections are open
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(address)
    if answer.status_code != 200:
        raise SystemExit(f"{address} answers {answer.status_code}")
    asked, took, cpu = len(queries), [], []
    for _ in range(rounds):
        begun, used = time.perf_counter(), time.process_time()
        client.get(address)
        took.append(1000 * (time.perf_counter() - begun))
        cpu.append(1000 * (time.process_time() - used))
    median, size = statistics.median(took), len(answer.content)
    return Took(address, median, statistics.median(cpu), max(took), asked, size)


def _report(rows: list[Took]) -> None:
    print("| page | median ms | of it CPU | longest ms | queries | KiB |")
    print("|---|---:|---:|---:|---:|---:|")
    for row in rows:
        mark = " (!)" if row.median > PROMISED else ""
        name = "/".join("ID" if len(part) == 32 else part for part in row.address.split("/"))
        times = f"{row.median:.0f}{mark} | {row.cpu:.0f} | {row.longest:.0f}"
        print(f"| `{name}` | {times} | {row.queries} | {row.size >> 10} |")
    slow = sum(row.median > PROMISED for row in rows)
    print(f"\n{len(rows) - slow} of {len(rows)} within {PROMISED} ms.")


if __name__ == "__main__":
    main()
