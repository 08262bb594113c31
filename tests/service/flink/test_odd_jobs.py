"""Jobs that are not as they usually are: every route of a job answers, and none with a 500."""

from __future__ import annotations

import re
from typing import Any

import pytest
from rest_framework.test import APIClient

from jobs import vertices
from jobs.flink import job_urls
from jobs.models import Job
from jobs.states import JobState
from tests.service.flink.conftest import PLAN

pytestmark = pytest.mark.django_db

OLDER = {"nodes": [{"id": 1, "description": "<b>read</b>"}, {"id": "2", "inputs": [1, {"id": 9}]}]}
LOOP = {"nodes": [{"id": 1, "inputs": [2], "chain": 7}, {"id": 2, "inputs": [1], "chain": 2}]}
WORDS = {"subtask": "0", "attempt": "0", "checkpoint_id": "9", "taskmanager_id": "tm-1"}


def paths(job: Job) -> list[str]:
    """Of everything that a job tells."""
    graph = vertices.of(job.plan)
    words = WORDS | {"job_id": job.pk, "vertex_id": graph[0].id if graph else "0" * 32}
    found = []
    for pattern in job_urls.urlpatterns:
        path = re.sub(
            r"\(\?P<(\w+)>[^)]*\)",
            lambda name: words.get(name[1], "ab" * 16),
            str(pattern.pattern).strip("^$"),
        )
        found.append(f"/{path}")
    return [path for path in found if not path.endswith(("/yarn-cancel", "/flamegraph"))]


@pytest.mark.parametrize("state", [JobState.SUSPENDED, JobState.INITIALIZING, JobState.RUNNING])
@pytest.mark.parametrize("plan", [{}, {"nodes": []}, OLDER, LOOP, PLAN], ids=str)
def test_every_route_answers(
    client: APIClient, job: Job, plan: dict[str, Any], state: JobState
) -> None:
    Job.objects.filter(pk=job.pk).update(plan=plan, state=state)
    job.refresh_from_db()
    for path in paths(job):
        answer = client.get(path)
        assert answer.status_code in (200, 308, 404), (path, answer.content)
        assert answer.json() is not None

    details = client.get(f"/jobs/{job.pk}").json()
    listed = next(each for each in client.get("/jobs/overview").json()["jobs"])
    subtasks = sum(vertex["parallelism"] for vertex in details["vertices"])
    assert listed["tasks"]["total"] == subtasks
    assert (details["end-time"], listed["end-time"]) == (-1, -1)
    assert details["duration"] >= 0 and details["state"] == listed["state"] == state
