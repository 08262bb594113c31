"""Each route of jobs answers as Flink did when its answers were recorded."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from jobs.models import Job
from jobs.states import JobState
from tests.service.flink.conftest import KEYED, SOURCE
from tests.service.flink.shapes import assert_as, sample

pytestmark = pytest.mark.django_db

#: Path below a job -> recorded answers whose shape it has.
OF_A_RUNNING_JOB = {
    "": ("job",),
    "/status": ("job_status",),
    "/plan": ("failjob_plan",),
    "/config": ("failjob_config", "bare_config"),
    "/accumulators": ("job_accumulators",),
    "/accumulators?includeSerializedValue=true": ("job_accumulators",),
    "/metrics": ("job_metrics",),
    "/metrics?get=numRestarts,uptime,numberOfCompletedCheckpoints": ("job_metrics_get",),
    "/execution-result": ("job_execution_result",),
    "/exceptions": ("failjob_exceptions", "failed_job_exceptions"),
    "/exceptions?maxExceptions=1": ("failjob_exceptions_max1",),
    "/checkpoints": ("job_checkpoints_after_sp",),
    "/checkpoints/config": ("failjob_checkpoints_config",),
    "/checkpoints/details/10": ("checkpoint_details",),
    f"/checkpoints/details/10/subtasks/{KEYED.id}": ("checkpoint_subtasks_vertex1",),
    "/jobmanager/config": ("failjob_jm_config",),
    "/jobmanager/environment": ("failjob_jm_env",),
    "/jobmanager/log-url": ("failjob_jm_logurl",),
    "/taskmanagers/tm-1/log-url": ("failjob_jm_logurl",),
    "/rescales/config": ("adaptive_rescales_config",),
    "/rescales/history": ("adaptive_rescales_history",),
    "/rescales/overview": ("adaptive_rescales_overview",),
    "/rescales/summary": ("adaptive_rescales_summary",),
    "/resource-requirements": ("adaptive_resource_requirements",),
    f"/vertices/{SOURCE.id}": ("vertex0",),
    f"/vertices/{KEYED.id}/accumulators": ("vertex1_accumulators",),
    f"/vertices/{SOURCE.id}/backpressure": ("vertex0_backpressure",),
    f"/vertices/{SOURCE.id}/flamegraph?type=full": ("vertex0_flamegraph",),
    f"/vertices/{SOURCE.id}/watermarks": ("vertex0_watermarks",),
    f"/vertices/{KEYED.id}/watermarks": ("vertex1_watermarks",),
    f"/vertices/{SOURCE.id}/subtasktimes": ("vertex0_subtasktimes",),
    f"/vertices/{SOURCE.id}/taskmanagers": ("vertex0_taskmanagers",),
    f"/vertices/{SOURCE.id}/metrics": ("vertex0_metrics",),
    f"/vertices/{SOURCE.id}/metrics?get=0.busyTimeMsPerSecond": ("vertex0_metrics_get",),
    f"/vertices/{KEYED.id}/jm-operator-metrics": ("vertex1_jm_operator_metrics",),
    f"/vertices/{SOURCE.id}/subtasks/metrics": ("vertex0_subtasks_metrics",),
    f"/vertices/{SOURCE.id}/subtasks/metrics?get=numRecordsIn": ("vertex0_subtasks_metrics_get",),
    f"/vertices/{SOURCE.id}/subtasks/accumulators": ("vertex0_subtasks_acc",),
    f"/vertices/{SOURCE.id}/subtasks/0": ("vertex0_subtask0",),
    f"/vertices/{SOURCE.id}/subtasks/0/metrics": ("vertex0_subtask0_metrics",),
    f"/vertices/{SOURCE.id}/subtasks/0/attempts/0": ("vertex0_subtask0_attempt0",),
    f"/vertices/{SOURCE.id}/subtasks/0/attempts/0/accumulators": ("vertex0_subtask0_attempt0_acc",),
}


@pytest.mark.usefixtures("savepoint", "late")
def test_of_a_running_job(client: APIClient, job: Job) -> None:
    for path, names in OF_A_RUNNING_JOB.items():
        answer = client.get(f"/v1/jobs/{job.pk}{path}")
        for name in names:
            assert_as(name, answer)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/jobs", "jobs"),
        ("/jobs/overview", "jobs_overview"),
        ("/jobs/metrics", "jobs_metrics"),
        ("/jobs/metrics?get=numRestarts,uptime&agg=min,max", "jobs_metrics_get"),
    ],
)
def test_of_all_jobs(client: APIClient, job: Job, path: str, name: str) -> None:
    assert_as(name, client.get(path))


def test_before_the_graph_is_known(client: APIClient, job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(plan={}, state=JobState.CREATED)

    assert_as("job_initializing", client.get(f"/jobs/{job.pk}"))


@pytest.mark.parametrize(
    ("state", "details", "result"),
    [
        (JobState.FINISHED, "job_finished", "job_finished_result"),
        (JobState.CANCELED, "job_canceled", "job_finished_result"),
        (JobState.FAILED, "failed_job", "failed_job_execution_result"),
    ],
)
def test_of_a_job_that_has_ended(
    client: APIClient, job: Job, now: object, state: JobState, details: str, result: str
) -> None:
    Job.objects.filter(pk=job.pk).update(state=state, ended_at=now)

    assert_as(details, client.get(f"/jobs/{job.pk}"))
    assert_as(result, client.get(f"/jobs/{job.pk}/execution-result"))
    assert_as("failed_job_metrics", client.get(f"/jobs/{job.pk}/metrics"))
    assert client.get(f"/jobs/{job.pk}/metrics").json() == []


def test_without_checkpoints(client: APIClient, job: Job) -> None:
    job.checkpoints.all().delete()

    answer = client.get(f"/jobs/{job.pk}/checkpoints")

    assert_as("nocp_checkpoints", answer)
    assert answer.json()["summary"]["state_size"]["p50"] == "NaN"


NOBODY = "0" * 32


ERRORS = [
    ("get", "/jobs/xyz", "job_badid"),
    ("get", f"/jobs/{NOBODY}", "job_missing"),
    ("patch", f"/jobs/{NOBODY}", "cancel_missing"),
    ("get", f"/jobs/{NOBODY}/yarn-cancel", "yarn_cancel_missing"),
    ("get", f"/jobs/JOB/vertices/{NOBODY}", "subtask_attempt_missing"),
    ("patch", "/jobs/JOB?mode=bogus", "patch_bogus"),
    ("patch", "/jobs/JOB?mode=stop", "patch_stop"),
    ("get", "/jobs/JOB/yarn-stop", "yarn_stop"),
    ("patch", "/jobs/JOB/rescaling?parallelism=1", "rescaling_patch"),
    ("get", f"/jobs/JOB/savepoints/{'b' * 32}", "savepoint_unknown_trigger"),
    ("options", "/jobs", "options"),
    ("delete", "/jobs", "wrong_method"),
    ("get", "/v1/nope", "notfound"),
]
#: Of these the ids, or the words behind Flink's own, are others.
OTHER_WORDS = {"savepoint_unknown_trigger", "notfound", "rescaling_patch"}


def test_errors(client: APIClient, job: Job) -> None:
    """With Flink's own words, but for its stack traces."""
    for method, path, name in ERRORS:
        answer = getattr(client, method)(path.replace("JOB", job.pk))

        assert_as(name, answer)
        (said,), (theirs,) = answer.json()["errors"], sample(name)["body"]["errors"]
        assert name in OTHER_WORDS or said == theirs
