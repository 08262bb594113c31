"""Ending jobs, savepoints, checkpoints and rescaling by Flink's routes, and who may do so."""

from __future__ import annotations

import itertools
import json
from datetime import datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from jobs.models import AuditEntry, Job, Membership, Savepoint, Slot, TaskManager, Team, Upgrade
from jobs.roles import Role
from jobs.states import JobState, SavepointState, UpgradeState
from tests.service.flink.conftest import KEYED, SOURCE, client_of
from tests.service.flink.shapes import assert_as

pytestmark = pytest.mark.django_db

MINE = "a" * 32


def test_cancel_and_cancel_again(client: APIClient, job: Job, now: datetime) -> None:
    assert_as("cancel", client.patch(f"/jobs/{job.pk}?mode=cancel"))
    job.refresh_from_db()
    assert job.wanted == "canceled"
    assert AuditEntry.objects.get().action == "job.cancel"

    Job.objects.filter(pk=job.pk).update(state=JobState.CANCELED, ended_at=now)
    assert_as("cancel_again", client.patch(f"/jobs/{job.pk}"))


def test_a_job_that_has_ended_otherwise_is_not_cancelled(client: APIClient, job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(state=JobState.FINISHED)

    answer = client.patch(f"/jobs/{job.pk}")

    assert answer.status_code == 409
    assert "already ended: finished" in answer.json()["errors"][0]


def test_the_button_of_flinks_dashboard(client: APIClient, job: Job) -> None:
    assert_as("yarn_cancel", client.get(f"/jobs/{job.pk}/yarn-cancel"))
    job.refresh_from_db()
    assert job.wanted == "canceled"
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.target_id, entry.result) == ("job.cancel", job.pk, "ok")


def test_a_button_that_did_nothing_is_in_the_audit_log(db: None, job: Job) -> None:
    viewer = client_of(User.objects.create(username="vera"))
    assert viewer.get(f"/jobs/{job.pk}/yarn-stop").status_code == 403
    assert viewer.get(f"/jobs/{job.pk}/yarn-cancel").status_code == 403
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.result) == (f"GET /jobs/{job.pk}/yarn-cancel", "refused")
    assert (entry.username, entry.target_id) == ("vera", job.pk)

    Job.objects.filter(pk=job.pk).update(state=JobState.FINISHED)
    operator = client_of(User.objects.create(username="olga", is_staff=True))
    assert operator.get(f"/jobs/{job.pk}/yarn-cancel").status_code == 409
    assert AuditEntry.objects.latest("id").result == "failed"
    assert operator.get(f"/jobs/{job.pk}/yarn-stop").status_code == 308


SOURCES: list[tuple[dict[str, str], int]] = [
    ({}, 403),
    ({"HTTP_SEC_FETCH_SITE": "cross-site", "HTTP_REFERER": "http://testserver/"}, 403),
    ({"HTTP_SEC_FETCH_SITE": "none"}, 403),
    ({"HTTP_SEC_FETCH_SITE": "same-site"}, 403),
    ({"HTTP_REFERER": "http://evil.example/testserver/"}, 403),
    ({"HTTP_REFERER": "http://[::1/"}, 403),
    ({"HTTP_ORIGIN": "null"}, 403),
    ({"HTTP_SEC_FETCH_SITE": "same-origin"}, 202),
    ({"HTTP_REFERER": "http://testserver/flink/"}, 202),
    ({"HTTP_ORIGIN": "http://testserver"}, 202),
]


@pytest.mark.parametrize(("method", "path"), [("get", "/yarn-cancel"), ("patch", "")])
def test_other_sites_cannot_cancel_with_somebodys_session(
    alice: User, job: Job, method: str, path: str
) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(alice)

    for headers, status in SOURCES:
        answer = getattr(client, method)(f"/jobs/{job.pk}{path}", **headers)

        assert answer.status_code == status, headers
        job.refresh_from_db()
        assert (job.wanted == "canceled") is (status == 202)


def test_no_head_cancels(client: APIClient, job: Job) -> None:
    assert client.head(f"/jobs/{job.pk}/yarn-cancel").status_code == 404
    job.refresh_from_db()
    assert job.wanted == "running"


def test_a_savepoint_is_asked_for_until_it_is_there(client: APIClient, job: Job) -> None:
    """It is a row: whoever is JobManager by then, or whenever the web server started, answers."""
    body = {"target-directory": "/srv/sp", "cancel-job": False, "triggerId": MINE, "new": 1}
    path = f"/jobs/{job.pk}/savepoints"
    assert_as("savepoint_trigger", client.post(path, body))
    assert client.post(path, body).json() == {"request-id": MINE}
    assert_as("savepoint_status0", client.get(f"{path}/{MINE}"))

    row = Savepoint.objects.get()
    assert (row.trigger_id, row.requested_by_name) == (MINE, "alice")
    Savepoint.objects.update(state=SavepointState.COMPLETED, path="/srv/sp/savepoint-1")

    answer = client.get(f"{path}/{MINE}")
    assert_as("savepoint_status_done", answer)
    assert answer.json()["operation"] == {"location": "file:/srv/sp/savepoint-1"}


def test_what_cannot_be_done_is_an_operation_that_failed(client: APIClient, job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(state=JobState.CANCELED)
    job.attempts.all().delete()

    answer = client.post(f"/jobs/{job.pk}/stop", {"drain": True})

    assert_as("stop_on_canceled", answer)
    status = client.get(f"/jobs/{job.pk}/savepoints/{answer.json()['request-id']}")
    assert_as("savepoint_bad_status_done", status)


def test_stop_drains(client: APIClient, job: Job) -> None:
    assert_as("stop_trigger", client.post(f"/jobs/{job.pk}/stop", {"drain": True}))

    row = Savepoint.objects.get()
    assert (row.then, row.drain) == (Savepoint.Then.FINISH, True)


def test_a_checkpoint_by_hand(client: APIClient, job: Job) -> None:
    path = f"/jobs/{job.pk}/checkpoints"
    answer = client.post(path, {"checkpointType": "FULL"})
    assert_as("checkpoint_trigger", answer)
    trigger = answer.json()["request-id"]
    assert_as("checkpoint_status0", client.get(f"{path}/{trigger}"))

    job.checkpoint_requests.update(checkpoint_id=15, answered_at=job.created_at)

    assert_as("checkpoint_status_done", client.get(f"{path}/{trigger.upper()}"))


def test_a_savepoint_is_disposed_of(client: APIClient, job: Job, savepoint: Savepoint) -> None:
    answer = client.post("/savepoint-disposal", {"savepoint-path": savepoint.path})
    assert_as("dispose_trigger", answer)
    path = f"/savepoint-disposal/{answer.json()['request-id']}"
    assert_as("dispose_status0", client.get(path))

    Savepoint.objects.update(state=SavepointState.DISPOSED)

    assert_as("dispose_status_done", client.get(path))


def requirements(upper: int) -> dict[str, Any]:
    bounds = {"parallelism": {"lowerBound": 1, "upperBound": upper}}
    return {SOURCE.id: bounds, KEYED.id: bounds}


def test_requirements_change_the_parallelism(client: APIClient, job: Job) -> None:
    taskmanager = TaskManager.objects.get()
    Slot.objects.bulk_create(Slot(taskmanager=taskmanager, index=n) for n in range(2))
    path = f"/jobs/{job.pk}/resource-requirements"

    assert_as("adaptive_resource_requirements_put", client.put(path, requirements(1)))

    upgrade = Upgrade.objects.select_related("after").get()
    assert (upgrade.after.parallelism, upgrade.requested_by_name) == (1, "alice")
    assert client.put(path, requirements(1)).status_code == 409
    (entry,) = client.get(f"/jobs/{job.pk}/rescales/history").json()
    answer = client.get(f"/jobs/{job.pk}/rescales/details/{entry['rescaleUuid']}")
    Upgrade.objects.update(state=UpgradeState.DONE, ended_at=job.created_at)
    assert_as("adaptive_rescales_details", answer)
    assert answer.json()["vertices"][SOURCE.id]["preRescaleParallelism"] == 2
    overview = client.get(f"/jobs/{job.pk}/rescales/overview").json()
    assert overview["rescalesCounts"]["completed"] == 1


BAD_REQUIREMENTS: list[Any] = [
    {},
    {SOURCE.id: {"parallelism": {"lowerBound": 1, "upperBound": 1}}},
    {**requirements(1), "f" * 32: {}},
    {**requirements(1), SOURCE.id: {"parallelism": {"lowerBound": 2, "upperBound": 1}}},
    {**requirements(3), SOURCE.id: {"parallelism": {"lowerBound": 1, "upperBound": 4}}},
    {**requirements(1), SOURCE.id: {"parallelism": {"upperBound": True}}},
    {**requirements(1), SOURCE.id: [1]},
    {**requirements(1), SOURCE.id: {"parallelism": {"upperBound": 10**30}}},
]


def test_requirements_that_cannot_be_met(client: APIClient, job: Job) -> None:
    for body in BAD_REQUIREMENTS:
        answer = client.put(f"/jobs/{job.pk}/resource-requirements", body)

        assert answer.status_code == 400, body
    assert not Upgrade.objects.exists()


CHANGES = [
    *(("patch", ""), ("get", "/yarn-cancel"), ("get", "/yarn-stop"), ("post", "/savepoints")),
    *(("post", "/stop"), ("post", "/checkpoints"), ("put", "/resource-requirements")),
    *(("patch", "/rescaling"), ("patch", "/clientHeartbeat")),
]


def test_looking_does_not_let_one_change(db: None, job: Job) -> None:
    viewer = client_of(User.objects.create(username="bob"))

    for method, path in CHANGES:
        assert getattr(viewer, method)(f"/jobs/{job.pk}{path}").status_code == 403, path
        assert getattr(APIClient(), method)(f"/jobs/{job.pk}{path}").status_code == 401, path
    job.refresh_from_db()
    assert (job.wanted, Savepoint.objects.count()) == ("running", 0)


def test_jobs_of_other_teams_are_not_there(
    db: None, alice: User, job: Job, savepoint: Savepoint
) -> None:
    team = Team.objects.create(name="ours")
    Job.objects.filter(pk=job.pk).update(team=team)
    bob, charlie = (User.objects.create(username=name) for name in ("bob", "charlie"))
    Membership.objects.create(user=bob, team=team, role=Role.OPERATOR)
    ours, theirs = client_of(bob), client_of(charlie)

    assert len(ours.get("/jobs/overview").json()["jobs"]) == 1
    assert theirs.get("/jobs/overview").json() == {"jobs": []}
    assert theirs.get("/jobs").json() == {"jobs": []}
    assert theirs.get("/jobs/metrics").json() == []
    for method, path in [("get", ""), ("get", "/checkpoints"), ("get", "/exceptions"), *CHANGES]:
        assert getattr(theirs, method)(f"/jobs/{job.pk}{path}").status_code == 404
    disposal = {"savepoint-path": savepoint.path}
    assert theirs.post("/savepoint-disposal", disposal).status_code == 404
    assert ours.post("/savepoint-disposal", disposal).status_code == 200
    assert theirs.get(f"/savepoint-disposal/{savepoint.pk}").status_code == 404
    assert ours.patch(f"/jobs/{job.pk}").status_code == 202


BODIES = [
    *("{", "[1]", "3", '"x"', "[" * 100_000, '{"triggerId": 7}', '{"triggerId": "xyz"}'),
    *('{"triggerId": "\\u0000"}', '{"a": "\\ud800"}', '{"cancel-job": "yes", "drain": 1}'),
    *('{"formatType": "AVRO", "checkpointType": "INCREMENTAL"}', '{"target-directory": [1]}'),
    *('{"targetDirectory": {"a": 1}, "target-directory": 1, "triggerId": "q"}', "\\xff"),
]


def test_bad_bodies(client: APIClient, job: Job) -> None:
    paths = [f"/jobs/{job.pk}{path}" for path in ("/savepoints", "/stop", "/checkpoints")]
    for path, body in itertools.product(paths, BODIES):
        answer = client.post(path, body, content_type="application/json")

        told = json.loads(answer.content)
        assert (answer.status_code, list(told)) in ((400, ["errors"]), (202, ["request-id"])), body
    assert client.post(paths[0], "{", content_type="text/x").status_code == 400


BAD_PARAMETERS = [
    *("/jobs/JOB/exceptions?maxExceptions=-1", "/jobs/JOB/exceptions?maxExceptions=x"),
    *("/jobs/JOB/exceptions?maxExceptions=99999999999", "/jobs/JOB/exceptions?maxExceptions=²"),
    *("/jobs/JOB/exceptions?failureLabelFilter=x", "/jobs/metrics?jobs=x", "/jobs/%00"),
    *("/jobs/metrics?get=uptime&agg=x", "/jobs/JOB/accumulators?includeSerializedValue=2"),
    *("/jobs/JOB/checkpoints/details/-1", "/jobs/JOB/checkpoints/details/9999999999999999999"),
    *("/jobs/JOB/vertices/xyz", "/jobs/JOB/vertices/VERTEX/subtasks/-1", "/jobs/%FF"),
    *("/jobs/JOB/vertices/VERTEX/subtasks/0/attempts/x", "/savepoint-disposal/7"),
    *("/jobs/JOB/vertices/VERTEX/flamegraph?type=hot", "/jobs/JOB/savepoints/7"),
    "/jobs/JOB/vertices/VERTEX/flamegraph?subtaskindex=x",
    "/jobs/JOB/exceptions?maxExceptions=--5",
]


def test_bad_parameters(client: APIClient, job: Job) -> None:
    for path in BAD_PARAMETERS:
        answer = client.get(path.replace("JOB", job.pk).replace("VERTEX", SOURCE.id))

        assert (answer.status_code, list(answer.json())) == (400, ["errors"]), path


NOT_THERE = [
    *("/checkpoints/details/999", f"/checkpoints/details/9/subtasks/{'0' * 32}"),
    *(f"/rescales/details/{'0' * 32}", f"/rescaling/{'0' * 32}", f"/checkpoints/{'0' * 32}"),
    *(f"/vertices/{SOURCE.id}/subtasks/2", f"/vertices/{SOURCE.id}/subtasks/0/attempts/7"),
    *(f"/vertices/{SOURCE.id}/flamegraph?subtaskindex=2", "/coordinators/x", "/nothing"),
]


def test_what_is_not_there(client: APIClient, job: Job) -> None:
    for path in NOT_THERE:
        answer = client.get(f"/jobs/{job.pk}{path}")

        assert (answer.status_code, list(answer.json())) == (404, ["errors"]), path
