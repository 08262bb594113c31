"""GET /jobs, /jobs/overview, /jobs/metrics"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import figures, permissions, vertices
from jobs.flink import answers, metrics, reading, tasks, times
from jobs.models import Attempt, Job
from jobs.states import AttemptState, Ends, JobState

_ID = re.compile(r"[0-9a-f]{32}")


class Jobs(answers.View):
    """GET /jobs; POST, by which Flink's own client sends graphs of Java objects, is refused."""

    has_page = True

    def get(self, request: Request) -> Response:
        rows = _shown(request).values_list("id", "state")
        return Response({"jobs": [{"id": job_id, "status": state} for job_id, state in rows]})

    def post(self, request: Request) -> Response:
        raise answers.bad_request(
            "This cluster runs Python programs and SQL scripts, no job graphs of Java: send the "
            "program to /jars/upload and run it by /jars/:jarid/run."
        )


class Overview(answers.View):
    """GET /jobs/overview: also jobs that have ended, until they are archived."""

    def get(self, request: Request) -> Response:
        rows = list(_shown(request).defer("configuration", "arguments", "lag"))
        running = _attempts(rows)
        now = times.now()
        return Response({"jobs": [_details(job, running, now) for job in rows]})


class Metrics(answers.View):
    """GET /jobs/metrics: aggregates over the jobs that have not ended."""

    def get(self, request: Request) -> Response:
        wanted = [job_id.lower() for job_id in reading.names(request, "jobs")]
        for job_id in wanted:
            if not _ID.fullmatch(job_id):
                raise reading.unreadable(f'query parameter (jobs) from value "{job_id[:100]}"')
        rows = _shown(request).exclude(state__in=ENDED)
        if wanted:
            rows = rows.filter(pk__in=wanted[: reading.IDS])
        found = figures.of_many(rows.defer("plan", "configuration", "arguments", "lag"))
        return Response(metrics.aggregated(found.values(), request))


#: States in which a job has no metrics in Flink's API any more.
ENDED = [state.value for state in JobState if state.ends is Ends.FOR_GOOD]


def overview(job: Job, now: int, state: str) -> dict[str, Any]:
    """`state`: of its tasks."""
    start, end = times.of(job.created_at), ended(job)
    total = vertices.subtasks(job.plan)
    counts = tasks.counts(state, total, lower=True)
    return {
        "jid": job.pk,
        "name": job.name,
        "jobType": "STREAMING",
        "schedulerType": "Adaptive",
        "start-time": start,
        "end-time": end,
        "duration": max(0, (end if end > 0 else now) - start),
        "state": job.state,
        "last-modification": times.of(job.state_changed_at),
        "tasks": {"total": total, **counts},
        "pending-operators": 0,
    }


def ended(job: Job) -> int:
    """When it ended for good, else -1."""
    return times.of(job.ended_at) if job.state in ENDED else times.NEVER


def _details(job: Job, running: Mapping[str, str], now: int) -> dict[str, Any]:
    return overview(job, now, tasks.state_of(job, running.get(job.pk)))


def _shown(request: Request) -> QuerySet[Job]:
    return permissions.visible_jobs(request.user).filter(archived_at=None)


def _attempts(rows: list[Job]) -> dict[str, str]:
    """Job's id -> state of its attempt that has not ended, in one query."""
    live = Attempt.objects.filter(state__in=AttemptState.live()).order_by("number")
    found = dict(live.values_list("job_id", "state"))
    return {job.pk: found[job.pk] for job in rows if job.pk in found}
