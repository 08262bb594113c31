"""The measurements, each a table in Markdown. Seconds are those of this process's CPU, so that what
else the machine does changes little; a database server's come on top."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from statistics import median

from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIRequestFactory, force_authenticate

from benchmarks.figures import percentile
from benchmarks.metrics import crowd
from headrace.wire.journal import Entry
from jobs import cluster_history, figure_rows, history
from jobs.exports.views import MetricsView
from jobs.models import Attempt, HistoryChunk

EVERY_MS = 2_000
TIMES = 5


def recording(attempts: Sequence[Attempt], samples: int) -> str:
    """Each job reports every two seconds; the time of one report, and what a core can do."""
    start = int(timezone.now().timestamp() * 1000) - samples * EVERY_MS
    spent: list[float] = []
    said = [crowd.measured() for _ in range(20)]
    for number in range(samples):
        for index, attempt in enumerate(attempts):
            event = said[(number + index) % len(said)]
            entry = Entry(number, start + number * EVERY_MS, event, 0)
            began = time.process_time()
            figure_rows.record(attempt, [entry])
            spent.append(time.process_time() - began)
    mean = sum(spent) / len(spent)
    rows = HistoryChunk.objects.count()
    size = sum(map(len, HistoryChunk.objects.values_list("data", flat=True)))
    cores = mean * len(attempts) / (EVERY_MS / 1000)
    return (
        "| recording | |\n|---|---|\n"
        f"| a report, mean | {mean * 1000:.2f} ms |\n"
        f"| median, 99 % | {median(spent) * 1000:.2f}, {percentile(spent, 0.99) * 1000:.2f} ms |\n"
        f"| cores, all jobs each {EVERY_MS / 1000:g} s | {cores:.2f} |\n"
        f"| rows, bytes of a job after {samples * EVERY_MS / 1000:g} s | "
        f"{rows / len(attempts):.1f}, {size / len(attempts):,.0f} |\n"
    )


def exporting() -> str:
    lines = ["| asked | seconds | MiB | queries |", "|---|---|---|---|"]
    for name, query, headers in (
        ("/metrics", "", {}),
        ("/metrics, compressed", "", {"Accept-Encoding": "gzip"}),
        ("/metrics without tasks", "?scope=jobmanager,jobmanager_job,taskmanager,headrace", {}),
    ):
        size = 0

        def ask(query: str = query, headers: dict[str, str] = headers) -> None:
            nonlocal size
            request = APIRequestFactory().get(f"/metrics{query}", headers=headers)
            force_authenticate(request, User.objects.get())
            size = len(MetricsView.as_view()(request).content)

        with CaptureQueriesContext(connection) as taken:
            ask()
        queries = len(taken)
        lines.append(f"| {name} | {_seconds(ask):.2f} | {size / 2**20:.1f} | {queries} |")
    seconds = _seconds(lambda: cluster_history.record(timezone.now()))
    return "\n".join([*lines, f"| totals of the cluster | {seconds:.2f} | | |", ""])


def reading(attempts: Sequence[Attempt]) -> str:
    """A chart of a job."""
    now, job = timezone.now(), attempts[0].job_id
    names = history.names(job)[:4]
    lines = ["| a chart's | milliseconds |", "|---|---|"]
    for title, length in (("hour", timedelta(hours=1)), ("year", timedelta(days=365))):

        def draw(since: datetime = now - length) -> None:
            history.series(job, names, since, now)

        lines.append(f"| {title} | {_seconds(draw) * 1000:.1f} |")
    return "\n".join(lines)


def _seconds(do: Callable[[], object]) -> float:
    """Median of some times."""
    spent = []
    for _ in range(TIMES):
        began = time.process_time()
        do()
        spent.append(time.process_time() - began)
    return median(spent)
