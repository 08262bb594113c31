"""What Flink's routes say about jobs is what the rows say."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from jobs.models import Job, Savepoint
from jobs.states import JobState
from tests.service.flink.conftest import KEYED, SOURCE, add_checkpoints, new_job

pytestmark = pytest.mark.django_db


def told(client: APIClient, path: str) -> Any:
    answer = client.get(path)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_a_job_and_its_vertices(client: APIClient, job: Job, now: datetime) -> None:
    found = told(client, f"/jobs/{job.pk}")

    source, keyed = found["vertices"]
    assert [source["name"], keyed["name"]] == ["Source: orders", "counted & shown -> Sink: out"]
    assert (source["status"], source["tasks"]["RUNNING"]) == ("RUNNING", 2)
    # a source has read, and a sink has written
    assert (source["metrics"]["read-records"], keyed["metrics"]["write-records"]) == (160, 160)
    assert source["metrics"]["read-records-complete"] is True
    deployed = now - timedelta(minutes=5) + timedelta(seconds=1)
    assert source["start-time"] == int(deployed.timestamp() * 1000)
    assert found["timestamps"]["RUNNING"] == job.timestamps["RUNNING"]
    assert (found["timestamps"]["FAILED"], found["end-time"]) == (0, -1)
    assert sorted(found["timestamps"]) == sorted(JobState)


def test_names_of_operators_are_no_html(client: APIClient, job: Job) -> None:
    """Flink's dashboard shows the description as it is."""
    (_, node) = told(client, f"/jobs/{job.pk}/plan")["plan"]["nodes"]

    assert node["description"] == "counted &amp; shown<br/>+- Sink: out<br/>"
    assert [each["ship_strategy"] for each in node["inputs"]] == ["HASH"]


def test_each_node_of_the_plan_has_its_vertex(client: APIClient, job: Job) -> None:
    found = told(client, f"/jobs/{job.pk}")

    ids = [vertex["id"] for vertex in found["vertices"]]
    assert [node["id"] for node in found["plan"]["nodes"]] == ids
    read = [each["id"] for node in found["plan"]["nodes"] for each in node.get("inputs", [])]
    assert set(read) <= set(ids)


def test_without_figures_nothing_counts_as_known(client: APIClient, job: Job) -> None:
    job.figures_row.delete()

    metrics = told(client, f"/jobs/{job.pk}")["vertices"][0]["metrics"]

    assert (metrics["read-records"], metrics["read-records-complete"]) == (0, False)
    answer = told(client, f"/jobs/{job.pk}/vertices/{SOURCE.id}/backpressure")
    assert answer["status"] == "deprecated"


def test_aggregates_are_complete(client: APIClient, job: Job) -> None:
    """Flink's dashboard does not come back from half of them."""
    found = told(client, f"/jobs/{job.pk}/vertices/{SOURCE.id}")["aggregated"]

    words = {"min", "max", "avg", "sum", "median", "p25", "p75", "p95"}
    assert all(words == set(each) for each in found["metrics"].values())
    assert all(words == set(each) for each in found["status-duration"].values())
    assert found["metrics"]["read-records"] == {
        **{"min": 60, "max": 100, "avg": 80, "sum": 160},
        **{"median": 80, "p25": 60, "p75": 100, "p95": 100},
    }


def test_times_of_subtasks(client: APIClient, job: Job, now: datetime) -> None:
    first, _ = told(client, f"/jobs/{job.pk}/vertices/{SOURCE.id}/subtasktimes")["subtasks"]

    begin = int((now - timedelta(minutes=5)).timestamp() * 1000)
    entered = first["timestamps"]
    assert [entered[state] - begin for state in ("CREATED", "DEPLOYING", "RUNNING")] == [
        *(0, 1000, 4000)
    ]
    assert entered["FAILED"] == 0


def test_an_earlier_execution(client: APIClient, job: Job) -> None:
    path = f"/jobs/{job.pk}/vertices/{SOURCE.id}/subtasks/1/attempts"

    first, second = told(client, f"{path}/0"), told(client, f"{path}/1")

    assert (first["status"], second["status"]) == ("FAILED", "RUNNING")
    assert first["status-duration"]["RUNNING"] == 236_000
    assert (first["metrics"]["read-records-complete"], second["metrics"]["read-records"]) == (
        *(False, 60),
    )
    assert client.get(f"{path}/2").status_code == 404


def test_values_of_metrics_are_text(client: APIClient, job: Job) -> None:
    path = f"/jobs/{job.pk}/vertices/{SOURCE.id}/metrics"

    found = told(client, f"{path}?get=0.busyTimeMsPerSecond,1.Source__orders.pendingRecords,no")

    assert found == [
        {"id": "0.busyTimeMsPerSecond", "value": "250"},
        {"id": "1.Source__orders.pendingRecords", "value": "8"},
    ]


def test_aggregates_over_subtasks(client: APIClient, job: Job) -> None:
    path = f"/jobs/{job.pk}/vertices/{SOURCE.id}/subtasks/metrics?get=numRecordsIn"

    assert told(client, path) == [
        {"id": "numRecordsIn", "min": 60.0, "max": 100.0, "avg": 80.0, "sum": 160.0, "skew": 25.0}
    ]
    assert told(client, f"{path}&agg=max&subtasks=1-9") == [{"id": "numRecordsIn", "max": 60.0}]
    assert client.get(f"{path}&agg=most").status_code == 400
    assert client.get(f"{path}&subtasks=a").status_code == 400


def test_back_pressure_has_flinks_levels(client: APIClient, job: Job) -> None:
    found = told(client, f"/jobs/{job.pk}/vertices/{SOURCE.id}/backpressure")

    assert (found["status"], found["backpressure-level"]) == ("ok", "high")
    assert [each["backpressureLevel"] for each in found["subtasks"]] == ["high", "ok"]
    assert found["subtasks"][0]["busyRatio"] == 0.25


def test_settings_without_secrets(client: APIClient, job: Job) -> None:
    answer = client.get(f"/jobs/{job.pk}/config")

    execution = answer.json()["execution-config"]
    assert execution["restart-strategy"] == "Restart with fixed delay (PT2S). #5 restart attempts."
    assert execution["user-config"]["topic"] == "orders"
    assert b"hunter2" not in answer.content
    assert "hunter2" not in client.get(f"/jobs/{job.pk}/jobmanager/config").content.decode()


def test_a_savepoint_stands_for_its_checkpoint(
    client: APIClient, job: Job, savepoint: Savepoint
) -> None:
    found = told(client, f"/jobs/{job.pk}/checkpoints")

    assert [entry["id"] for entry in found["history"]] == list(range(11, 1, -1))
    assert [entry["id"] for entry in found["history"] if entry["is_savepoint"]] == [9]
    assert found["latest"]["savepoint"]["external_path"] == f"file:{savepoint.path}"
    assert found["latest"]["completed"]["id"] == 11
    assert found["latest"]["restored"]["id"] == 4
    assert found["counts"] == {
        **{"restored": 1, "total": 13, "in_progress": 0, "completed": 12, "failed": 1}
    }
    assert found["summary"]["end_to_end_duration"] == {
        **{"min": 100, "max": 111, "avg": 105, "p50": 105.5},
        **{"p90": 110.7, "p95": 111.0, "p99": 111.0, "p999": 111.0},
    }
    details = told(client, f"/jobs/{job.pk}/checkpoints/details/9")
    assert (details["is_savepoint"], set(details["tasks"])) == (True, {SOURCE.id, KEYED.id})


@pytest.mark.parametrize("path", ["/checkpoints", "/checkpoints/details/9", "", "/exceptions"])
def test_the_number_of_queries_does_not_grow(client: APIClient, job: Job, path: str) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            told(client, f"/jobs/{job.pk}{path}")
        return len(captured)

    queries()  # who asks is looked up once
    before = queries()
    add_checkpoints(job, job.attempts.get(number=2), 300, job.created_at)

    assert queries() == before
    assert before < 20


def test_the_list_needs_a_bounded_number_of_queries(
    client: APIClient, job: Job, alice: User
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            told(client, "/jobs/overview")
            told(client, "/jobs/metrics?get=numRestarts")
        return len(captured)

    queries()  # who asks is looked up once
    before = queries()
    for number in range(5):
        new_job(alice, f"job {number}")

    assert queries() == before


def test_failures_have_their_trace(client: APIClient, job: Job) -> None:
    found = told(client, f"/jobs/{job.pk}/exceptions")

    (entry,) = found["exceptionHistory"]["entries"]
    assert (entry["exceptionName"], entry["taskName"]) == ("ValueError", "driver - execution #0")
    assert entry["stacktrace"].splitlines()[0] == "ValueError: boom on key 0"
    assert found["root-exception"] == entry["stacktrace"]
    assert (entry["taskManagerId"], entry["failureLabels"]) == ("tm-1", {"cause": "running"})


@pytest.mark.parametrize(
    ("query", "number"),
    [
        *(("maxExceptions=0", 0), ("maxExceptions=2147483647", 1)),
        *(("failureLabelFilter=cause:running", 1), ("failureLabelFilter=cause:lost", 0)),
        ("failureLabelFilter=cause:running,team:ours", 0),
    ],
)
def test_which_failures(client: APIClient, job: Job, query: str, number: int) -> None:
    found = told(client, f"/jobs/{job.pk}/exceptions?{query}")["exceptionHistory"]

    assert len(found["entries"]) == number
    assert found["truncated"] is (query == "maxExceptions=0")


def test_why_a_job_failed(client: APIClient, job: Job, now: datetime) -> None:
    Job.objects.filter(pk=job.pk).update(state=JobState.FAILED, ended_at=now)

    result = told(client, f"/jobs/{job.pk}/execution-result")["job-execution-result"]

    assert (result["application-status"], result["failure-cause"]["class"]) == (
        *("FAILED", "ValueError"),
    )
    assert told(client, f"/jobs/{job.pk}")["end-time"] == int(now.timestamp() * 1000)


def test_ended_jobs_stay_listed_until_they_are_archived(
    client: APIClient, job: Job, now: datetime
) -> None:
    Job.objects.filter(pk=job.pk).update(state=JobState.FAILED, ended_at=now)
    assert [each["jid"] for each in told(client, "/jobs/overview")["jobs"]] == [job.pk]

    Job.objects.filter(pk=job.pk).update(archived_at=now)

    assert told(client, "/jobs/overview") == {"jobs": []}
    assert told(client, f"/jobs/{job.pk}")["jid"] == job.pk


def test_what_vertices_did_for_a_checkpoint(client: APIClient, job: Job) -> None:
    tasks = {KEYED.id: {"busy": [30, 50], "state_size": 5001, "state_rows": 9}}
    job.checkpoints.filter(checkpoint_id=7).update(tasks=tasks)
    path = f"/jobs/{job.pk}/checkpoints/details/7"

    keyed = told(client, path)["tasks"][KEYED.id]
    first, second = told(client, f"{path}/subtasks/{KEYED.id}")["subtasks"]

    assert (keyed["state_size"], keyed["num_subtasks"]) == (5001, 2)
    assert (first["state_size"], second["state_size"]) == (2501, 2500)
    assert (first["checkpoint"]["sync"], second["checkpoint"]["sync"]) == (30, 50)
