"""Flink's routes of the cluster: shapes as recorded, rights, and what they tell."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings
from rest_framework.test import APIClient

from headrace.wire import rundir
from jobs.models import Event, Job, Lease, Membership, TaskManager, Team
from jobs.roles import Role
from jobs.states import JobState, TaskManagerState
from tests.service import pages
from tests.service.flink.conftest import answer_threads
from tests.service.flink.shapes import assert_as

pytestmark = pytest.mark.django_db
VITALS = {
    "Status.JVM.CPU.Load": 0.25,
    "Status.JVM.Memory.Heap.Used": 1000,
    "Status.JVM.GarbageCollector.All.Count": 3,
    "Status.JVM.GarbageCollector.All.Time": 12,
}


@pytest.fixture
def client(alice: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(alice)
    return client


def member(team: Team | None, role: Role, name: str = "bob") -> APIClient:
    user = User.objects.create_user(name)
    Membership.objects.create(user=user, team=team, role=role)
    client = APIClient()
    client.force_authenticate(user)
    return client


@pytest.fixture
def job() -> Job:
    job = pages.make_job(timestamps={"RUNNING": 5, "CANCELLING": 0})
    pages.make_attempt(job)
    return job


@pytest.fixture
def taskmanager(job: Job) -> TaskManager:
    made = pages.make_taskmanager("tm-1", slots=3, taken_by=job)
    TaskManager.objects.filter(pk=made.pk).update(vitals=VITALS)
    job.attempts.update(taskmanager=made)
    answer_threads(made)
    return made


def got(client: APIClient, path: str) -> Any:
    answer = client.get(path)
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"] == "application/json; charset=UTF-8"
    return answer.json()


# --- shapes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sample", "path"),
    [
        ("config", "/config"),
        ("overview", "/overview"),
        ("applications_overview", "/applications/overview"),
        ("application", "/applications/{job}"),
        ("application_exceptions", "/applications/{job}/exceptions"),
        ("application_jm_config", "/applications/{job}/jobmanager/config"),
        ("datasets", "/datasets"),
        ("jars", "/jars"),
        ("jobmanager_config", "/jobmanager/config"),
        ("jobmanager_environment", "/jobmanager/environment"),
        ("jobmanager_logs", "/jobmanager/logs"),
        ("jobmanager_metrics", "/jobmanager/metrics"),
        ("jobmanager_metrics_get", "/jobmanager/metrics?get=numRunningJobs,taskSlotsTotal,nope"),
        ("jobmanager_profiler", "/jobmanager/profiler"),
        ("jobmanager_thread_dump", "/jobmanager/thread-dump"),
        ("taskmanagers", "/taskmanagers"),
        ("taskmanager", "/taskmanagers/tm-1"),
        ("taskmanager_logs", "/taskmanagers/tm-1/logs"),
        ("taskmanager_metrics", "/taskmanagers/tm-1/metrics"),
        ("taskmanager_profiler", "/taskmanagers/tm-1/profiler"),
        ("taskmanager_thread_dump", "/taskmanagers/tm-1/thread-dump"),
        ("taskmanagers_metrics", "/taskmanagers/metrics"),
        ("taskmanagers_metrics_agg", "/taskmanagers/metrics?get=Status.JVM.CPU.Load&agg=avg"),
    ],
)
def test_answers_have_the_shape_that_was_recorded(
    client: APIClient, taskmanager: TaskManager, job: Job, sample: str, path: str
) -> None:
    for prefix in ("", "/v1", "/flink"):
        answer = client.get(prefix + path.format(job=job.pk))
        assert_as(sample, answer, maps=("/applications[0]/jobs",))


# --- what they tell ------------------------------------------------------------------------------


def test_the_overview_counts_slots_and_jobs(client: APIClient, taskmanager: TaskManager) -> None:
    for state in (JobState.FAILED, JobState.CANCELED, JobState.RESTARTING, JobState.FINISHED):
        pages.make_job(state=state)
    told = got(client, "/overview")
    assert [told[f"jobs-{word}"] for word in ("running", "finished", "cancelled", "failed")] == [
        *(2, 1, 1, 1)
    ]
    assert (told["slots-total"], told["slots-available"], told["taskmanagers"]) == (3, 2, 1)


def test_the_configuration_says_what_the_user_may(client: APIClient) -> None:
    def features(of: APIClient) -> dict[str, bool]:
        found: dict[str, bool] = got(of, "/config")["features"]
        return found

    team = Team.objects.create(name="rivers")
    nothing = {f"web-{word}": False for word in ("submit", "cancel", "rescale", "history")}
    steers = {**nothing, "web-cancel": True, "web-rescale": True}
    assert features(client) == {**steers, "web-submit": True}
    assert features(member(team, Role.DEVELOPER, "dev")) == {**steers, "web-submit": True}
    assert features(member(None, Role.OPERATOR, "op")) == steers
    assert features(member(team, Role.VIEWER, "viewer")) == nothing


def test_a_taskmanager_tells_who_sits_in_its_slots(
    client: APIClient, taskmanager: TaskManager, job: Job
) -> None:
    told = got(client, "/taskmanagers/tm-1")
    assert (told["slotsNumber"], told["freeSlots"], told["assignedTasks"]) == (3, 2, 3)
    assert [slot["jobId"] for slot in told["allocatedSlots"]] == [job.pk]
    assert told["metrics"]["heapUsed"] == 1000
    assert told["metrics"]["garbageCollectors"] == [{"name": "All", "count": 3, "time": 12}]
    assert told["metrics"]["mappedUsed"] == -1  # nobody knows

    stranger = member(Team.objects.create(name="lakes"), Role.ADMIN)
    Job.objects.update(team=Team.objects.create(name="rivers"))
    told = got(stranger, "/taskmanagers/tm-1")
    assert [slot["jobId"] for slot in told["allocatedSlots"]] == ["0" * 32]


def test_a_taskmanager_that_is_gone_is_not_listed(
    client: APIClient, taskmanager: TaskManager
) -> None:
    TaskManager.objects.update(state=TaskManagerState.LOST)
    assert got(client, "/taskmanagers")["taskmanagers"] == []
    assert got(client, "/taskmanagers/tm-1")["id"] == "tm-1"
    assert client.get("/taskmanagers/nope").status_code == 404


def test_aggregates_are_over_the_taskmanagers_asked_for(
    client: APIClient, taskmanager: TaskManager
) -> None:
    pages.make_taskmanager("tm-2")
    TaskManager.objects.filter(name="tm-2").update(vitals={"Status.JVM.CPU.Load": 0.75})
    path = "/taskmanagers/metrics?get=Status.JVM.CPU.Load"
    (both,) = got(client, path)
    assert (both["min"], both["max"], both["avg"]) == (0.25, 0.75, 0.5)
    (one,) = got(client, f"{path}&taskmanagers=tm-2,nope&agg=sum")
    assert one == {"id": "Status.JVM.CPU.Load", "sum": 0.75}


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (JobState.INITIALIZING, "CREATED"),
        (JobState.CREATED, "CREATED"),
        (JobState.RESTARTING, "RUNNING"),
        (JobState.CANCELLING, "CANCELING"),
        (JobState.SUSPENDED, "RUNNING"),
        (JobState.FAILED, "FAILED"),
    ],
)
def test_an_application_is_in_the_state_of_its_job(
    client: APIClient, job: Job, state: JobState, told: str
) -> None:
    Job.objects.update(state=state)
    found = got(client, f"/applications/{job.pk}")
    assert (found["status"], found["jobs"][0]["state"]) == (told, state.value)
    (listed,) = got(client, "/applications/overview")["applications"]
    assert (listed["status"], listed["jobs"]) == (told, {state.value: 1})


def test_an_application_tells_its_failures_and_is_cancelled(client: APIClient, job: Job) -> None:
    trace = "Traceback (most recent call last):\nValueError: 7"
    pages.make_failure(job.attempts.get(), "ValueError: 7", trace)
    (entry,) = got(client, f"/applications/{job.pk}/exceptions")["exceptionHistory"]["entries"]
    assert (entry["exceptionName"], entry["jobId"]) == ("ValueError", job.pk)

    viewer = member(None, Role.VIEWER)
    assert viewer.post(f"/applications/{job.pk}/cancel").status_code == 403
    answer = client.post(f"/applications/{job.pk}/cancel")
    assert (answer.status_code, answer.json()) == (202, {})
    job.refresh_from_db()
    assert job.wanted == "canceled"
    assert Event.objects.filter(job=job, message="cancel by alice").exists()


def test_what_there_is_not_is_said(client: APIClient) -> None:
    assert client.get(f"/applications/{'0' * 32}").status_code == 404
    assert client.get("/applications/xyz").status_code == 400
    assert client.delete(f"/datasets/{'0' * 32}").status_code == 404
    assert client.get(f"/datasets/delete/{'0' * 32}").status_code == 404
    assert client.post("/jobmanager/profiler").status_code == 501
    assert client.get("/jobmanager/profiler/x.html").status_code == 404


def test_nobody_shuts_the_cluster_down(client: APIClient, job: Job) -> None:
    answer = client.delete("/v1/cluster")
    assert answer.status_code == 403
    assert "not shut down through its REST API" in answer.json()["errors"][0]
    job.refresh_from_db()
    assert job.wanted == "running"


def test_the_configuration_hides_secrets(client: APIClient, settings: Settings) -> None:
    settings.HEADRACE_PROPERTIES = {"s3.secret-key": "hush", "parallelism.default": "4"}
    Lease.objects.all().delete()
    told = {each["key"]: each["value"] for each in got(client, "/jobmanager/config")}
    assert told["parallelism.default"] == "4"
    assert "hush" not in told["s3.secret-key"]


# --- logs ----------------------------------------------------------------------------------------

LINES = b"one\npassword=hush two\nthree\n"


@pytest.fixture
def logs(settings: Settings, tmp_path: Path, job: Job, taskmanager: TaskManager) -> Path:
    settings.HEADRACE_LOGS = tmp_path
    (tmp_path / "jobmanager.log").write_bytes(LINES)
    (tmp_path / "taskmanager-tm-1.log").write_bytes(b"of tm-1\n")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / rundir.LOG).write_bytes(b"printed\n")
    job.attempts.update(run_dir=str(tmp_path / "run"))
    return tmp_path


def text(client: APIClient, path: str, **headers: str) -> bytes:
    answer = client.get(path, headers=headers)
    assert answer.status_code in (200, 206), answer.content
    return b"".join(answer)


@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume:Warning")
def test_logs_are_listed_and_sent(client: APIClient, logs: Path, job: Job) -> None:
    driver = f"driver-{job.pk}-1.log"
    names = [each["name"] for each in got(client, "/taskmanagers/tm-1/logs")["logs"]]
    assert names == ["taskmanager-tm-1.log", driver]
    assert text(client, "/taskmanagers/tm-1/log") == b"of tm-1\n"
    assert text(client, f"/taskmanagers/tm-1/logs/{driver}") == b"printed\n"
    assert text(client, "/taskmanagers/tm-1/stdout") == b"printed\n"
    assert text(client, "/jobmanager/logs/jobmanager.log") == text(client, "/jobmanager/log")
    assert client.get("/jobmanager/logs/taskmanager-tm-1.log").status_code == 404
    assert client.get("/jobmanager/logs/..%2Fdb.sqlite3").status_code == 404


@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume:Warning")
def test_secrets_are_starred_out_of_logs_whatever_part_is_asked_for(
    client: APIClient, logs: Path
) -> None:
    whole = b"one\npassword=**** two\nthree\n"
    assert text(client, "/jobmanager/log") == whole
    for start in range(len(LINES)):
        for end in (start, start + 3, len(LINES) + 5):
            part = text(client, "/jobmanager/log", Range=f"bytes={start}-{end}")
            assert part == whole[start : end + 1]
    assert text(client, "/jobmanager/log", Range="bytes=-6") == b"three\n"
    answer = client.get("/jobmanager/log", headers={"Range": "bytes=99-"})
    assert answer.status_code == 416


def test_a_log_that_is_elsewhere_is_said_to_be(
    client: APIClient, logs: Path, taskmanager: TaskManager
) -> None:
    TaskManager.objects.update(storage="of another machine")
    answer = client.get("/taskmanagers/tm-1/log")
    assert answer.status_code == 404
    assert re.search("TaskManager tm-1 writes no file.*on node-1", answer.json()["errors"][0])


def test_a_strangers_driver_has_no_log(logs: Path) -> None:
    Job.objects.update(team=Team.objects.create(name="rivers"))
    stranger = member(None, Role.OPERATOR)
    names = [each["name"] for each in got(stranger, "/taskmanagers/tm-1/logs")["logs"]]
    assert names == ["taskmanager-tm-1.log"]


@pytest.mark.parametrize("path", ["/config", "/overview", "/taskmanagers", "/jobmanager/config"])
def test_every_route_needs_a_login(path: str) -> None:
    assert APIClient().get(path).status_code == 401


def test_lists_cost_the_same_whatever_their_length(
    client: APIClient, django_assert_max_num_queries: Any
) -> None:
    for number in range(5):
        job = pages.make_job(f"job {number}")
        pages.make_taskmanager(f"tm-{number}", taken_by=job)
    client.get("/config")
    with django_assert_max_num_queries(4):
        client.get("/taskmanagers")
    with django_assert_max_num_queries(4):
        client.get("/applications/overview")
